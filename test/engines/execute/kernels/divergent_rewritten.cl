// Loops with a branch that lanes take differently, after kernels of public suites. divergent_rewritten.cl is what
// `kernelcast converge --rewrite` makes of them.
__kernel void collatz(__global const int* restrict in, __global int* restrict out, int n) {
  const int id = (int)get_global_id(0);
  int x = (in[id] & 1023) + 1, steps = 0;
  for (int i = 0; x != 1 && i < n;) {
    if (!(x & 1)) {
      x = x >> 1;
      ++steps;
      ++i;
    }
    if ((x != 1 && i < n) && (x & 1)) {
      x = x * 3 + 1;
      ++steps;
      ++i;
    }
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
      {
        const int t = (x * x - y * y) / 1024 + cx;
        y = 2 * x * y / 1024 + cy;
        x = t;
      }
      ++count;
    }
    if ((count < n && x * x + y * y < 4 * 1024 * 1024) && !(x * x + y * y < 512 * 512)) {
      {
        const int t = (x * x - y * y) / 1024 - cy;
        y = -2 * x * y / 1024 + cx;
        x = t;
      }
      ++count;
    }
  }
  out[id] = count * 4096 + (x & 4095);
}

__kernel void random_walk(__global const int* restrict in, __global int* restrict out, int n) {
  const int id = (int)get_global_id(0);
  int left = 0, right = 0;
  for (int i = 0; i < n;) {
    const int kernelcast_at = i;
    int kernelcast_taken, kernelcast_pair = 0;
    {
      uint h = (uint)(in[id] + i) * 2654435761u;
      h ^= h >> 15;
      h *= 2246822519u;
      kernelcast_taken = ((h & 64u) != 0u) ? 1 : 0;
    }
    {
      int i = kernelcast_at;
      ++i;
      if (i < n) {
        uint h = (uint)(in[id] + i) * 2654435761u;
        h ^= h >> 15;
        h *= 2246822519u;
        kernelcast_pair = (((h & 64u) != 0u) ? 1 : 0) != kernelcast_taken;
      }
    }
    if (kernelcast_taken || kernelcast_pair) {
      int i = kernelcast_at;
      if (!kernelcast_taken) ++i;
      uint h = (uint)(in[id] + i) * 2654435761u;
      h ^= h >> 15;
      h *= 2246822519u;
      left = left * 5 + (int)(h >> 20);
    }
    if (!kernelcast_taken || kernelcast_pair) {
      int i = kernelcast_at;
      if (kernelcast_taken) ++i;
      uint h = (uint)(in[id] + i) * 2654435761u;
      h ^= h >> 15;
      h *= 2246822519u;
      right = right * 3 - (int)(h >> 22);
    }
    ++i;
    if (kernelcast_pair) ++i;
  }
  out[id] = left ^ right;
}

// Marching: a step into free space is long, one near a surface is refined.
__kernel void march(__global const int* restrict field, __global int* restrict out, int n) {
  const int id = (int)get_global_id(0);
  int at = id, near = 0, far = 0;
  for (int i = 0; i < n;) {
    const int kernelcast_at = i;
    int kernelcast_taken, kernelcast_pair = 0;
    {
      const int d = field[(id * 7 + i * 13) & 127];
      kernelcast_taken = (d > 0) ? 1 : 0;
    }
    {
      int i = kernelcast_at;
      i += 2;
      if (i < n) {
        const int d = field[(id * 7 + i * 13) & 127];
        kernelcast_pair = ((d > 0) ? 1 : 0) != kernelcast_taken;
      }
    }
    if (kernelcast_taken || kernelcast_pair) {
      int i = kernelcast_at;
      if (!kernelcast_taken) i += 2;
      const int d = field[(id * 7 + i * 13) & 127];
      far += d;
    }
    if (!kernelcast_taken || kernelcast_pair) {
      int i = kernelcast_at;
      if (kernelcast_taken) i += 2;
      const int d = field[(id * 7 + i * 13) & 127];
      int r = d;
      for (int k = 0; k < 5; ++k) r = r * r % 1009 - k;
      near += r;
    }
    i += 2;
    if (kernelcast_pair) i += 2;
  }
  out[id] = at + near * 3 + far;
}

// A column of a dynamic-programming table; each iteration has its own place.
__kernel void align_scores(__global const int* restrict letters, __global int* restrict out, int n) {
  const int id = (int)get_global_id(0);
  for (int i = 0; i < n;) {
    const int kernelcast_at = i;
    int kernelcast_taken, kernelcast_pair = 0;
    {
      const int a = letters[id], b = letters[i];
      kernelcast_taken = ((a ^ b) & 1) ? 1 : 0;
    }
    {
      int i = kernelcast_at;
      ++i;
      if (i < n) {
        const int a = letters[id], b = letters[i];
        kernelcast_pair = (((a ^ b) & 1) ? 1 : 0) != kernelcast_taken;
      }
    }
    if (kernelcast_taken || kernelcast_pair) {
      int i = kernelcast_at;
      if (!kernelcast_taken) ++i;
      const int a = letters[id], b = letters[i];
      out[i * (int)get_global_size(0) + id] = a * 2 - i;
    }
    if (!kernelcast_taken || kernelcast_pair) {
      int i = kernelcast_at;
      if (kernelcast_taken) ++i;
      const int a = letters[id], b = letters[i];
      out[i * (int)get_global_size(0) + id] = b * 3 + i;
    }
    ++i;
    if (kernelcast_pair) ++i;
  }
}

