// Histograms and every atomic operation; results do not depend on the order.
#pragma OPENCL EXTENSION cl_khr_int64_base_atomics : enable
#pragma OPENCL EXTENSION cl_khr_int64_extended_atomics : enable

kernel void histogram_global(global const uchar* in, global uint* bins, int n) {
  for (int i = get_global_id(0); i < n; i += get_global_size(0)) atomic_inc(&bins[in[i]]);
}

kernel void histogram_local(global const uchar4* in, global uint* bins, int n) {
  local uint mine[256];
  for (int b = get_local_id(0); b < 256; b += get_local_size(0)) mine[b] = 0;
  barrier(CLK_LOCAL_MEM_FENCE);
  for (int i = get_global_id(0); i < n; i += get_global_size(0)) {
    uchar4 v = in[i];
    atomic_add(&mine[v.x], 1u);
    atomic_add(&mine[v.y], 1u);
    atomic_add(&mine[v.z], 1u);
    atomic_add(&mine[v.w], 1u);
  }
  barrier(CLK_LOCAL_MEM_FENCE);
  for (int b = get_local_id(0); b < 256; b += get_local_size(0))
    if (mine[b]) atomic_add(&bins[b], mine[b]);
}

// A row of byte counters for each work-item, no atomics.
kernel void histogram_private(global const uchar* in, global uint* bins, int per_item) {
  local uchar counts[64][16];
  int t = get_local_id(0);
  for (int b = 0; b < 16; ++b) counts[t][b] = 0;
  for (int k = 0; k < per_item; ++k) counts[t][in[(get_group_id(0) * per_item + k) * 64 + t] >> 4]++;
  barrier(CLK_LOCAL_MEM_FENCE);
  if (t < 16) {
    uint sum = 0;
    for (int r = 0; r < 64; ++r) sum += counts[r][t];
    bins[get_group_id(0) * 16 + t] = sum;
  }
}

kernel void histogram_two_dimensional(global const float2* points, global int* bins, int n, int width, int height) {
  int i = get_global_id(0);
  if (i >= n) return;
  int x = clamp((int)floor(points[i].x * width), 0, width - 1);
  int y = clamp((int)floor(points[i].y * height), 0, height - 1);
  atomic_inc(&bins[y * width + x]);
}

kernel void atomic_int(global const int* in, global int* r) {
  int i = get_global_id(0), v = in[i];
  atomic_add(&r[0], v);
  atomic_sub(&r[1], v);
  atomic_inc(&r[2]);
  atomic_dec(&r[3]);
  atomic_min(&r[4], v);
  atomic_max(&r[5], v);
  atomic_and(&r[6], v | 0xf0);
  atomic_or(&r[7], v & 0x5555);
  atomic_xor(&r[8], v);
  atomic_xchg(&r[9 + i], v);
  atomic_cmpxchg(&r[9 + i], v, -v);
}

kernel void atomic_uint(global const uint* in, global uint* r) {
  int i = get_global_id(0);
  uint v = in[i];
  atomic_add(&r[0], v);
  atomic_sub(&r[1], v);
  atomic_min(&r[2], v);
  atomic_max(&r[3], v);
  atomic_and(&r[4], ~(v & 7u));
  atomic_or(&r[5], v);
  atomic_xor(&r[6], v << 3);
  if (atomic_cmpxchg(&r[7], 0u, 77u) == 0u) r[8] = 5;
}

kernel void atomic_local(global const int* in, global int* out) {
  local int r[8];
  int t = get_local_id(0), v = in[get_global_id(0)];
  if (t < 8) r[t] = t == 4 ? INT_MAX : t == 5 ? INT_MIN : t == 6 ? -1 : 0;
  barrier(CLK_LOCAL_MEM_FENCE);
  atomic_add(&r[0], v);
  atomic_inc(&r[1]);
  atomic_dec(&r[2]);
  atomic_xor(&r[3], v);
  atomic_min(&r[4], v);
  atomic_max(&r[5], v);
  atomic_and(&r[6], v | 0xff);
  atomic_or(&r[7], v);
  barrier(CLK_LOCAL_MEM_FENCE);
  if (t < 8) out[get_group_id(0) * 8 + t] = r[t];
}

kernel void atomic_long(global const long* in, global long* r, global ulong* u) {
  int i = get_global_id(0);
  atom_add(&r[0], in[i]);
  atom_sub(&r[1], in[i]);
  atom_inc(&r[2]);
  atom_min(&r[3], in[i]);
  atom_max(&r[4], in[i]);
  atom_xor(&r[5], in[i]);
  atom_max(&u[0], (ulong)in[i]);
  atom_and(&u[1], (ulong)in[i] | 0xff00000000ul);
  atom_xchg(&u[2 + i], (ulong)(i * i));
}

// Work-items draw the next item from a queue until it is empty; who does what is open, the result is not.
kernel void work_queue(global int* next, global const int* items, global int* out, int n) {
  while (true) {
    int mine = atomic_inc(next);
    if (mine >= n) break;
    int v = items[mine], steps = 0;
    while (v != 1) {
      v = (v & 1) ? 3 * v + 1 : v / 2;
      ++steps;
    }
    out[mine] = steps;
  }
}

// Sum of floats by compare and exchange; the summands are small integers, so that every order gives the same.
kernel void float_add_by_exchange(global const int* in, global float* sum) {
  volatile global uint* bits = (volatile global uint*)sum;
  float add = (float)(in[get_global_id(0)] & 1023);
  uint old = *bits, seen;
  do {
    seen = old;
    old = atomic_cmpxchg(bits, seen, as_uint(as_float(seen) + add));
  } while (old != seen);
}

// Slots are drawn at random, what is stored is sorted by one work-item afterwards.
kernel void slots(global const int* in, global int* out, int n) {
  local int kept[128];
  local int count;
  int t = get_local_id(0);
  if (t == 0) count = 0;
  barrier(CLK_LOCAL_MEM_FENCE);
  int v = in[get_global_id(0)];
  if (v % 3 == 0) kept[atomic_inc(&count)] = v;
  barrier(CLK_LOCAL_MEM_FENCE);
  if (t == 0) {
    for (int i = 1; i < count; ++i) {
      int x = kept[i], j = i;
      for (; j > 0 && kept[j - 1] > x; --j) kept[j] = kept[j - 1];
      kept[j] = x;
    }
    for (int i = 0; i < count; ++i) out[get_group_id(0) * n + i] = kept[i];
  }
}
