// Reductions and prefix sums by CUB's names.
#include <cub/cub.cuh>

struct Pair {
  int low;
  double high;
};
struct Both {
  __device__ Pair operator()(const Pair& a, const Pair& b) const { return {a.low < b.low ? a.low : b.low, a.high + b.high}; }
};

/// Blocks of 192. `sums`: of all, of the first `valid`; `scans`: before, and with, this thread; `warps`: of lanes 8 by 8.
__global__ void blocks(const int* in, int* sums, int* scans, int* warps, Pair* pairs, int valid) {
  typedef cub::BlockReduce<int, 48, cub::BLOCK_REDUCE_WARP_REDUCTIONS, 4> Reduce;
  typedef cub::BlockReduce<Pair, 48, cub::BLOCK_REDUCE_RAKING, 4> Pairs;
  typedef cub::BlockScan<int, 48, cub::BLOCK_SCAN_RAKING, 4> Scan;
  typedef cub::WarpReduce<int, 8> Eight;
  __shared__ Reduce::TempStorage first, second;
  __shared__ Pairs::TempStorage third;
  __shared__ Scan::TempStorage before, with;
  __shared__ Eight::TempStorage eight;
  const int rank = threadIdx.x + 48 * threadIdx.y, i = blockIdx.x * 192 + rank, v = in[i];
  const int all = Reduce(first).Sum(v), most = Reduce(second).Reduce(v, cub::Max(), valid);
  const Pair pair = Pairs(third).Reduce(Pair{v, 0.5 * v}, Both());
  if (rank == 0) {
    sums[2 * blockIdx.x] = all;
    sums[2 * blockIdx.x + 1] = most;
    pairs[blockIdx.x] = pair;
  }
  Scan(before).ExclusiveSum(v, scans[2 * i]);
  Scan(with).InclusiveScan(v, scans[2 * i + 1], cub::Max());
  const int sum = Eight(eight).Sum(v);
  if (rank % 8 == 0) warps[i / 8] = sum;
}

/// The same for two neighbouring items of each thread: `scans` before them, and with them. `eights`: of the first of
/// them by eight lanes, before this one and in all.
__global__ void items(const int* in, int* scans, int* totals, int* eights) {
  typedef cub::BlockScan<int, 48, cub::BLOCK_SCAN_RAKING, 4> Scan;
  __shared__ Scan::TempStorage before, with;
  const int i = blockIdx.x * 192 + threadIdx.x + 48 * threadIdx.y;
  int sum[2] = {in[2 * i], in[2 * i + 1]}, most[2] = {sum[0], sum[1]}, total;
  Scan(before).ExclusiveSum(sum, sum, total);
  Scan(with).InclusiveScan(most, most, cub::Max());
  for (int k = 0; k < 2; ++k) {
    scans[4 * i + 2 * k] = sum[k];
    scans[4 * i + 2 * k + 1] = most[k];
  }
  totals[i] = total;
  typedef cub::WarpScan<int, 8> Eight;
  __shared__ Eight::TempStorage none;
  Eight(none).ExclusiveSum(in[2 * i], eights[2 * i], eights[2 * i + 1]);
}
