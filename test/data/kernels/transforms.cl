// Values that all depend on each other: butterflies and small dense systems.
kernel void fft8(global float2* data, int stride) {
  int i = get_global_id(0);
  float2 v[8];
  for (int k = 0; k < 8; ++k) v[k] = data[i + k * stride];
  const float h = 0.70710678f;
  for (int k = 0; k < 4; ++k) {
    float2 a = v[k], b = v[k + 4];
    v[k] = a + b;
    v[k + 4] = a - b;
  }
  v[5] = (float2)(h * (v[5].x + v[5].y), h * (v[5].y - v[5].x));
  v[6] = (float2)(v[6].y, -v[6].x);
  v[7] = (float2)(h * (v[7].y - v[7].x), -h * (v[7].x + v[7].y));
  for (int g = 0; g < 8; g += 4) {
    float2 a = v[g] + v[g + 2], b = v[g + 1] + v[g + 3], c = v[g] - v[g + 2], d = v[g + 1] - v[g + 3];
    d = (float2)(d.y, -d.x);
    v[g] = a + b;
    v[g + 1] = a - b;
    v[g + 2] = c + d;
    v[g + 3] = c - d;
  }
  for (int k = 0; k < 8; ++k) data[i + k * stride] = v[k];
}

kernel void dct8(global float* out, global const float* in, int w) {
  int x = get_global_id(0), y = get_global_id(1) * 8;
  float v[8];
  for (int k = 0; k < 8; ++k) v[k] = in[(y + k) * w + x];
  float a0 = v[0] + v[7], a1 = v[1] + v[6], a2 = v[2] + v[5], a3 = v[3] + v[4];
  float b0 = v[0] - v[7], b1 = v[1] - v[6], b2 = v[2] - v[5], b3 = v[3] - v[4];
  out[y * w + x] = 0.35355339f * (a0 + a1 + a2 + a3);
  out[(y + 4) * w + x] = 0.35355339f * (a0 - a1 - a2 + a3);
  out[(y + 2) * w + x] = 0.46193977f * (a0 - a3) + 0.19134172f * (a1 - a2);
  out[(y + 6) * w + x] = 0.19134172f * (a0 - a3) - 0.46193977f * (a1 - a2);
  out[(y + 1) * w + x] = 0.49039264f * b0 + 0.41573481f * b1 + 0.27778512f * b2 + 0.09754516f * b3;
  out[(y + 3) * w + x] = 0.41573481f * b0 - 0.09754516f * b1 - 0.49039264f * b2 - 0.27778512f * b3;
  out[(y + 5) * w + x] = 0.27778512f * b0 - 0.49039264f * b1 + 0.09754516f * b2 + 0.41573481f * b3;
  out[(y + 7) * w + x] = 0.09754516f * b0 - 0.27778512f * b1 + 0.41573481f * b2 - 0.49039264f * b3;
}

kernel void invert4x4(global float* out, global const float* in) {
  int i = get_global_id(0) * 16;
  float m[16];
  for (int k = 0; k < 16; ++k) m[k] = in[i + k];
  float s0 = m[0] * m[5] - m[4] * m[1], s1 = m[0] * m[6] - m[4] * m[2], s2 = m[0] * m[7] - m[4] * m[3];
  float s3 = m[1] * m[6] - m[5] * m[2], s4 = m[1] * m[7] - m[5] * m[3], s5 = m[2] * m[7] - m[6] * m[3];
  float c5 = m[10] * m[15] - m[14] * m[11], c4 = m[9] * m[15] - m[13] * m[11], c3 = m[9] * m[14] - m[13] * m[10];
  float c2 = m[8] * m[15] - m[12] * m[11], c1 = m[8] * m[14] - m[12] * m[10], c0 = m[8] * m[13] - m[12] * m[9];
  float d = 1.0f / (s0 * c5 - s1 * c4 + s2 * c3 + s3 * c2 - s4 * c1 + s5 * c0);
  out[i + 0] = (m[5] * c5 - m[6] * c4 + m[7] * c3) * d;
  out[i + 1] = (-m[1] * c5 + m[2] * c4 - m[3] * c3) * d;
  out[i + 2] = (m[13] * s5 - m[14] * s4 + m[15] * s3) * d;
  out[i + 3] = (-m[9] * s5 + m[10] * s4 - m[11] * s3) * d;
  out[i + 4] = (-m[4] * c5 + m[6] * c2 - m[7] * c1) * d;
  out[i + 5] = (m[0] * c5 - m[2] * c2 + m[3] * c1) * d;
  out[i + 6] = (-m[12] * s5 + m[14] * s2 - m[15] * s1) * d;
  out[i + 7] = (m[8] * s5 - m[10] * s2 + m[11] * s1) * d;
}

kernel void rgb_to_yuv(global uchar4* out, global const uchar4* in, int n) {
  int i = get_global_id(0);
  if (i >= n) return;
  float4 c = convert_float4(in[i]);
  float y = 0.299f * c.x + 0.587f * c.y + 0.114f * c.z;
  float u = 0.492f * (c.z - y) + 128.0f, v = 0.877f * (c.x - y) + 128.0f;
  out[i] = convert_uchar4_sat((float4)(y, u, v, c.w));
}

kernel void softmax(global float* x, int n) {
  int row = get_global_id(0);
  float top = -1e30f, sum = 0;
  for (int i = 0; i < n; ++i) top = fmax(top, x[row * n + i]);
  for (int i = 0; i < n; ++i) {
    float e = exp(x[row * n + i] - top);
    x[row * n + i] = e;
    sum += e;
  }
  for (int i = 0; i < n; ++i) x[row * n + i] /= sum;
}

kernel void tridiagonal(global float* x, global const float* a, global const float* b, global const float* c,
                        global const float* d, global float* work, int n, int systems) {
  int s = get_global_id(0);
  float q = c[s] / b[s], r = d[s] / b[s];
  work[s] = q;
  x[s] = r;
  for (int i = 1; i < n; ++i) {
    int p = i * systems + s;
    float m = 1.0f / (b[p] - a[p] * q);
    q = c[p] * m;
    r = (d[p] - a[p] * r) * m;
    work[p] = q;
    x[p] = r;
  }
  for (int i = n - 2; i >= 0; --i) {
    int p = i * systems + s;
    r = x[p] - work[p] * r;
    x[p] = r;
  }
}

kernel void dot64(global float* out, global const float* a, global const float* b) {
  int i = get_global_id(0);
  float s = 0;
  for (int k = 0; k < 64; ++k) s += a[k * 4096 + i] * b[k * 4096 + i];
  out[i] = s;
}

kernel void reduce_sum(global float* out, global const float* in, int n) {
  local float part[256];
  int t = get_local_id(0);
  float s = 0;
  for (int i = get_global_id(0); i < n; i += get_global_size(0)) s += in[i];
  part[t] = s;
  barrier(CLK_LOCAL_MEM_FENCE);
  for (int k = 128; k > 0; k >>= 1) {
    if (t < k) part[t] += part[t + k];
    barrier(CLK_LOCAL_MEM_FENCE);
  }
  if (t == 0) out[get_group_id(0)] = part[0];
}
