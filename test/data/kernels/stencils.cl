// Neighbourhoods: few to many live values.
kernel void jacobi2d(global float* out, global const float* in, int w, int h) {
  int x = get_global_id(0), y = get_global_id(1);
  if (x < 1 || y < 1 || x >= w - 1 || y >= h - 1) return;
  out[y * w + x] = 0.2f * (in[y * w + x] + in[y * w + x - 1] + in[y * w + x + 1] + in[(y - 1) * w + x] + in[(y + 1) * w + x]);
}

kernel void laplace3d(global float* out, global const float* in, int w, int h, int d) {
  int x = get_global_id(0), y = get_global_id(1);
  float below = in[y * w + x], here = in[(h + y) * w + x];
  for (int z = 1; z < d - 1; ++z) {
    float above = in[((z + 1) * h + y) * w + x];
    int p = (z * h + y) * w + x;
    out[p] = below + above + in[p - 1] + in[p + 1] + in[p - w] + in[p + w] - 6.0f * here;
    below = here;
    here = above;
  }
}

kernel void heat_double(global double* out, global const double* in, int w, double k) {
  int x = get_global_id(0) + 1, y = get_global_id(1) + 1;
  int p = y * w + x;
  double c = in[p];
  out[p] = c + k * (in[p - 1] + in[p + 1] + in[p - w] + in[p + w] - 4.0 * c);
}

constant float taps[25] = {1, 4, 7, 4, 1, 4, 16, 26, 16, 4, 7, 26, 41, 26, 7, 4, 16, 26, 16, 4, 1, 4, 7, 4, 1};

kernel void blur5x5(global float* out, global const float* in, int w) {
  int x = get_global_id(0) + 2, y = get_global_id(1) + 2;
  float sum = 0;
  for (int j = 0; j < 5; ++j)
    for (int i = 0; i < 5; ++i) sum += taps[j * 5 + i] * in[(y + j - 2) * w + x + i - 2];
  out[y * w + x] = sum / 273.0f;
}

kernel void convolution_tiled(global float* out, global const float* in, constant float* filter, int w) {
  local float tile[20][36];
  int lx = get_local_id(0), ly = get_local_id(1);
  int x0 = get_group_id(0) * 32, y0 = get_group_id(1) * 16;
  for (int j = ly; j < 20; j += 16)
    for (int i = lx; i < 36; i += 32) tile[j][i] = in[(y0 + j) * w + x0 + i];
  barrier(CLK_LOCAL_MEM_FENCE);
  float sum = 0;
  for (int j = 0; j < 5; ++j)
    for (int i = 0; i < 5; ++i) sum += filter[j * 5 + i] * tile[ly + j][lx + i];
  out[(y0 + ly) * w + x0 + lx] = sum;
}

kernel void sobel(global uchar* out, global const uchar* in, int w, int h) {
  int x = get_global_id(0), y = get_global_id(1);
  if (x < 1 || y < 1 || x >= w - 1 || y >= h - 1) return;
  int p = y * w + x;
  int a = in[p - w - 1], b = in[p - w], c = in[p - w + 1], d = in[p - 1], f = in[p + 1];
  int g = in[p + w - 1], i = in[p + w], j = in[p + w + 1];
  int dx = c + 2 * f + j - a - 2 * d - g, dy = g + 2 * i + j - a - 2 * b - c;
  int m = abs(dx) + abs(dy);
  out[p] = m > 255 ? 255 : m;
}

// Nine distribution functions per cell stay live at once.
kernel void lattice_boltzmann(global float* out, global const float* in, int n, float omega) {
  int i = get_global_id(0);
  float f[9];
  for (int q = 0; q < 9; ++q) f[q] = in[q * n + i];
  float rho = 0;
  for (int q = 0; q < 9; ++q) rho += f[q];
  float ux = (f[1] + f[5] + f[8] - f[3] - f[6] - f[7]) / rho, uy = (f[2] + f[5] + f[6] - f[4] - f[7] - f[8]) / rho;
  float u2 = 1.0f - 1.5f * (ux * ux + uy * uy);
  const float cx[9] = {0, 1, 0, -1, 0, 1, -1, -1, 1}, cy[9] = {0, 0, 1, 0, -1, 1, 1, -1, -1};
  const float wt[9] = {4.f / 9, 1.f / 9, 1.f / 9, 1.f / 9, 1.f / 9, 1.f / 36, 1.f / 36, 1.f / 36, 1.f / 36};
  for (int q = 0; q < 9; ++q) {
    float cu = 3.0f * (cx[q] * ux + cy[q] * uy);
    out[q * n + i] = f[q] + omega * (wt[q] * rho * (u2 + cu + 0.5f * cu * cu) - f[q]);
  }
}
