// Escape times, twice: a nest, whose lanes leave the inner loop at different times, and one loop over pixels and steps, whose
// lanes take up their next pixel at once, with a branch between a step and a new pixel.
//
//   kernelcast converge libconverge/examples/mandelbrot.cl --global 512 --block 64 --arg width=256 --arg height=128 --arg limit=64

__kernel void nest(__global int* restrict count, int width, int height, int limit) {
  for (int pixel = (int)get_global_id(0); pixel < width * height; pixel += (int)get_global_size(0)) {
    const float cr = (float)(pixel % width) * 3.0f / (float)width - 2.2f;
    const float ci = (float)(pixel / width) * 2.4f / (float)height - 1.2f;
    float zr = 0.0f, zi = 0.0f;
    int n = 0;
    while (n < limit && zr * zr + zi * zi < 4.0f) {
      const float t = zr * zr - zi * zi + cr;
      zi = 2.0f * zr * zi + ci;
      zr = t;
      ++n;
    }
    count[pixel] = n;
  }
}

__kernel void flat(__global int* restrict count, int width, int height, int limit) {
  int pixel = (int)get_global_id(0), n = 0;
  float cr = (float)(pixel % width) * 3.0f / (float)width - 2.2f;
  float ci = (float)(pixel / width) * 2.4f / (float)height - 1.2f;
  float zr = 0.0f, zi = 0.0f;
  while (pixel < width * height) {
    if (n < limit && zr * zr + zi * zi < 4.0f) {
      const float t = zr * zr - zi * zi + cr;
      zi = 2.0f * zr * zi + ci;
      zr = t;
      ++n;
    } else {
      count[pixel] = n;
      pixel += (int)get_global_size(0);
      cr = (float)(pixel % width) * 3.0f / (float)width - 2.2f;
      ci = (float)(pixel / width) * 2.4f / (float)height - 1.2f;
      zr = zi = 0.0f;
      n = 0;
    }
  }
}
