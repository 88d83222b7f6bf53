// Integer work: hashing, sorting, scanning, counting.
kernel void histogram(global uint* counts, global const uchar* data, int n) {
  local uint mine[256];
  for (int i = get_local_id(0); i < 256; i += get_local_size(0)) mine[i] = 0;
  barrier(CLK_LOCAL_MEM_FENCE);
  for (int i = get_global_id(0); i < n; i += get_global_size(0)) atomic_inc(&mine[data[i]]);
  barrier(CLK_LOCAL_MEM_FENCE);
  for (int i = get_local_id(0); i < 256; i += get_local_size(0)) atomic_add(&counts[i], mine[i]);
}

kernel void scan_block(global int* data, global int* sums) {
  local int buffer[512];
  int t = get_local_id(0), base = get_group_id(0) * 512;
  buffer[2 * t] = data[base + 2 * t];
  buffer[2 * t + 1] = data[base + 2 * t + 1];
  int offset = 1;
  for (int d = 256; d > 0; d >>= 1) {
    barrier(CLK_LOCAL_MEM_FENCE);
    if (t < d) buffer[offset * (2 * t + 2) - 1] += buffer[offset * (2 * t + 1) - 1];
    offset *= 2;
  }
  if (t == 0) {
    sums[get_group_id(0)] = buffer[511];
    buffer[511] = 0;
  }
  for (int d = 1; d < 512; d *= 2) {
    offset >>= 1;
    barrier(CLK_LOCAL_MEM_FENCE);
    if (t < d) {
      int a = offset * (2 * t + 1) - 1, b = offset * (2 * t + 2) - 1;
      int x = buffer[a];
      buffer[a] = buffer[b];
      buffer[b] += x;
    }
  }
  barrier(CLK_LOCAL_MEM_FENCE);
  data[base + 2 * t] = buffer[2 * t];
  data[base + 2 * t + 1] = buffer[2 * t + 1];
}

kernel void bitonic_step(global int* data, int j, int k) {
  int i = get_global_id(0), p = i ^ j;
  if (p <= i) return;
  int a = data[i], b = data[p];
  if ((a > b) == ((i & k) == 0)) {
    data[i] = b;
    data[p] = a;
  }
}

kernel void binary_search(global int* out, global const int* sorted, global const int* keys, int n) {
  int key = keys[get_global_id(0)], low = 0, high = n;
  while (low < high) {
    int middle = (low + high) >> 1;
    if (sorted[middle] < key) low = middle + 1;
    else high = middle;
  }
  out[get_global_id(0)] = low;
}

#define ROUND(a, b, c, d, x, s) a += ((b & c) | (~b & d)) + x; a = rotate(a, (uint)s) + b
kernel void hash16(global uint4* out, global const uint* in) {
  int i = get_global_id(0);
  uint x[16];
  for (int k = 0; k < 16; ++k) x[k] = in[i * 16 + k];
  uint a = 0x67452301u, b = 0xefcdab89u, c = 0x98badcfeu, d = 0x10325476u;
  for (int k = 0; k < 16; k += 4) {
    ROUND(a, b, c, d, x[k], 7);
    ROUND(d, a, b, c, x[k + 1], 12);
    ROUND(c, d, a, b, x[k + 2], 17);
    ROUND(b, c, d, a, x[k + 3], 22);
  }
  for (int k = 0; k < 16; k += 4) {
    ROUND(a, c, d, b, x[(5 * k + 1) & 15], 5);
    ROUND(d, b, c, a, x[(5 * k + 6) & 15], 9);
    ROUND(c, a, b, d, x[(5 * k + 11) & 15], 14);
    ROUND(b, d, a, c, x[(5 * k) & 15], 20);
  }
  out[i] = (uint4)(a, b, c, d);
}

kernel void modular_power(global ulong* out, global const ulong* base, ulong exponent, ulong modulus) {
  int i = get_global_id(0);
  ulong b = base[i] % modulus, r = 1;
  for (ulong e = exponent; e; e >>= 1) {
    if (e & 1) r = r * b % modulus;
    b = b * b % modulus;
  }
  out[i] = r;
}

kernel void divide_index(global float* out, global const float* in, int nx, int ny, int nz) {
  int i = get_global_id(0);
  int x = i % nx, y = i / nx % ny, z = i / (nx * ny);
  out[(x * ny + y) * nz + z] = in[i];
}

kernel void edit_distance(global int* out, global const uchar* a, global const uchar* b, int n) {
  int row[17], i = get_global_id(0);
  for (int k = 0; k <= 16; ++k) row[k] = k;
  for (int j = 0; j < n; ++j) {
    int diagonal = row[0];
    row[0] = j + 1;
    uchar c = b[i * n + j];
    for (int k = 1; k <= 16; ++k) {
      int old = row[k];
      row[k] = min(min(row[k] + 1, row[k - 1] + 1), diagonal + (a[k - 1] != c));
      diagonal = old;
    }
  }
  out[i] = row[16];
}

kernel void bfs_level(global int* level, global const int* rows, global const int* edges, global int* changed, int current,
                      int n) {
  int v = get_global_id(0);
  if (v >= n || level[v] != current) return;
  for (int e = rows[v]; e < rows[v + 1]; ++e) {
    int w = edges[e];
    if (level[w] < 0) {
      level[w] = current + 1;
      *changed = 1;
    }
  }
}
