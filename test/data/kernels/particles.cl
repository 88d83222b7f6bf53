// Arithmetic with few or many values held over a loop.
kernel void nbody(global float4* force, global const float4* body, int n, float soft) {
  int i = get_global_id(0);
  float4 me = body[i];
  float ax = 0, ay = 0, az = 0;
  for (int j = 0; j < n; ++j) {
    float4 b = body[j];
    float dx = b.x - me.x, dy = b.y - me.y, dz = b.z - me.z;
    float r = native_rsqrt(dx * dx + dy * dy + dz * dz + soft);
    float s = b.w * r * r * r;
    ax += s * dx;
    ay += s * dy;
    az += s * dz;
  }
  force[i] = (float4)(ax, ay, az, 0);
}

kernel void nbody_tiled(global float4* force, global const float4* body, int n, float soft) {
  local float4 tile[128];
  int i = get_global_id(0), t = get_local_id(0);
  float4 me = body[i];
  float ax = 0, ay = 0, az = 0;
  for (int j = 0; j < n; j += 128) {
    tile[t] = body[j + t];
    barrier(CLK_LOCAL_MEM_FENCE);
    for (int k = 0; k < 128; ++k) {
      float4 b = tile[k];
      float dx = b.x - me.x, dy = b.y - me.y, dz = b.z - me.z;
      float r = native_rsqrt(dx * dx + dy * dy + dz * dz + soft);
      float s = b.w * r * r * r;
      ax += s * dx;
      ay += s * dy;
      az += s * dz;
    }
    barrier(CLK_LOCAL_MEM_FENCE);
  }
  force[i] = (float4)(ax, ay, az, 0);
}

kernel void lennard_jones(global double* energy, global const double* x, global const double* y, global const double* z,
                          global const int* neighbours, int count) {
  int i = get_global_id(0);
  double xi = x[i], yi = y[i], zi = z[i], e = 0;
  for (int k = 0; k < count; ++k) {
    int j = neighbours[k * 1024 + i];
    double dx = x[j] - xi, dy = y[j] - yi, dz = z[j] - zi;
    double r2 = 1.0 / (dx * dx + dy * dy + dz * dz);
    double r6 = r2 * r2 * r2;
    e += 4.0 * r6 * (r6 - 1.0);
  }
  energy[i] = e;
}

kernel void black_scholes(global float* call, global float* put, global const float* price, global const float* strike,
                          global const float* years, float r, float v) {
  int i = get_global_id(0);
  float s = price[i], x = strike[i], t = years[i];
  float root = sqrt(t);
  float d1 = (log(s / x) + (r + 0.5f * v * v) * t) / (v * root), d2 = d1 - v * root;
  float k1 = 1.0f / (1.0f + 0.2316419f * fabs(d1)), k2 = 1.0f / (1.0f + 0.2316419f * fabs(d2));
  float n1 = 0.3989423f * exp(-0.5f * d1 * d1) * k1 * (0.3193815f + k1 * (-0.3565638f + k1 * (1.781478f + k1 * (-1.821256f + k1 * 1.330274f))));
  float n2 = 0.3989423f * exp(-0.5f * d2 * d2) * k2 * (0.3193815f + k2 * (-0.3565638f + k2 * (1.781478f + k2 * (-1.821256f + k2 * 1.330274f))));
  n1 = d1 > 0 ? 1.0f - n1 : n1;
  n2 = d2 > 0 ? 1.0f - n2 : n2;
  float e = exp(-r * t);
  call[i] = s * n1 - x * e * n2;
  put[i] = x * e * (1.0f - n2) - s * (1.0f - n1);
}

kernel void mandelbrot(global int* out, float x0, float y0, float step, int w, int limit) {
  int px = get_global_id(0), py = get_global_id(1);
  float cx = x0 + px * step, cy = y0 + py * step, x = 0, y = 0;
  int n = 0;
  while (x * x + y * y < 4.0f && n < limit) {
    float t = x * x - y * y + cx;
    y = 2.0f * x * y + cy;
    x = t;
    ++n;
  }
  out[py * w + px] = n;
}

kernel void monte_carlo(global float* out, uint seed, int n) {
  uint s = seed ^ (uint)get_global_id(0) * 2654435761u;
  int inside = 0;
  for (int i = 0; i < n; ++i) {
    s ^= s << 13;
    s ^= s >> 17;
    s ^= s << 5;
    float x = (s >> 8) * 5.9604645e-8f;
    s = s * 1664525u + 1013904223u;
    float y = (s >> 8) * 5.9604645e-8f;
    inside += x * x + y * y <= 1.0f;
  }
  out[get_global_id(0)] = 4.0f * inside / n;
}

kernel void k_means(global int* label, global const float* points, global const float* centres, int n, int k, int dims) {
  int i = get_global_id(0);
  if (i >= n) return;
  float best = 1e30f;
  int at = 0;
  for (int c = 0; c < k; ++c) {
    float d2 = 0;
    for (int d = 0; d < dims; ++d) {
      float diff = points[d * n + i] - centres[c * dims + d];
      d2 += diff * diff;
    }
    if (d2 < best) {
      best = d2;
      at = c;
    }
  }
  label[i] = at;
}
