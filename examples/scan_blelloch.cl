// Exclusive prefix sum of each work-group's part with few additions: up a tree of sums, then down it again. Half of the
// work-items fall idle in each round, and strides that double conflict in the banks of local memory.
//
//   kernelcast predict examples/scan_blelloch.cl --device gtx280,v100 --global 524288 --block 256

#define GROUP 256

__kernel __attribute__((reqd_work_group_size(GROUP, 1, 1)))
void scan_blelloch(__global const float* in, __global float* out) {
  __local float part[2 * GROUP];
  int i = get_local_id(0);
  int base = 2 * GROUP * get_group_id(0);
  part[2 * i] = in[base + 2 * i];
  part[2 * i + 1] = in[base + 2 * i + 1];
  int distance = 1;
  for (int active = GROUP; active > 0; active >>= 1) {
    barrier(CLK_LOCAL_MEM_FENCE);
    if (i < active) {
      int left = distance * (2 * i + 1) - 1;
      int right = distance * (2 * i + 2) - 1;
      part[right] += part[left];
    }
    distance *= 2;
  }
  if (i == 0) {
    part[2 * GROUP - 1] = 0.0f;
  }
  for (int active = 1; active < 2 * GROUP; active *= 2) {
    distance >>= 1;
    barrier(CLK_LOCAL_MEM_FENCE);
    if (i < active) {
      int left = distance * (2 * i + 1) - 1;
      int right = distance * (2 * i + 2) - 1;
      float sum = part[left];
      part[left] = part[right];
      part[right] += sum;
    }
  }
  barrier(CLK_LOCAL_MEM_FENCE);
  out[base + 2 * i] = part[2 * i];
  out[base + 2 * i + 1] = part[2 * i + 1];
}
