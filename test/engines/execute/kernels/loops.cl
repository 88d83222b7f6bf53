// Control flow that data decide: divergent trip counts, several exits, switch, nested loops, early returns.
#pragma OPENCL FP_CONTRACT OFF

kernel void mandelbrot(global int* iterations, int width, int height, int limit) {
  int x = get_global_id(0), y = get_global_id(1);
  if (x >= width || y >= height) return;
  float cr = -2.0f + 3.0f * x / width, ci = -1.25f + 2.5f * y / height, zr = 0, zi = 0;
  int i = 0;
  while (i < limit && zr * zr + zi * zi <= 4.0f) {
    float t = zr * zr - zi * zi + cr;
    zi = 2 * zr * zi + ci;
    zr = t;
    ++i;
  }
  iterations[y * width + x] = i;
}

kernel void julia_double(global ushort* iterations, int width, double cr, double ci) {
  int x = get_global_id(0), y = get_global_id(1);
  double zr = 3.0 * x / width - 1.5, zi = 3.0 * y / width - 1.5;
  ushort i = 0;
  for (; i < 200; ++i) {
    double r2 = zr * zr, i2 = zi * zi;
    if (r2 + i2 > 4) break;
    zi = 2 * zr * zi + ci;
    zr = r2 - i2 + cr;
  }
  iterations[y * width + x] = i;
}

kernel void collatz(global int* steps, global long* peak) {
  int i = get_global_id(0);
  long v = i + 1, top = v;
  int n = 0;
  while (v != 1) {
    if (v % 2 == 0)
      v /= 2;
    else
      v = 3 * v + 1;
    top = max(top, v);
    ++n;
  }
  steps[i] = n;
  peak[i] = top;
}

kernel void sieve(global uchar* composite, int n) {
  int p = get_global_id(0) + 2;
  if (p * p > n) return;
  for (int q = 2; q * q <= p; ++q)
    if (p % q == 0) return;
  for (int m = p * p; m <= n; m += p) composite[m] = 1;
}

kernel void greatest_divisor(global const uint* a, global const uint* b, global uint* divisor, global ulong* multiple) {
  int i = get_global_id(0);
  uint x = a[i], y = b[i];
  while (y) {
    uint r = x % y;
    x = y;
    y = r;
  }
  divisor[i] = x;
  multiple[i] = x ? (ulong)(a[i] / x) * b[i] : 0;
}

kernel void binary_divisor(global const ulong* a, global const ulong* b, global ulong* out) {
  int i = get_global_id(0);
  ulong x = a[i], y = b[i];
  if (x == 0 || y == 0) {
    out[i] = x | y;
    return;
  }
  ulong low = (x | y) & -(x | y);
  int shift = 63 - (int)clz(low);
  while ((x & 1) == 0) x >>= 1;
  do {
    while ((y & 1) == 0) y >>= 1;
    if (x > y) {
      ulong t = x;
      x = y;
      y = t;
    }
    y -= x;
  } while (y);
  out[i] = x << shift;
}

kernel void power_modulo(global const uint* base, global const uint* exponent, global uint* out, uint modulus) {
  int i = get_global_id(0);
  ulong r = 1, b = base[i] % modulus;
  for (uint e = exponent[i]; e; e >>= 1) {
    if (e & 1) r = r * b % modulus;
    b = b * b % modulus;
  }
  out[i] = (uint)r;
}

kernel void square_roots(global const uint* in, global uint* out) {
  int i = get_global_id(0);
  uint n = in[i], r = 0;
  for (uint bit = 1u << 30; bit; bit >>= 2)
    if (n >= r + bit) {
      n -= r + bit;
      r = (r >> 1) + bit;
    } else {
      r >>= 1;
    }
  out[i] = r;
}

// Two exits and a continue in a nested loop.
kernel void several_exits(global const int* in, global int* out, int rows, int columns) {
  int i = get_global_id(0), result = -1, seen = 0;
  for (int r = 0; r < rows; ++r) {
    for (int c = 0; c < columns; ++c) {
      int v = in[(r * columns + c + i) % (rows * columns)];
      if (v < 0) continue;
      if (v == i % 50) {
        result = r * 1000 + c;
        goto found;
      }
      if (++seen > 40 + i) break;
      if (v > 97) goto none;
    }
    if (seen > 100) break;
  }
none:
  result -= seen;
found:
  out[i] = result;
}

kernel void nested_divergent(global const int* in, global int* out, int n) {
  int i = get_global_id(0);
  if (i >= n) return;
  int sum = 0;
  for (int a = 0; a < in[i] % 7; ++a) {
    int k = a;
    while (k < 12) {
      if ((k ^ i) & 1) {
        for (int b = i % 5; b >= 0; --b) sum += b * k + a;
        k += 3;
      } else {
        sum ^= k;
        k += 1 + (i & 1);
      }
    }
  }
  out[i] = sum;
}

