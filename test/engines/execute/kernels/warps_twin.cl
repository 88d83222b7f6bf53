// What warps.cu computes, through local and global memory.
kernel void shuffle_down_sum(global const int* in, global int* out) {
  int i = get_global_id(0);
  if (i % 32) return;
  int sum = 0;
  for (int k = 0; k < 32; ++k) sum += in[i + k];
  out[i / 32] = sum;
}

kernel void shuffle_xor_max(global const int* in, global int* out) {
  int i = get_global_id(0), first = i - i % 16, best = in[i];
  for (int k = 0; k < 16; ++k) best = max(best, in[first + k]);
  out[i] = best;
}

kernel void shuffle_up_scan(global const float* in, global float* out) {
  local float v[256];
  int i = get_global_id(0), t = get_local_id(0), lane = t & 31;
  v[t] = in[i];
  for (int d = 1; d < 32; d *= 2) {
    barrier(CLK_LOCAL_MEM_FENCE);
    float below = lane >= d ? v[t - d] : 0;
    barrier(CLK_LOCAL_MEM_FENCE);
    if (lane >= d) v[t] = v[t] + below;
  }
  out[i] = v[t];
}

kernel void shuffle_gather(global const int* in, global const int* from, global int* out) {
  int i = get_global_id(0);
  out[i] = in[(i & ~7) + (from[i] & 7)] * 3 + in[(i & ~31) + 5];
}

kernel void shuffle_wide(global const double* in, global long* counts, global double* out) {
  local long old[256];
  int i = get_global_id(0), t = get_local_id(0);
  out[i] = in[i ^ 3] - in[i];
  old[t] = counts[i];
  barrier(CLK_LOCAL_MEM_FENCE);
  counts[i] = (t & 31) + 2 < 32 ? old[t + 2] : old[t];
}

kernel void group_sum(global const int* in, global int* out) {
  if (get_local_id(0)) return;
  int sum = 0;
  for (int k = 0; k < get_local_size(0); ++k) sum += in[get_group_id(0) * get_local_size(0) + k];
  out[get_group_id(0)] = sum;
}

kernel void votes(global const int* in, global int* any_out, global int* all_out, int limit) {
  int i = get_global_id(0), first = i & ~31, some = 0, every = 1;
  for (int k = 0; k < 32; ++k) {
    some |= in[first + k] > limit;
    every &= in[first + k] < limit;
  }
  any_out[i] = some;
  all_out[i] = every;
}

kernel void ballot_compact(global const int* in, global int* out, global int* kept) {
  int i = get_global_id(0);
  if (i % 32) return;
  int count = 0;
  for (int k = 0; k < 32; ++k)
    if (in[i + k] % 3 == 0) out[i + count++] = in[i + k];
  kept[i / 32] = count;
}

kernel void barrier_counts(global const int* in, global int* out) {
  int first = get_group_id(0) * get_local_size(0), count = 0, some = 0, every = 1;
  for (int k = 0; k < get_local_size(0); ++k) {
    count += in[first + k] > 50;
    some |= in[first + k] > 98;
    every &= in[first + k] > 1;
  }
  out[get_global_id(0)] = count * 4 + some * 2 + every;
}

kernel void bit_functions(global const uint* a, global const uint* b, global uint* out) {
  int i = get_global_id(0), n = get_global_size(0);
  uint x = a[i], y = b[i], r = 0;
  for (int k = 0; k < 32; ++k) r |= (x >> k & 1) << (31 - k);
  out[i] = r;
  out[i + n] = x ? 32 - clz(x & -x) : 0;
  out[i + 2 * n] = clz(y);
  out[i + 3 * n] = popcount(x ^ y);
  uchar bytes[8];
  for (int k = 0; k < 4; ++k) {
    bytes[k] = x >> (8 * k);
    bytes[k + 4] = y >> (8 * k);
  }
  out[i + 4 * n] = bytes[4] | bytes[1] << 8 | bytes[6] << 16 | (uint)bytes[3] << 24;
  out[i + 5 * n] = mul_hi(x, y);
  int s = i & 31;
  out[i + 6 * n] = s ? (y << s) | (x >> (32 - s)) : y;
}