// Queens: bits of a permutation are tested, clashes counted.
__kernel void queens(__global const int* restrict in, __global int* restrict out, int n) {
  const int id = (int)get_global_id(0);
  int clashes = 0, moves = 0;
  uint board = (uint)in[id];
  for (int row = 0; row < n;) {
    const int kernelcast_at = row;
    int kernelcast_taken, kernelcast_pair = 0;
    {
      const uint column = board >> (row % 29) & 7u;
      kernelcast_taken = ((column & 1u) == 0u) ? 1 : 0;
    }
    {
      int row = kernelcast_at;
      ++row;
      if (row < n) {
        const uint column = board >> (row % 29) & 7u;
        kernelcast_pair = (((column & 1u) == 0u) ? 1 : 0) != kernelcast_taken;
      }
    }
    if (kernelcast_taken || kernelcast_pair) {
      int row = kernelcast_at;
      if (!kernelcast_taken) ++row;
      const uint column = board >> (row % 29) & 7u;
      for (int r = 0; r < row && r < 6; ++r) clashes += (board >> r & 7u) == column;
    }
    if (!kernelcast_taken || kernelcast_pair) {
      int row = kernelcast_at;
      if (kernelcast_taken) ++row;
      const uint column = board >> (row % 29) & 7u;
      moves += (int)column;
    }
    ++row;
    if (kernelcast_pair) ++row;
  }
  out[id] = clashes * 100 + moves;
}

__kernel void histogram_of_two(__global const int* restrict in, __global int* restrict hist, int n) {
  const int id = (int)get_global_id(0);
  for (int i = 0; i < n;) {
    const int kernelcast_at = i;
    int kernelcast_taken, kernelcast_pair = 0;
    {
      const int x = in[(id + i * 5) & 127];
      kernelcast_taken = (x > 0) ? 1 : 0;
    }
    {
      int i = kernelcast_at;
      ++i;
      if (i < n) {
        const int x = in[(id + i * 5) & 127];
        kernelcast_pair = ((x > 0) ? 1 : 0) != kernelcast_taken;
      }
    }
    if (kernelcast_taken || kernelcast_pair) {
      int i = kernelcast_at;
      if (!kernelcast_taken) ++i;
      const int x = in[(id + i * 5) & 127];
      atomic_add(hist + (x & 7), 1);
    }
    if (!kernelcast_taken || kernelcast_pair) {
      int i = kernelcast_at;
      if (kernelcast_taken) ++i;
      const int x = in[(id + i * 5) & 127];
      atomic_add(hist + 8 + (-x & 7), 2);
    }
    ++i;
    if (kernelcast_pair) ++i;
  }
}

// No else; a single statement without braces.
__kernel void count_if(__global const int* restrict in, __global int* restrict out, int n) {
  const int id = (int)get_global_id(0);
  int sum = 0;
  for (int i = 0; i < n;) {
    if (!(in[(i * 3 + id) & 127] > id)) {
      ++i;
    }
    if ((i < n) && (in[(i * 3 + id) & 127] > id)) {
      sum += i * i;
      ++i;
    }
  }
  out[id] = sum;
}

// Greatest common divisors: the loop's test depends on the paths.
__kernel void subtractive_gcd(__global const int* restrict in, __global int* restrict out, int n) {
  const int id = (int)get_global_id(0);
  int a = (in[id] & 255) + 1, b = (in[id] >> 9 & 255) + 1;
  while (a != b) {
    if (!(a > b)) {
      b -= a;
    }
    if ((a != b) && (a > b)) {
      a -= b;
    }
  }
  out[id] = a + n;
}

// Code behind the branch, with a declaration in a path and one behind it.
__kernel void filter(__global const int* restrict in, __global int* restrict out, int n) {
  const int id = (int)get_global_id(0);
  int state = id;
  for (int i = 0; i < n;) {
    {
      int x;
      if (in[(i + id * 3) & 127] & 2) {
        {
          const int t = state * 3;
          x = t + i;
        }
        const int t = x >> 5;
        state = x ^ t;
        ++i;
      }
    }
    if (i < n) {
      int x;
      if (!(in[(i + id * 3) & 127] & 2)) {
        {
          const int t = state * 7;
          x = t - i;
        }
        const int t = x >> 5;
        state = x ^ t;
        ++i;
      }
    }
  }
  out[id] = state;
}

// Two loops: a divergent one inside a uniform one.
__kernel void rounds(__global const int* restrict in, __global int* restrict out, int n) {
  const int id = (int)get_global_id(0);
  int even = 1, odd = 1;
  for (int round = 0; round < 3; ++round) {
    for (int i = 0; i < n;) {
      const int kernelcast_at = i;
      int kernelcast_taken, kernelcast_pair = 0;
      {
        kernelcast_taken = ((in[(i + round) & 127] + id) % 2 == 0) ? 1 : 0;
      }
      {
        int i = kernelcast_at;
        ++i;
        if (i < n) {
          kernelcast_pair = (((in[(i + round) & 127] + id) % 2 == 0) ? 1 : 0) != kernelcast_taken;
        }
      }
      if (kernelcast_taken || kernelcast_pair) {
        int i = kernelcast_at;
        if (!kernelcast_taken) ++i;
        even = even * 31 + i;
      }
      if (!kernelcast_taken || kernelcast_pair) {
        int i = kernelcast_at;
        if (kernelcast_taken) ++i;
        odd = odd * 17 + round;
      }
      ++i;
      if (kernelcast_pair) ++i;
    }
  }
  out[id] = even ^ odd;
}
