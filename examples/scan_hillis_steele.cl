// Inclusive prefix sum of each work-group's part, the simple way: log2(group) rounds in which every element adds its
// neighbour at a doubling distance. More additions than scan_blelloch.cl, but only half as many rounds.
//
//   kernelcast predict examples/scan_hillis_steele.cl --device gtx280,v100 --global 1048576 --block 256

#define GROUP 256

__kernel __attribute__((reqd_work_group_size(GROUP, 1, 1)))
void scan_hillis_steele(__global const float* in, __global float* out) {
  __local float part[2][GROUP];
  int i = get_local_id(0);
  int from = 0;
  part[0][i] = in[get_global_id(0)];
  barrier(CLK_LOCAL_MEM_FENCE);
  for (int distance = 1; distance < GROUP; distance *= 2) {
    float sum = part[from][i];
    if (i >= distance) {
      sum += part[from][i - distance];
    }
    part[1 - from][i] = sum;
    from = 1 - from;
    barrier(CLK_LOCAL_MEM_FENCE);
  }
  out[get_global_id(0)] = part[from][i];
}
