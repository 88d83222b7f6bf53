// Random walks: each step is cheap for most walkers and dear for those that collide.
//   kernelcast converge libconverge/examples/walk.cl --global 1024 --block 64 --arg steps=256
__kernel void walk(__global float* restrict out, int steps) {
  const int id = (int)get_global_id(0);
  unsigned seed = (unsigned)id * 2654435761u + 12345u;
  float x = 0.0f, energy = 1.0f;
  for (int i = 0; i < steps; ++i) {
    unsigned h = (seed + (unsigned)i) * 2654435761u;
    h ^= h >> 15;
    h *= 2246822519u;
    h ^= h >> 13;
    if ((h & 1u) == 0u) {
      for (int k = 0; k < 96; ++k) energy = energy * 0.999f + 0.001f * x;
    } else {
      for (int k = 0; k < 96; ++k) x = x * 0.998f + energy * 0.01f;
    }
  }
  out[id] = x + energy;
}