kernel void switch_cases(global const int* op, global const int* a, global const int* b, global int* out) {
  int i = get_global_id(0), r = 0;
  switch (op[i]) {
    case 0: r = a[i] + b[i]; break;
    case 1: r = a[i] - b[i]; break;
    case 2: r = a[i] * b[i]; break;
    case 3: r = a[i] / (b[i] == 0 ? 1 : b[i]); break;
    case 4: r = a[i];  // and on
    case 5: r += 1000; break;
    case 17: r = a[i] & b[i]; break;
    case -4: r = a[i] | b[i]; break;
    case 100000: return;
    default: r = -7;
  }
  out[i] = r;
}

// A small stack machine: a switch in a loop, jumps backwards.
kernel void interpreter(global const uchar* code, global const int* input, global int* out, int limit) {
  int stack[8];
  int depth = 0, at = 0, steps = 0;
  while (steps++ < limit) {
    uchar op = code[at++];
    if (op == 0) break;
    switch (op) {
      case 1: stack[depth++] = input[get_global_id(0)]; break;
      case 2: stack[depth++] = code[at++]; break;
      case 3: depth--; stack[depth - 1] += stack[depth]; break;
      case 4: depth--; stack[depth - 1] *= stack[depth]; break;
      case 5: stack[depth] = stack[depth - 1]; depth++; break;
      case 6: depth--; if (stack[depth] > 0) at = code[at]; else at++; break;
      case 7: stack[depth - 1]--; break;
      case 8: { int swap = stack[depth - 1]; stack[depth - 1] = stack[depth - 2]; stack[depth - 2] = swap; break; }
    }
  }
  out[get_global_id(0)] = depth > 0 ? stack[0] + 100 * depth : -1;
}

kernel void returns_in_loops(global const int* in, global int* out, int n) {
  int i = get_global_id(0);
  out[i] = -1;
  for (int k = 0; k < n; ++k) {
    if (in[k] == i) {
      out[i] = k;
      return;
    }
    if (in[k] > 2 * i + 30) {
      out[i] = -2 - k;
      return;
    }
  }
}

kernel void do_while(global const uint* in, global uint* out) {
  int i = get_global_id(0);
  uint v = in[i], digits = 0, sum = 0;
  do {
    sum = sum * 16 + v % 10;
    v /= 10;
    digits++;
  } while (v);
  out[i] = sum ^ (digits << 28);
}

// Barriers in a loop whose trip count is the group's, odd and even groups on different paths.
kernel void barriers_in_branches(global const int* in, global int* out) {
  local int v[64];
  int t = get_local_id(0), g = get_group_id(0);
  v[t] = in[get_global_id(0)];
  barrier(CLK_LOCAL_MEM_FENCE);
  if (g & 1) {
    for (int k = 0; k < g + 1; ++k) {
      int x = v[(t + k) & 63];
      barrier(CLK_LOCAL_MEM_FENCE);
      v[t] += x;
      barrier(CLK_LOCAL_MEM_FENCE);
    }
  } else {
    int x = v[63 - t];
    barrier(CLK_LOCAL_MEM_FENCE);
    v[t] -= x;
  }
  out[get_global_id(0)] = v[t];
}

// Some work-items leave before the last loop, none before a barrier.
kernel void leave_early(global const int* in, global int* out) {
  local int best;
  if (get_local_id(0) == 0) best = 0;
  barrier(CLK_LOCAL_MEM_FENCE);
  int v = in[get_global_id(0)];
  atomic_max(&best, v);
  barrier(CLK_LOCAL_MEM_FENCE);
  if (v < best / 2) return;
  int steps = 0;
  for (int x = v; x > 0; x -= 1 + best / 16) ++steps;
  out[get_global_id(0)] = steps;
}

kernel void generator(global uint* state, global float* mean, int draws) {
  int i = get_global_id(0);
  uint s = state[i];
  int inside = 0;
  for (int k = 0; k < draws; ++k) {
    s ^= s << 13;
    s ^= s >> 17;
    s ^= s << 5;
    float x = (s >> 8) * (1.0f / 16777216.0f);
    s = s * 1664525u + 1013904223u;
    float y = (s >> 8) * (1.0f / 16777216.0f);
    if (x * x + y * y < 1.0f) ++inside;
  }
  state[i] = s;
  mean[i] = 4.0f * inside / draws;
}

bool witness(ulong n, ulong a, ulong d, int r) {
  ulong x = 1;
  for (ulong b = a % n; d; d >>= 1) {
    if (d & 1) x = x * b % n;
    b = b * b % n;
  }
  if (x == 1 || x == n - 1) return false;
  while (--r > 0) {
    x = x * x % n;
    if (x == n - 1) return false;
  }
  return true;
}

kernel void prime_test(global const uint* in, global uchar* prime) {
  int i = get_global_id(0);
  uint n = in[i];
  uchar is = n == 2 || n == 7 || n == 61;
  if (!is && n > 2 && (n & 1)) {
    uint d = n - 1;
    int r = 0;
    while (!(d & 1)) {
      d >>= 1;
      ++r;
    }
    is = !witness(n, 2, d, r) && !witness(n, 7, d, r) && !witness(n, 61, d, r);
  }
  prime[i] = is;
}
