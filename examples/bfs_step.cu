// One step of a breadth-first search, one thread a vertex: only those of the frontier work, on as many neighbours as
// they have. Which lanes are active, and for how long, is in the data.
//
//   kernelcast explain examples/bfs_step.cu --device v100 --grid 256 --block 256 --arg vertices=65536 --arg depth=3 \
//     --buffer "first=65537:sorted(0,524288)" --buffer "neighbour=524288:uniform(0,65536)" \
//     --buffer "level=65536:uniform(0,8)" --buffer changed=1

__global__ void bfs_step(int vertices, int depth, const int* first, const int* neighbour, int* level, int* changed) {
  int v = blockIdx.x * blockDim.x + threadIdx.x;
  if (v >= vertices || level[v] != depth) return;
  for (int e = first[v]; e < first[v + 1]; ++e) {
    int n = neighbour[e];
    if (level[n] > depth + 1) {
      level[n] = depth + 1;
      *changed = 1;
    }
  }
}
