// Dynamic programming, grids with halos, images.
#pragma OPENCL FP_CONTRACT OFF

// Needleman and Wunsch, one anti-diagonal a launch.
kernel void align_diagonal(global int* score, global const int* match, int n, int diagonal, int penalty) {
  int row = get_global_id(0) + max(1, diagonal - n + 1), column = diagonal - row + 1;
  if (row >= n + 1 || column < 1 || column > n) return;
  int w = n + 1;
  int best = score[(row - 1) * w + column - 1] + match[(row - 1) * n + column - 1];
  best = max(best, score[row * w + column - 1] - penalty);
  score[row * w + column] = max(best, score[(row - 1) * w + column] - penalty);
}

// The same in a tile of local memory, all diagonals in one launch.
kernel void align_tile(global const int* match, global int* out, int penalty) {
  local int s[17][17];
  local int m[16][16];
  int t = get_local_id(0);
  global const int* from = match + get_group_id(0) * 256;
  for (int r = 0; r < 16; ++r) m[r][t] = from[r * 16 + t];
  s[0][t + 1] = -(t + 1) * penalty;
  s[t + 1][0] = -(t + 1) * penalty;
  if (t == 0) s[0][0] = 0;
  barrier(CLK_LOCAL_MEM_FENCE);
  for (int d = 0; d < 16; ++d) {
    if (t <= d) {
      int x = t + 1, y = d - t + 1;
      s[y][x] = max(s[y - 1][x - 1] + m[y - 1][x - 1], max(s[y][x - 1], s[y - 1][x]) - penalty);
    }
    barrier(CLK_LOCAL_MEM_FENCE);
  }
  for (int d = 14; d >= 0; --d) {
    if (t <= d) {
      int x = t + 16 - d, y = 16 - t;
      s[y][x] = max(s[y - 1][x - 1] + m[y - 1][x - 1], max(s[y][x - 1], s[y - 1][x]) - penalty);
    }
    barrier(CLK_LOCAL_MEM_FENCE);
  }
  for (int r = 0; r < 16; ++r) out[get_group_id(0) * 256 + r * 16 + t] = s[r + 1][t + 1];
}

kernel void edit_distance(global const char* words, global const char* other, global int* distance, int length) {
  int row[21];
  global const char* a = words + get_global_id(0) * length;
  for (int j = 0; j <= length; ++j) row[j] = j;
  for (int i = 0; i < length; ++i) {
    int corner = row[0];
    row[0] = i + 1;
    for (int j = 0; j < length; ++j) {
      int cost = corner + (a[i] != other[j]);
      corner = row[j + 1];
      row[j + 1] = min(cost, min(corner, row[j]) + 1);
    }
  }
  distance[get_global_id(0)] = row[length];
}

kernel void shortest_paths_step(global int* d, int n, int k) {
  int i = get_global_id(1), j = get_global_id(0);
  if (i < n && j < n && i != k && j != k) d[i * n + j] = min(d[i * n + j], d[i * n + k] + d[k * n + j]);
}

kernel void knapsack_row(global const int* before, global int* after, int weight, int value, int capacity) {
  int c = get_global_id(0);
  if (c > capacity) return;
  int best = before[c];
  if (c >= weight) best = max(best, before[c - weight] + value);
  after[c] = best;
}

kernel void viterbi_step(global const float* probability, global const float* change, global const float* seen,
                         global float* next, global int* from, int states) {
  int s = get_global_id(0);
  if (s >= states) return;
  float best = -1;
  int arg = 0;
  for (int r = 0; r < states; ++r) {
    float p = probability[r] * change[r * states + s];
    if (p > best) {
      best = p;
      arg = r;
    }
  }
  next[s] = best * seen[s];
  from[s] = arg;
}

kernel void stencil_line(global const float* in, global float* out, int n, int radius, local float* tile) {
  int t = get_local_id(0), size = get_local_size(0), i = get_global_id(0);
  tile[t + radius] = i < n ? in[i] : 0.0f;
  if (t < radius) {
    tile[t] = i >= radius ? in[i - radius] : 0.0f;
    tile[t + radius + size] = i + size < n ? in[i + size] : 0.0f;
  }
  barrier(CLK_LOCAL_MEM_FENCE);
  if (i >= n) return;
  float sum = 0;
  for (int k = -radius; k <= radius; ++k) sum = sum + tile[t + radius + k] * (1.0f / (1 + abs(k)));
  out[i] = sum;
}

kernel void stencil_plane(global const float* in, global float* out, int width, int height) {
  local float tile[10][18];
  int x = get_global_id(0), y = get_global_id(1), lx = get_local_id(0) + 1, ly = get_local_id(1) + 1;
#define CELL(y, x) ((x) >= 0 && (x) < width && (y) >= 0 && (y) < height ? in[(y) * width + (x)] : 0.0f)
  tile[ly][lx] = CELL(y, x);
  if (lx == 1) tile[ly][0] = CELL(y, x - 1);
  if (lx == 16) tile[ly][17] = CELL(y, x + 1);
  if (ly == 1) tile[0][lx] = CELL(y - 1, x);
  if (ly == 8) tile[9][lx] = CELL(y + 1, x);
  barrier(CLK_LOCAL_MEM_FENCE);
  if (x < width && y < height)
    out[y * width + x] =
        0.5f * tile[ly][lx] + 0.125f * (tile[ly - 1][lx] + tile[ly + 1][lx] + tile[ly][lx - 1] + tile[ly][lx + 1]);
}

