// Prefix sums: Hillis-Steele, Blelloch, chunked, segmented; compaction and run lengths built from them.
kernel void scan_inclusive(global const int* in, global int* out) {
  local int a[128], b[128];
  int t = get_local_id(0), i = get_global_id(0);
  a[t] = in[i];
  barrier(CLK_LOCAL_MEM_FENCE);
  local int *from = a, *to = b;
  for (int d = 1; d < 128; d *= 2) {
    to[t] = t >= d ? from[t] + from[t - d] : from[t];
    barrier(CLK_LOCAL_MEM_FENCE);
    local int* swap = from;
    from = to;
    to = swap;
  }
  out[i] = from[t];
}

kernel void scan_exclusive(global const uint* in, global uint* out, global uint* sums, local uint* tree) {
  int t = get_local_id(0), n = 2 * get_local_size(0), base = get_group_id(0) * n;
  tree[2 * t] = in[base + 2 * t];
  tree[2 * t + 1] = in[base + 2 * t + 1];
  int offset = 1;
  for (int d = n >> 1; d > 0; d >>= 1) {
    barrier(CLK_LOCAL_MEM_FENCE);
    if (t < d) tree[offset * (2 * t + 2) - 1] += tree[offset * (2 * t + 1) - 1];
    offset *= 2;
  }
  if (t == 0) {
    sums[get_group_id(0)] = tree[n - 1];
    tree[n - 1] = 0;
  }
  for (int d = 1; d < n; d *= 2) {
    offset >>= 1;
    barrier(CLK_LOCAL_MEM_FENCE);
    if (t < d) {
      int left = offset * (2 * t + 1) - 1, right = offset * (2 * t + 2) - 1;
      uint x = tree[left];
      tree[left] = tree[right];
      tree[right] += x;
    }
  }
  barrier(CLK_LOCAL_MEM_FENCE);
  out[base + 2 * t] = tree[2 * t];
  out[base + 2 * t + 1] = tree[2 * t + 1];
}

kernel void scan_padded(global const int* in, global int* out) {
  local int tree[256 + 256 / 16];
#define PAD(i) ((i) + ((i) >> 4))
  int t = get_local_id(0);
  tree[PAD(t)] = in[get_group_id(0) * 256 + t];
  tree[PAD(t + 128)] = in[get_group_id(0) * 256 + t + 128];
  int offset = 1;
  for (int d = 128; d > 0; d >>= 1, offset <<= 1) {
    barrier(CLK_LOCAL_MEM_FENCE);
    if (t < d) tree[PAD(offset * (2 * t + 2) - 1)] += tree[PAD(offset * (2 * t + 1) - 1)];
  }
  barrier(CLK_LOCAL_MEM_FENCE);
  out[get_group_id(0) * 256 + t] = tree[PAD(t)];
  out[get_group_id(0) * 256 + t + 128] = tree[PAD(t + 128)];
}

kernel void scan_chunks(global const int* in, global int* out, int chunk) {
  local int totals[64];
  int t = get_local_id(0), first = get_global_id(0) * chunk, sum = 0;
  for (int k = 0; k < chunk; ++k) {
    sum += in[first + k];
    out[first + k] = sum;
  }
  totals[t] = sum;
  barrier(CLK_LOCAL_MEM_FENCE);
  int before = 0;
  for (int k = 0; k < t; ++k) before += totals[k];
  for (int k = 0; k < chunk; ++k) out[first + k] += before;
}

kernel void scan_segmented(global const int* in, global const uchar* head, global int* out) {
  local int value[64];
  local int flag[64];
  int t = get_local_id(0), i = get_global_id(0);
  value[t] = in[i];
  flag[t] = head[i] || t == 0;
  barrier(CLK_LOCAL_MEM_FENCE);
  for (int d = 1; d < 64; d <<= 1) {
    int v = value[t], f = flag[t];
    if (t >= d && !f) {
      v += value[t - d];
      f = flag[t - d];
    }
    barrier(CLK_LOCAL_MEM_FENCE);
    value[t] = v;
    flag[t] = f;
    barrier(CLK_LOCAL_MEM_FENCE);
  }
  out[i] = value[t];
}

kernel void scan_maximum(global const int* in, global int* out) {
  local int v[96];
  int t = get_local_id(0);
  v[t] = in[get_global_id(0)];
  for (int d = 1; d < get_local_size(0); d *= 2) {
    barrier(CLK_LOCAL_MEM_FENCE);
    int other = t >= d ? v[t - d] : INT_MIN;
    barrier(CLK_LOCAL_MEM_FENCE);
    v[t] = max(v[t], other);
  }
  out[get_global_id(0)] = v[t];
}

kernel void compact(global const int* in, global int* out, global int* kept, int threshold) {
  local int position[128];
  int t = get_local_id(0), base = get_group_id(0) * 128;
  int v = in[base + t];
  int keep = v > threshold;
  position[t] = keep;
  barrier(CLK_LOCAL_MEM_FENCE);
  for (int d = 1; d < 128; d *= 2) {
    int add = 0;
    if (t >= d) add = position[t - d];
    barrier(CLK_LOCAL_MEM_FENCE);
    position[t] += add;
    barrier(CLK_LOCAL_MEM_FENCE);
  }
  if (keep) out[base + position[t] - 1] = v;
  if (t == 127) kept[get_group_id(0)] = position[t];
}

kernel void add_block_sums(global int* data, global const int* sums) {
  local int before;
  if (get_local_id(0) == 0) {
    int s = 0;
    for (int g = 0; g < get_group_id(0); ++g) s += sums[g];
    before = s;
  }
  barrier(CLK_LOCAL_MEM_FENCE);
  data[get_global_id(0)] += before;
}

// Length of the run that starts at each position: a data-dependent loop.
kernel void run_lengths(global const uchar* in, global int* lengths, int n) {
  int i = get_global_id(0);
  if (i >= n) return;
  if (i > 0 && in[i - 1] == in[i]) {
    lengths[i] = 0;
    return;
  }
  int end = i + 1;
  while (end < n && in[end] == in[i]) ++end;
  lengths[i] = end - i;
}
