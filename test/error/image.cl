// ARGS: predict {} --device v100 --grid 1 --block 64
// EXIT: 1
// STDERR: ([Tt]exture|[Ii]mage)

__constant sampler_t nearest = CLK_NORMALIZED_COORDS_FALSE | CLK_ADDRESS_CLAMP | CLK_FILTER_NEAREST;

__kernel void sample(__read_only image2d_t image, __global float* out) {
  out[get_global_id(0)] = read_imagef(image, nearest, (int2)(get_global_id(0), 0)).x;
}