kernel void stencil_volume(global const double* in, global double* out, int nx, int ny, int nz) {
  int x = get_global_id(0), y = get_global_id(1), z = get_global_id(2);
  if (x >= nx || y >= ny || z >= nz) return;
  int i = (z * ny + y) * nx + x;
  if (x == 0 || y == 0 || z == 0 || x == nx - 1 || y == ny - 1 || z == nz - 1) {
    out[i] = in[i];
    return;
  }
  out[i] = -6 * in[i] + in[i - 1] + in[i + 1] + in[i - nx] + in[i + nx] + in[i - nx * ny] + in[i + nx * ny];
}

kernel void heat_in_local_memory(global float* rod, int steps) {
  local float a[66], b[66];
  int t = get_local_id(0), i = get_global_id(0);
  a[t + 1] = rod[i];
  if (t == 0) a[0] = b[0] = 1.0f;
  if (t == 63) a[65] = b[65] = -1.0f;
  for (int s = 0; s < steps; ++s) {
    barrier(CLK_LOCAL_MEM_FENCE);
    b[t + 1] = a[t + 1] + 0.25f * (a[t] - 2 * a[t + 1] + a[t + 2]);
    barrier(CLK_LOCAL_MEM_FENCE);
    a[t + 1] = b[t + 1];
  }
  rod[i] = a[t + 1];
}

kernel void life(global const uchar* now, global uchar* next, int width, int height) {
  int x = get_global_id(0), y = get_global_id(1);
  if (x >= width || y >= height) return;
  int count = 0;
  for (int dy = -1; dy <= 1; ++dy)
    for (int dx = -1; dx <= 1; ++dx) {
      if (dx == 0 && dy == 0) continue;
      count += now[(y + dy + height) % height * width + (x + dx + width) % width];
    }
  next[y * width + x] = count == 3 || (count == 2 && now[y * width + x]);
}

constant float gauss[5][5] = {{1, 4, 7, 4, 1}, {4, 16, 26, 16, 4}, {7, 26, 41, 26, 7}, {4, 16, 26, 16, 4}, {1, 4, 7, 4, 1}};

kernel void convolve(global const float* in, global float* out, int width, int height) {
  int x = get_global_id(0), y = get_global_id(1);
  if (x >= width || y >= height) return;
  float sum = 0;
  for (int j = 0; j < 5; ++j)
    for (int i = 0; i < 5; ++i) {
      int cx = clamp(x + i - 2, 0, width - 1), cy = clamp(y + j - 2, 0, height - 1);
      sum += gauss[j][i] * in[cy * width + cx];
    }
  out[y * width + x] = sum * (1.0f / 273.0f);
}

kernel void convolve_rows(global const int* in, global int* out, constant int* weights, int width, int radius) {
  local int line[128];
  int x = get_global_id(0), y = get_group_id(1), t = get_local_id(0), size = get_local_size(0);
  int first = get_group_id(0) * size - radius;
  for (int i = t; i < size + 2 * radius; i += size) {
    int at = first + i;
    line[i] = at >= 0 && at < width ? in[y * width + at] : 0;
  }
  barrier(CLK_LOCAL_MEM_FENCE);
  if (x >= width) return;
  int sum = 0;
  for (int k = 0; k <= 2 * radius; ++k) sum += weights[k] * line[t + k];
  out[y * width + x] = sum;
}

#define SORT2(a, b)      \
  {                      \
    uchar low = min(a, b); \
    b = max(a, b);       \
    a = low;             \
  }
kernel void median(global const uchar* in, global uchar* out, int width, int height) {
  int x = get_global_id(0), y = get_global_id(1);
  if (x < 1 || y < 1 || x >= width - 1 || y >= height - 1) return;
  uchar v[9];
  for (int j = 0; j < 3; ++j)
    for (int i = 0; i < 3; ++i) v[j * 3 + i] = in[(y + j - 1) * width + x + i - 1];
  for (int pass = 0; pass < 5; ++pass)
    for (int i = 0; i < 8 - pass; ++i) SORT2(v[i], v[i + 1])
  out[y * width + x] = v[4];
}

kernel void sobel(global const uchar* in, global uchar* out, int width, int height) {
  int x = get_global_id(0), y = get_global_id(1);
  if (x < 1 || y < 1 || x >= width - 1 || y >= height - 1) return;
  global const uchar* p = in + y * width + x;
  int gx = p[1 - width] + 2 * p[1] + p[1 + width] - p[-1 - width] - 2 * p[-1] - p[-1 + width];
  int gy = p[width - 1] + 2 * p[width] + p[width + 1] - p[-width - 1] - 2 * p[-width] - p[-width + 1];
  out[y * width + x] = convert_uchar_sat(abs(gx) + abs(gy));
}

kernel void bilinear(global const float* in, global float* out, int width, int height, float scale) {
  int x = get_global_id(0), y = get_global_id(1);
  float fx = x * scale, fy = y * scale;
  int ix = min((int)fx, width - 2), iy = min((int)fy, height - 2);
  float ax = fx - ix, ay = fy - iy;
  float top = in[iy * width + ix] * (1 - ax) + in[iy * width + ix + 1] * ax;
  float bottom = in[(iy + 1) * width + ix] * (1 - ax) + in[(iy + 1) * width + ix + 1] * ax;
  out[y * get_global_size(0) + x] = top * (1 - ay) + bottom * ay;
}
