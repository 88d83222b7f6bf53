// Monte-Carlo transport of light through a slab: most events scatter into a new direction, some cross into the next layer,
// where the path is bent. Random numbers come from a counter, so that the code in front of the branch may be run again.
//
//   kernelcast converge libconverge/examples/photons.cu --grid 8 --block 128 --arg events=200

__device__ unsigned hash(unsigned x) {
  x ^= x >> 16;
  x *= 0x7feb352du;
  x ^= x >> 15;
  x *= 0x846ca68bu;
  return x ^ (x >> 16);
}

__global__ void photons(float* __restrict__ absorbed, int events) {
  const int id = blockIdx.x * blockDim.x + threadIdx.x;
  float x = 0.0f, y = 0.0f, z = 0.0f, ux = 0.0f, uy = 0.0f, uz = 1.0f, weight = 1.0f, g = 0.8f;
  for (int i = 0; i < events; ++i) {
    const unsigned h = hash((unsigned)(id * 4096 + i));
    const float u = (float)(h >> 8) * (1.0f / 16777216.0f), v = (float)(h & 4095u) * (1.0f / 4096.0f);
    if (u < 0.6f) {
      const float part = (1.0f - g * g) / (1.0f - g + 2.0f * g * v);
      const float cosine = (1.0f + g * g - part * part) / (2.0f * g);
      const float sine = sqrtf(fmaxf(0.0f, 1.0f - cosine * cosine));
      const float across = sqrtf(fmaxf(1e-6f, 1.0f - uz * uz));
      const float sp = sinpif(2.0f * u), cp = cospif(2.0f * u);
      const float nx = sine * (ux * uz * cp - uy * sp) / across + ux * cosine;
      const float ny = sine * (uy * uz * cp + ux * sp) / across + uy * cosine;
      uz = -sine * cp * across + uz * cosine;
      ux = nx;
      uy = ny;
      weight *= 0.98f;
    } else {
      const float step = -logf(v + 1e-4f) * 0.1f;
      x += ux * step;
      y += uy * step;
      z += uz * step;
      const float depth = fabsf(z), index = depth < 1.0f ? 1.37f : 1.45f;
      const float bent = sqrtf(fmaxf(0.0f, 1.0f - (1.0f - uz * uz) / (index * index)));
      const float length = rsqrtf(ux * ux + uy * uy + bent * bent + 1e-6f);
      ux *= length;
      uy *= length;
      uz = bent * length;
      g = depth < 1.0f ? 0.8f : 0.9f;
      weight -= weight * 0.02f * expf(-depth);
    }
  }
  absorbed[id] = weight + x + y + z;
}
