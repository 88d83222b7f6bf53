// ARGS: converge {} --kernel wals
// EXIT: 2
// STDERR: wals.*walk

__kernel void walk(__global int* out, int n) {
  int x = (int)get_global_id(0);
  for (int i = 0; i < n; ++i) {
    if (x & 1) {
      x = x * 3 + 1;
    } else {
      x = x / 2 + i;
    }
  }
  out[get_global_id(0)] = x;
}
