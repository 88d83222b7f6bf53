// Gravity between n bodies, all pairs: tiles of positions go through local memory, and each pair costs a reciprocal
// square root and some twenty floating-point operations, so arithmetic decides.
//
//   kernelcast predict examples/nbody.cl --device gtx280,v100,mi100 --global 16384 --block 256 --arg n=16384

#define GROUP 256

__kernel __attribute__((reqd_work_group_size(GROUP, 1, 1)))
void nbody(__global const float4* body, __global float4* acceleration, int n, float softening) {
  __local float4 tile[GROUP];
  int i = get_global_id(0);
  float4 me = body[i];
  float ax = 0.0f, ay = 0.0f, az = 0.0f;
  for (int first = 0; first < n; first += GROUP) {
    tile[get_local_id(0)] = body[first + get_local_id(0)];
    barrier(CLK_LOCAL_MEM_FENCE);
    for (int j = 0; j < GROUP; ++j) {
      float dx = tile[j].x - me.x;
      float dy = tile[j].y - me.y;
      float dz = tile[j].z - me.z;
      float inverse = rsqrt(dx * dx + dy * dy + dz * dz + softening);
      float strength = tile[j].w * inverse * inverse * inverse;
      ax += strength * dx;
      ay += strength * dy;
      az += strength * dz;
    }
    barrier(CLK_LOCAL_MEM_FENCE);
  }
  acceleration[i] = (float4)(ax, ay, az, 0.0f);
}
