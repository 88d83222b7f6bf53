// Matrix products, transposes, factorisations, particles.
#pragma OPENCL FP_CONTRACT OFF

kernel void multiply_naive(global const float* a, global const float* b, global float* c, int m, int n, int k) {
  int x = get_global_id(0), y = get_global_id(1);
  if (x >= n || y >= m) return;
  float sum = 0;
  for (int i = 0; i < k; ++i) sum += a[y * k + i] * b[i * n + x];
  c[y * n + x] = sum;
}

kernel void multiply_tiled(global const int* a, global const int* b, global int* c, int n) {
  local int as[16][16], bs[16][16];
  int tx = get_local_id(0), ty = get_local_id(1), x = get_global_id(0), y = get_global_id(1), sum = 0;
  for (int t = 0; t < n; t += 16) {
    as[ty][tx] = a[y * n + t + tx];
    bs[ty][tx] = b[(t + ty) * n + x];
    barrier(CLK_LOCAL_MEM_FENCE);
    for (int i = 0; i < 16; ++i) sum += as[ty][i] * bs[i][tx];
    barrier(CLK_LOCAL_MEM_FENCE);
  }
  c[y * n + x] = sum;
}

kernel void multiply_blocked(global const float* a, global const float* b, global float* c, int n) {
  local float as[8][32], bs[8][32];
  int tx = get_local_id(0), ty = get_local_id(1), t = ty * 8 + tx;
  int row = get_group_id(1) * 32, column = get_group_id(0) * 32;
  float sum[4][4];
  for (int i = 0; i < 4; ++i)
    for (int j = 0; j < 4; ++j) sum[i][j] = 0;
  for (int k = 0; k < n; k += 8) {
    for (int i = t; i < 256; i += 64) {
      as[i & 7][i >> 3] = a[(row + (i >> 3)) * n + k + (i & 7)];
      bs[i >> 5][i & 31] = b[(k + (i >> 5)) * n + column + (i & 31)];
    }
    barrier(CLK_LOCAL_MEM_FENCE);
    for (int p = 0; p < 8; ++p)
      for (int i = 0; i < 4; ++i)
        for (int j = 0; j < 4; ++j) sum[i][j] += as[p][ty * 4 + i] * bs[p][tx * 4 + j];
    barrier(CLK_LOCAL_MEM_FENCE);
  }
  for (int i = 0; i < 4; ++i)
    for (int j = 0; j < 4; ++j) c[(row + ty * 4 + i) * n + column + tx * 4 + j] = sum[i][j];
}

kernel void multiply_vectors(global const float4* a, global const float4* b, global float4* c, int n4) {
  int x = get_global_id(0), y = get_global_id(1);
  float4 sum = (float4)(0.0f);
  for (int k = 0; k < n4; ++k) {
    float4 v = a[y * n4 + k];
    sum += v.x * b[(4 * k) * n4 + x];
    sum += v.y * b[(4 * k + 1) * n4 + x];
    sum += v.z * b[(4 * k + 2) * n4 + x];
    sum += v.w * b[(4 * k + 3) * n4 + x];
  }
  c[y * n4 + x] = sum;
}

kernel void multiply_bytes(global const char4* a, global const char4* b, global int* c, int n4, int columns) {
  int x = get_global_id(0), y = get_global_id(1), sum = 0;
  for (int k = 0; k < n4; ++k) {
    char4 p = a[y * n4 + k], q = b[x * n4 + k];
    sum += p.x * q.x + p.y * q.y + p.z * q.z + p.w * q.w;
  }
  c[y * columns + x] = sum;
}

kernel void matrix_vector(global const double* a, global const double* x, global double* y, int n) {
  local double part[64];
  int row = get_group_id(0), t = get_local_id(0);
  double sum = 0;
  for (int k = t; k < n; k += 64) sum += a[row * n + k] * x[k];
  part[t] = sum;
  for (int s = 32; s > 0; s >>= 1) {
    barrier(CLK_LOCAL_MEM_FENCE);
    if (t < s) part[t] += part[t + s];
  }
  if (t == 0) y[row] = part[0];
}

kernel void transpose_naive(global const float* in, global float* out, int width, int height) {
  int x = get_global_id(0), y = get_global_id(1);
  if (x < width && y < height) out[x * height + y] = in[y * width + x];
}

kernel void transpose_unpadded(global const int* in, global int* out, int width, int height) {
  local int tile[16][16];
  int tx = get_local_id(0), ty = get_local_id(1), x = get_global_id(0), y = get_global_id(1);
  if (x < width && y < height) tile[ty][tx] = in[y * width + x];
  barrier(CLK_LOCAL_MEM_FENCE);
  x = get_group_id(1) * 16 + tx;
  y = get_group_id(0) * 16 + ty;
  if (x < height && y < width) out[y * height + x] = tile[tx][ty];
}

