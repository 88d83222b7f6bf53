// A tiled convolution with boundary handling, several outputs a thread and a choice of border modes: about a hundred lines.
#ifndef BX
#define BX 16
#define BY 16
#define TX 1
#define TY 1
#define BORDER 0
#define VEC 0
#endif
#define RADIUS 2
#define WIDTH (BX * TX + 2 * RADIUS)
#define HEIGHT (BY * TY + 2 * RADIUS)

int clamp_index(int i, int n) {
#if BORDER == 0
  return i < 0 ? 0 : i >= n ? n - 1 : i;
#elif BORDER == 1
  return i < 0 ? -i - 1 : i >= n ? 2 * n - i - 1 : i;
#else
  return (i + n) % n;
#endif
}

float load(__global const float* in, int x, int y, int width, int height) {
  return in[clamp_index(y, height) * width + clamp_index(x, width)];
}

float weight(int dx, int dy, float sigma) {
  float d = (float)(dx * dx + dy * dy);
  return native_exp(-d / (2.0f * sigma * sigma));
}

__kernel void smooth(__global const float* in, __global float* out, __constant float* table, int width, int height,
                     float sigma, int use_table) {
  __local float tile[HEIGHT][WIDTH + 1];
  const int lx = get_local_id(0);
  const int ly = get_local_id(1);
  const int x0 = get_group_id(0) * BX * TX;
  const int y0 = get_group_id(1) * BY * TY;

  for (int y = ly; y < HEIGHT; y += BY) {
    for (int x = lx; x < WIDTH; x += BX) {
      tile[y][x] = load(in, x0 + x - RADIUS, y0 + y - RADIUS, width, height);
    }
  }
  barrier(CLK_LOCAL_MEM_FENCE);

  float sum[TY][TX];
  float norm[TY][TX];
  for (int j = 0; j < TY; ++j) {
    for (int i = 0; i < TX; ++i) {
      sum[j][i] = 0.0f;
      norm[j][i] = 0.0f;
    }
  }

  for (int dy = -RADIUS; dy <= RADIUS; ++dy) {
    for (int dx = -RADIUS; dx <= RADIUS; ++dx) {
      float w;
      if (use_table) {
        w = table[(dy + RADIUS) * (2 * RADIUS + 1) + dx + RADIUS];
      } else {
        w = weight(dx, dy, sigma);
      }
      for (int j = 0; j < TY; ++j) {
        for (int i = 0; i < TX; ++i) {
#if VEC
          const int x = lx * TX + i;
          const int y = ly * TY + j;
#else
          const int x = lx + i * BX;
          const int y = ly + j * BY;
#endif
          sum[j][i] += w * tile[y + dy + RADIUS][x + dx + RADIUS];
          norm[j][i] += w;
        }
      }
    }
  }

  for (int j = 0; j < TY; ++j) {
    for (int i = 0; i < TX; ++i) {
#if VEC
      const int x = x0 + lx * TX + i;
      const int y = y0 + ly * TY + j;
#else
      const int x = x0 + lx + i * BX;
      const int y = y0 + ly + j * BY;
#endif
      if (x < width && y < height) {
        out[y * width + x] = sum[j][i] / norm[j][i];
      }
    }
  }
}
