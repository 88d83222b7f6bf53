// Traversal of a tree of boxes, as of ray tracers: a step either opens an inner node or tests the points of a leaf. The tree
// is complete and implicit: node k has children 2k and 2k + 1, the leaves are nodes 256 to 511.
//
//   kernelcast converge libconverge/examples/tree.cl --global 512 --block 64 --buffer "points=2048:uniform(0,1)"

#define LEAVES 256

__kernel void nearest(__global const float* restrict points, __global float* restrict best) {
  const int id = (int)get_global_id(0);
  const float at = fmod((float)id * 0.61803399f, 1.0f);
  int stack[16];
  int top = 0, node = 1;
  float least = 0.02f;
  while (node != 0) {
    if (node < LEAVES) {
      const int level = 31 - (int)clz((uint)node);
      const float width = 1.0f / (float)(1 << (level + 1));
      const float middle = ((float)(2 * (node - (1 << level))) + 1.0f) * width;
      const bool low = at - least < middle, high = at + least > middle;
      if (low && high) stack[top++] = 2 * node + 1;
      node = low ? 2 * node : 2 * node + 1;
    } else {
      const int first = (node - LEAVES) * 8;
      for (int k = 0; k < 8; ++k) {
        const float place = ((float)(node - LEAVES) + points[first + k]) / (float)LEAVES;
        const float d = fabs(place - at);
        least = fmin(least, fmax(d, 0.008f) + d * d * d);
      }
      node = top > 0 ? stack[--top] : 0;
    }
  }
  best[id] = least;
}
