// Ray marching through a field of spheres: long steps through free space, short ones with a second sample of the field and
// shading near a surface; a ray ends at a surface or far away.
//
//   kernelcast converge libconverge/examples/march.cl --global 64,16 --block 32,4 --arg width=64 --arg height=16

float field(float x, float y, float z) {
  const float cx = x - rint(x), cy = y - rint(y), cz = z - rint(z);
  return sqrt(cx * cx + cy * cy + cz * cz) - 0.3f;
}

__kernel void march(__global float* restrict image, int width, int height) {
  const int px = (int)get_global_id(0), py = (int)get_global_id(1);
  float x = 0.5f, y = 0.5f, z = 0.5f, fog = 0.0f;
  const float dx = ((float)px + 0.5f) / (float)width - 0.5f, dy = ((float)py + 0.5f) / (float)height - 0.5f;
  const float scale = rsqrt(dx * dx + dy * dy + 1.0f);
  for (int i = 0; i < 96 && z < 40.0f; ++i) {
    const float d = field(x, y, z);
    if (d < 0.15f) {
      const float e = 0.001f;
      const float nx = field(x + e, y, z) - d;
      const float ny = field(x, y + e, z) - d;
      const float nz = field(x, y, z + e) - d;
      const float light = (nx * 0.3f + ny * 0.8f - nz * 0.5f) / e;
      fog += fmax(light, 0.0f) * (0.15f - d) * exp(-0.1f * z);
      x += dx * scale * fmax(d, 0.02f);
      y += dy * scale * fmax(d, 0.02f);
      z += scale * fmax(d, 0.02f);
    } else {
      x += dx * scale * d;
      y += dy * scale * d;
      z += scale * d;
    }
    if (fog > 4.0f) break;
  }
  image[py * width + px] = fog;
}