kernel void transpose_padded(global const double* in, global double* out, int n) {
  local double tile[32][33];
  int tx = get_local_id(0), ty = get_local_id(1), x = get_group_id(0) * 32, y = get_group_id(1) * 32;
  for (int i = ty; i < 32; i += 8) tile[i][tx] = in[(y + i) * n + x + tx];
  barrier(CLK_LOCAL_MEM_FENCE);
  for (int i = ty; i < 32; i += 8) out[(x + i) * n + y + tx] = tile[tx][i];
}

kernel void eliminate(global const float* in, global float* out, int n, int k) {
  int x = get_global_id(0), y = get_global_id(1);
  if (x >= n || y >= n) return;
  float v = in[y * n + x];
  if (y > k && x >= k) v = v - in[y * n + k] / in[k * n + k] * in[k * n + x];
  out[y * n + x] = v;
}

kernel void solve_lower(global const float* lower, global const float* right, global float* x, int n) {
  local float solved[48];
  int t = get_local_id(0);
  float mine = right[get_group_id(0) * n + t];
  for (int k = 0; k < n; ++k) {
    if (t == k) solved[k] = mine / lower[k * n + k];
    barrier(CLK_LOCAL_MEM_FENCE);
    if (t > k) mine = mine - lower[t * n + k] * solved[k];
  }
  x[get_group_id(0) * n + t] = solved[t];
}

kernel void nbody(global const float4* body, global float4* force, int n, float softening) {
  int i = get_global_id(0);
  float4 mine = body[i];
  float fx = 0, fy = 0, fz = 0;
  for (int j = 0; j < n; ++j) {
    float4 other = body[j];
    float dx = other.x - mine.x, dy = other.y - mine.y, dz = other.z - mine.z;
    float r = rsqrt(dx * dx + dy * dy + dz * dz + softening);
    float s = other.w * r * r * r;
    fx += dx * s;
    fy += dy * s;
    fz += dz * s;
  }
  force[i] = (float4)(fx, fy, fz, 0);
}

kernel void nbody_tiled(global const float4* body, global float4* force, int n, local float4* tile) {
  int i = get_global_id(0), t = get_local_id(0), size = get_local_size(0);
  float4 mine = body[i], sum = (float4)(0.0f);
  for (int first = 0; first < n; first += size) {
    tile[t] = body[first + t];
    barrier(CLK_LOCAL_MEM_FENCE);
    for (int j = 0; j < size; ++j) {
      float4 d = tile[j] - mine;
      d.w = 0;
      float r2 = d.x * d.x + d.y * d.y + d.z * d.z + 0.01f;
      sum += d * (tile[j].w / (r2 * sqrt(r2)));
    }
    barrier(CLK_LOCAL_MEM_FENCE);
  }
  force[i] = sum;
}

kernel void lennard_jones(global const float* x, global float* energy, global int* near, int n, float cutoff) {
  int i = get_global_id(0);
  if (i >= n) return;
  float sum = 0;
  int count = 0;
  for (int j = 0; j < n; ++j) {
    if (j == i) continue;
    float d = x[i] - x[j], r2 = d * d;
    if (r2 >= cutoff * cutoff || r2 < 0.25f) continue;
    float inverse = 1.0f / r2, six = inverse * inverse * inverse;
    sum += 4 * (six * six - six);
    ++count;
  }
  energy[i] = sum;
  near[i] = count;
}

kernel void complex_multiply(global const float2* a, global const float2* b, global float2* c) {
  int i = get_global_id(0);
  float2 p = a[i], q = b[i];
  c[i] = (float2)(p.x * q.x - p.y * q.y, p.x * q.y + p.y * q.x);
}

// Radix-2 butterflies in local memory.
kernel void fourier(global const float2* in, global float2* out) {
  local float2 v[64];
  int t = get_local_id(0), base = get_group_id(0) * 64;
  for (int i = t; i < 64; i += 32) {
    int r = 0;
    for (int b = 0; b < 6; ++b) r |= ((i >> b) & 1) << (5 - b);
    v[r] = in[base + i];
  }
  for (int half_size = 1; half_size < 64; half_size *= 2) {
    barrier(CLK_LOCAL_MEM_FENCE);
    int k = t & (half_size - 1), i = (t - k) * 2 + k;
    float s, c;
    s = sincos(-M_PI_F * k / half_size, &c);
    float2 a = v[i], b = v[i + half_size];
    float2 w = (float2)(b.x * c - b.y * s, b.x * s + b.y * c);
    v[i] = a + w;
    v[i + half_size] = a - w;
  }
  barrier(CLK_LOCAL_MEM_FENCE);
  for (int i = t; i < 64; i += 32) out[base + i] = v[i];
}
