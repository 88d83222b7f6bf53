// Queens on an n by n board by backtracking, without recursion: a step either places a queen or takes one back. The first
// two rows are those of the work-item's number.
//
//   kernelcast converge libconverge/examples/queens.cl --global 64 --block 64 --arg n=8

__kernel void queens(__global int* restrict solutions, int n) {
  const int id = (int)get_global_id(0), first = id % n, second = id / n % n;
  const uint all = (1u << n) - 1u;
  uint columns[16], left[16], right[16], open[16];
  const uint a = 1u << first, b = 1u << second;
  columns[2] = a | b;
  left[2] = (a << 2 | b << 1) & all;
  right[2] = a >> 2 | b >> 1;
  const bool clash = (b & (a | a << 1 | a >> 1)) != 0u || id >= n * n;
  open[2] = clash ? 0u : all & ~(columns[2] | left[2] | right[2]);
  int row = 2, found = 0;
  while (row >= 2) {
    if (open[row] != 0u) {
      const uint queen = open[row] & (0u - open[row]);
      open[row] ^= queen;
      found += row + 1 == n ? 1 : 0;
      columns[row + 1] = columns[row] | queen;
      left[row + 1] = (left[row] | queen) << 1 & all;
      right[row + 1] = (right[row] | queen) >> 1;
      open[row + 1] = row + 1 == n ? 0u : all & ~(columns[row + 1] | left[row + 1] | right[row + 1]);
      ++row;
    } else {
      --row;
    }
  }
  solutions[id] = found;
}
