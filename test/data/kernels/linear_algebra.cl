// Dense linear algebra in several shapes of register use.
kernel void axpy(global float* y, global const float* x, float a, int n) {
  int i = get_global_id(0);
  if (i < n) y[i] = a * x[i] + y[i];
}

kernel void axpy4(global float4* y, global const float4* x, float a) {
  int i = get_global_id(0);
  y[i] = a * x[i] + y[i];
}

kernel void matmul(global float* c, global const float* a, global const float* b, int m, int n, int k) {
  int col = get_global_id(0), row = get_global_id(1);
  if (row >= m || col >= n) return;
  float sum = 0;
  for (int i = 0; i < k; ++i) sum += a[row * k + i] * b[i * n + col];
  c[row * n + col] = sum;
}

#define TILE 16
kernel void matmul_tiled(global float* c, global const float* a, global const float* b, int n, int k) {
  local float as[TILE][TILE], bs[TILE][TILE];
  int tx = get_local_id(0), ty = get_local_id(1);
  int col = get_group_id(0) * TILE + tx, row = get_group_id(1) * TILE + ty;
  float sum = 0;
  for (int t = 0; t < k / TILE; ++t) {
    as[ty][tx] = a[row * k + t * TILE + tx];
    bs[ty][tx] = b[(t * TILE + ty) * n + col];
    barrier(CLK_LOCAL_MEM_FENCE);
    for (int i = 0; i < TILE; ++i) sum += as[ty][i] * bs[i][tx];
    barrier(CLK_LOCAL_MEM_FENCE);
  }
  c[row * n + col] = sum;
}

// Each work-item computes 4 x 4 results.
kernel void matmul_blocked(global float* c, global const float* a, global const float* b, int n, int k) {
  local float as[16][64], bs[16][64];
  int tx = get_local_id(0), ty = get_local_id(1);
  int row = get_group_id(1) * 64, col = get_group_id(0) * 64;
  float sum[4][4];
  for (int i = 0; i < 4; ++i)
    for (int j = 0; j < 4; ++j) sum[i][j] = 0;
  for (int t = 0; t < k; t += 16) {
    for (int i = 0; i < 4; ++i) {
      as[tx][ty + 16 * i] = a[(row + ty + 16 * i) * k + t + tx];
      bs[ty][tx + 16 * i] = b[(t + ty) * n + col + tx + 16 * i];
    }
    barrier(CLK_LOCAL_MEM_FENCE);
    for (int p = 0; p < 16; ++p)
      for (int i = 0; i < 4; ++i)
        for (int j = 0; j < 4; ++j) sum[i][j] += as[p][ty + 16 * i] * bs[p][tx + 16 * j];
    barrier(CLK_LOCAL_MEM_FENCE);
  }
  for (int i = 0; i < 4; ++i)
    for (int j = 0; j < 4; ++j) c[(row + ty + 16 * i) * n + col + tx + 16 * j] = sum[i][j];
}

kernel void matvec(global float* y, global const float* a, global const float* x, int n) {
  local float partial[128];
  int t = get_local_id(0), row = get_group_id(0);
  float sum = 0;
  for (int j = t; j < n; j += 128) sum += a[row * n + j] * x[j];
  partial[t] = sum;
  for (int s = 64; s > 0; s >>= 1) {
    barrier(CLK_LOCAL_MEM_FENCE);
    if (t < s) partial[t] += partial[t + s];
  }
  if (t == 0) y[row] = partial[0];
}

kernel void dgemm_row(global double* c, global const double* a, global const double* b, int n) {
  int i = get_global_id(0);
  double s0 = 0, s1 = 0, s2 = 0, s3 = 0;
  for (int k = 0; k < n; ++k) {
    double x = a[i * n + k];
    s0 += x * b[k * 4];
    s1 += x * b[k * 4 + 1];
    s2 += x * b[k * 4 + 2];
    s3 += x * b[k * 4 + 3];
  }
  c[i * 4] = s0;
  c[i * 4 + 1] = s1;
  c[i * 4 + 2] = s2;
  c[i * 4 + 3] = s3;
}

kernel void transpose(global float* out, global const float* in, int width, int height) {
  local float tile[32][33];
  int x = get_group_id(0) * 32 + get_local_id(0), y = get_group_id(1) * 32 + get_local_id(1);
  for (int j = 0; j < 32; j += 8) tile[get_local_id(1) + j][get_local_id(0)] = in[(y + j) * width + x];
  barrier(CLK_LOCAL_MEM_FENCE);
  x = get_group_id(1) * 32 + get_local_id(0);
  y = get_group_id(0) * 32 + get_local_id(1);
  for (int j = 0; j < 32; j += 8) out[(y + j) * height + x] = tile[get_local_id(0)][get_local_id(1) + j];
}

kernel void spmv_csr(global float* y, global const int* rows, global const int* columns, global const float* values,
                     global const float* x, int n) {
  int i = get_global_id(0);
  if (i >= n) return;
  float sum = 0;
  for (int j = rows[i]; j < rows[i + 1]; ++j) sum += values[j] * x[columns[j]];
  y[i] = sum;
}

kernel void triangular(global float* x, global const float* l, int n) {
  int i = get_global_id(0);
  float sum = x[i];
  for (int j = 0; j < i; ++j) sum -= l[i * n + j] * x[j];
  x[i] = sum / l[i * n + i];
}
