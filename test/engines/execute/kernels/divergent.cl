// Loops with a branch that lanes take differently, after kernels of public suites. divergent_rewritten.cl is what
// `kernelcast converge --rewrite` makes of them.
__kernel void collatz(__global const int* restrict in, __global int* restrict out, int n) {
  const int id = (int)get_global_id(0);
  int x = (in[id] & 1023) + 1, steps = 0;
  for (int i = 0; x != 1 && i < n; ++i) {
    if (x & 1) {
      x = x * 3 + 1;
    } else {
      x = x >> 1;
    }
    ++steps;
  }
  out[id] = steps * 1000 + (x & 511);
}

// Fixed-point escape times; an orbit that comes near the origin is folded.
__kernel void escape_time(__global const int* restrict in, __global int* restrict out, int n) {
  const int id = (int)get_global_id(0);
  const int cx = (in[id] & 2047) - 1024, cy = (in[id] >> 8 & 2047) - 1024;
  int x = 0, y = 0, count = 0;
  while (count < n && x * x + y * y < 4 * 1024 * 1024) {
    if (x * x + y * y < 512 * 512) {
      const int t = (x * x - y * y) / 1024 + cx;
      y = 2 * x * y / 1024 + cy;
      x = t;
    } else {
      const int t = (x * x - y * y) / 1024 - cy;
      y = -2 * x * y / 1024 + cx;
      x = t;
    }
    ++count;
  }
  out[id] = count * 4096 + (x & 4095);
}

__kernel void random_walk(__global const int* restrict in, __global int* restrict out, int n) {
  const int id = (int)get_global_id(0);
  int left = 0, right = 0;
  for (int i = 0; i < n; ++i) {
    uint h = (uint)(in[id] + i) * 2654435761u;
    h ^= h >> 15;
    h *= 2246822519u;
    if ((h & 64u) != 0u) {
      left = left * 5 + (int)(h >> 20);
    } else {
      right = right * 3 - (int)(h >> 22);
    }
  }
  out[id] = left ^ right;
}

// Marching: a step into free space is long, one near a surface is refined.
__kernel void march(__global const int* restrict field, __global int* restrict out, int n) {
  const int id = (int)get_global_id(0);
  int at = id, near = 0, far = 0;
  for (int i = 0; i < n; i += 2) {
    const int d = field[(id * 7 + i * 13) & 127];
    if (d > 0) {
      far += d;
    } else {
      int r = d;
      for (int k = 0; k < 5; ++k) r = r * r % 1009 - k;
      near += r;
    }
  }
  out[id] = at + near * 3 + far;
}

// A column of a dynamic-programming table; each iteration has its own place.
__kernel void align_scores(__global const int* restrict letters, __global int* restrict out, int n) {
  const int id = (int)get_global_id(0);
  for (int i = 0; i < n; ++i) {
    const int a = letters[id], b = letters[i];
    if ((a ^ b) & 1) {
      out[i * (int)get_global_size(0) + id] = a * 2 - i;
    } else {
      out[i * (int)get_global_size(0) + id] = b * 3 + i;
    }
  }
}

// Queens: bits of a permutation are tested, clashes counted.
__kernel void queens(__global const int* restrict in, __global int* restrict out, int n) {
  const int id = (int)get_global_id(0);
  int clashes = 0, moves = 0;
  uint board = (uint)in[id];
  for (int row = 0; row < n; ++row) {
    const uint column = board >> (row % 29) & 7u;
    if ((column & 1u) == 0u) {
      for (int r = 0; r < row && r < 6; ++r) clashes += (board >> r & 7u) == column;
    } else {
      moves += (int)column;
    }
  }
  out[id] = clashes * 100 + moves;
}

__kernel void histogram_of_two(__global const int* restrict in, __global int* restrict hist, int n) {
  const int id = (int)get_global_id(0);
  for (int i = 0; i < n; ++i) {
    const int x = in[(id + i * 5) & 127];
    if (x > 0) {
      atomic_add(hist + (x & 7), 1);
    } else {
      atomic_add(hist + 8 + (-x & 7), 2);
    }
  }
}

// No else; a single statement without braces.
__kernel void count_if(__global const int* restrict in, __global int* restrict out, int n) {
  const int id = (int)get_global_id(0);
  int sum = 0;
  for (int i = 0; i < n; ++i)
    if (in[(i * 3 + id) & 127] > id) sum += i * i;
  out[id] = sum;
}

// Greatest common divisors: the loop's test depends on the paths.
__kernel void subtractive_gcd(__global const int* restrict in, __global int* restrict out, int n) {
  const int id = (int)get_global_id(0);
  int a = (in[id] & 255) + 1, b = (in[id] >> 9 & 255) + 1;
  while (a != b) {
    if (a > b)
      a -= b;
    else
      b -= a;
  }
  out[id] = a + n;
}

// Code behind the branch, with a declaration in a path and one behind it.
__kernel void filter(__global const int* restrict in, __global int* restrict out, int n) {
  const int id = (int)get_global_id(0);
  int state = id;
  for (int i = 0; i < n; ++i) {
    int x;
    if (in[(i + id * 3) & 127] & 2) {
      const int t = state * 3;
      x = t + i;
    } else {
      const int t = state * 7;
      x = t - i;
    }
    const int t = x >> 5;
    state = x ^ t;
  }
  out[id] = state;
}

// Two loops: a divergent one inside a uniform one.
__kernel void rounds(__global const int* restrict in, __global int* restrict out, int n) {
  const int id = (int)get_global_id(0);
  int even = 1, odd = 1;
  for (int round = 0; round < 3; ++round) {
    for (int i = 0; i < n; ++i) {
      if ((in[(i + round) & 127] + id) % 2 == 0) {
        even = even * 31 + i;
      } else {
        odd = odd * 17 + round;
      }
    }
  }
  out[id] = even ^ odd;
}
