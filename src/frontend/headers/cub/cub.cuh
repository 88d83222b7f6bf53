// Reductions and prefix sums of a warp and of a block, as CUB and hipCUB name them: shuffles within a warp, then one
// value a warp through shared memory. Algorithms that a caller may name are all counted as this one. What the host calls
// (cub::DeviceReduce and the like) is not here.
#pragma once

namespace cub {

struct Sum { template <class T> __device__ __inline__ T operator()(const T& a, const T& b) const { return a + b; } };
struct Max { template <class T> __device__ __inline__ T operator()(const T& a, const T& b) const { return a < b ? b : a; } };
struct Min { template <class T> __device__ __inline__ T operator()(const T& a, const T& b) const { return b < a ? b : a; } };

template <class K, class V> struct KeyValuePair {
  typedef K Key;
  typedef V Value;
  K key;
  V value;
  __device__ __inline__ KeyValuePair() {}
  __device__ __inline__ KeyValuePair(const K& k, const V& v) : key(k), value(v) {}
};
struct ArgMax {
  template <class P> __device__ __inline__ P operator()(const P& a, const P& b) const {
    return b.value > a.value || (b.value == a.value && b.key < a.key) ? b : a;
  }
};
struct ArgMin {
  template <class P> __device__ __inline__ P operator()(const P& a, const P& b) const {
    return b.value < a.value || (b.value == a.value && b.key < a.key) ? b : a;
  }
};

enum BlockReduceAlgorithm { BLOCK_REDUCE_RAKING_COMMUTATIVE_ONLY, BLOCK_REDUCE_RAKING, BLOCK_REDUCE_WARP_REDUCTIONS };
enum BlockScanAlgorithm { BLOCK_SCAN_RAKING, BLOCK_SCAN_RAKING_MEMOIZE, BLOCK_SCAN_WARP_SCANS };

template <class T, int Lanes = __KERNELCAST_WARP_SIZE> class WarpReduce {
 public:
  struct TempStorage {};
  __device__ __inline__ explicit WarpReduce(TempStorage&) {}
  /// The result stands in lane 0 of the Lanes.
  template <class Op> __device__ __inline__ T Reduce(T v, Op op) { return Reduce(v, op, Lanes); }
  template <class Op> __device__ __inline__ T Reduce(T v, Op op, int valid) {
    const int lane = (int)(__lane_id() % Lanes);
    for (int d = 1; d < Lanes; d *= 2) {
      const T other = __kc_any_down(v, d, Lanes);
      if (lane + d < valid) v = op(v, other);
    }
    return v;
  }
  __device__ __inline__ T Sum(T v) { return Reduce(v, cub::Sum()); }
  __device__ __inline__ T Sum(T v, int valid) { return Reduce(v, cub::Sum(), valid); }
};

template <class T, int Lanes = __KERNELCAST_WARP_SIZE> class WarpScan {
 public:
  struct TempStorage {};
  __device__ __inline__ explicit WarpScan(TempStorage&) {}
  template <class Op> __device__ __inline__ void InclusiveScan(T in, T& out, Op op) {
    const int lane = (int)(__lane_id() % Lanes);
    for (int d = 1; d < Lanes; d *= 2) {
      const T other = __kc_any_up(in, d, Lanes);
      if (lane >= d) in = op(other, in);
    }
    out = in;
  }
  template <class Op> __device__ __inline__ void ExclusiveScan(T in, T& out, T first, Op op) {
    T sum;
    InclusiveScan(in, sum, op);
    const T before = __kc_any_up(sum, 1, Lanes);
    out = __lane_id() % Lanes == 0 ? first : op(first, before);
  }
  __device__ __inline__ void InclusiveSum(T in, T& out) { InclusiveScan(in, out, cub::Sum()); }
  __device__ __inline__ void ExclusiveSum(T in, T& out) { ExclusiveScan(in, out, T(), cub::Sum()); }
  /// `all`: of all lanes.
  template <class Op> __device__ __inline__ void InclusiveScan(T in, T& out, Op op, T& all) {
    InclusiveScan(in, out, op);
    all = Broadcast(out, Lanes - 1);
  }
  template <class Op> __device__ __inline__ void ExclusiveScan(T in, T& out, T first, Op op, T& all) {
    T sum;
    InclusiveScan(in, sum, op, all);
    const T before = __kc_any_up(sum, 1, Lanes);
    out = __lane_id() % Lanes == 0 ? first : op(first, before);
  }
  __device__ __inline__ void InclusiveSum(T in, T& out, T& all) { InclusiveScan(in, out, cub::Sum(), all); }
  __device__ __inline__ void ExclusiveSum(T in, T& out, T& all) { ExclusiveScan(in, out, T(), cub::Sum(), all); }
  __device__ __inline__ T Broadcast(T v, unsigned int lane) { return __kc_any(v, (int)lane, Lanes); }
};

template <int X, int Y, int Z> struct __kc_block {
  static constexpr int threads = X * Y * Z, lanes = __KERNELCAST_WARP_SIZE, warps = (threads + lanes - 1) / lanes;
  static __device__ __inline__ int rank() { return (int)(threadIdx.x + X * (threadIdx.y + Y * threadIdx.z)); }
};

template <class T, int X, BlockReduceAlgorithm = BLOCK_REDUCE_WARP_REDUCTIONS, int Y = 1, int Z = 1, int = 0> class BlockReduce {
  typedef __kc_block<X, Y, Z> B;

 public:
  struct TempStorage { alignas(T) unsigned char of_warps[sizeof(T) * B::warps]; };
  __device__ __inline__ explicit BlockReduce(TempStorage& s) : of_warps_((T*)s.of_warps) {}
  /// The result stands in thread 0. `valid`: of the first so many threads.
  template <class Op> __device__ __inline__ T Reduce(T v, Op op) { return Reduce(v, op, B::threads); }
  template <class Op> __device__ __inline__ T Reduce(T v, Op op, int valid) {
    const int rank = B::rank(), warp = rank / B::lanes;
    typename WarpReduce<T>::TempStorage none;
    v = WarpReduce<T>(none).Reduce(v, op, valid - warp * B::lanes);
    if (rank % B::lanes == 0) of_warps_[warp] = v;
    __syncthreads();
    if (rank == 0)
      for (int w = 1; w < B::warps; ++w)
        if (w * B::lanes < valid) v = op(v, of_warps_[w]);
    return v;
  }
  template <int N, class Op> __device__ __inline__ T Reduce(T (&v)[N], Op op) {
    T own = v[0];
    for (int i = 1; i < N; ++i) own = op(own, v[i]);
    return Reduce(own, op);
  }
  __device__ __inline__ T Sum(T v) { return Reduce(v, cub::Sum()); }
  __device__ __inline__ T Sum(T v, int valid) { return Reduce(v, cub::Sum(), valid); }
  template <int N> __device__ __inline__ T Sum(T (&v)[N]) { return Reduce(v, cub::Sum()); }

 private:
  T* of_warps_;
};

template <class T, int X, BlockScanAlgorithm = BLOCK_SCAN_WARP_SCANS, int Y = 1, int Z = 1, int = 0> class BlockScan {
  typedef __kc_block<X, Y, Z> B;

 public:
  struct TempStorage { alignas(T) unsigned char of_warps[sizeof(T) * B::warps]; };
  __device__ __inline__ explicit BlockScan(TempStorage& s) : of_warps_((T*)s.of_warps) {}
  template <class Op> __device__ __inline__ void InclusiveScan(T in, T& out, Op op, T& all) {
    const int warp = B::rank() / B::lanes, lane = B::rank() % B::lanes;
    typename WarpScan<T>::TempStorage none;
    WarpScan<T>(none).InclusiveScan(in, out, op);
    if (lane == B::lanes - 1 || B::rank() == B::threads - 1) of_warps_[warp] = out;
    __syncthreads();
    T before = all = of_warps_[0];
    for (int w = 1; w < B::warps; ++w) {
      if (w == warp) before = all;
      all = op(all, of_warps_[w]);
    }
    if (warp > 0) out = op(before, out);
  }
  template <class Op> __device__ __inline__ void ExclusiveScan(T in, T& out, T first, Op op, T& all) {
    T sum;
    InclusiveScan(in, sum, op, all);
    const T left = __kc_any_up(sum, 1, B::lanes);
    const int warp = B::rank() / B::lanes;
    T before = first;
    for (int w = 0; w < B::warps - 1; ++w)
      if (w < warp) before = op(before, of_warps_[w]);
    out = B::rank() % B::lanes == 0 ? before : op(first, left);
  }
  template <class Op> __device__ __inline__ void InclusiveScan(T in, T& out, Op op) { T all; InclusiveScan(in, out, op, all); }
  template <class Op> __device__ __inline__ void ExclusiveScan(T in, T& out, T first, Op op) { T all; ExclusiveScan(in, out, first, op, all); }
  __device__ __inline__ void InclusiveSum(T in, T& out) { InclusiveScan(in, out, cub::Sum()); }
  __device__ __inline__ void InclusiveSum(T in, T& out, T& all) { InclusiveScan(in, out, cub::Sum(), all); }
  __device__ __inline__ void ExclusiveSum(T in, T& out) { ExclusiveScan(in, out, T(), cub::Sum()); }
  __device__ __inline__ void ExclusiveSum(T in, T& out, T& all) { ExclusiveScan(in, out, T(), cub::Sum(), all); }
  /// N neighbouring items of each thread.
  template <int N, class Op> __device__ __inline__ void ExclusiveScan(T (&in)[N], T (&out)[N], T first, Op op, T& all) {
    T own = in[0], sum;
    for (int i = 1; i < N; ++i) own = op(own, in[i]);
    ExclusiveScan(own, sum, first, op, all);
    for (int i = 0; i < N; ++i) {
      const T v = in[i];
      out[i] = sum;
      sum = op(sum, v);
    }
  }
  template <int N, class Op> __device__ __inline__ void InclusiveScan(T (&in)[N], T (&out)[N], Op op, T& all) {
    T own = in[0], sum;
    for (int i = 1; i < N; ++i) own = op(own, in[i]);
    InclusiveScan(own, sum, op, all);
    T left = __kc_any_up(sum, 1, B::lanes);
    const int warp = B::rank() / B::lanes;
    if (B::rank() % B::lanes == 0) {
      left = of_warps_[0];
      for (int w = 1; w < warp; ++w) left = op(left, of_warps_[w]);
    }
    out[0] = B::rank() == 0 ? in[0] : op(left, in[0]);
    for (int i = 1; i < N; ++i) out[i] = op(out[i - 1], in[i]);
  }
  template <int N, class Op> __device__ __inline__ void ExclusiveScan(T (&in)[N], T (&out)[N], T first, Op op) { T all; ExclusiveScan(in, out, first, op, all); }
  template <int N, class Op> __device__ __inline__ void InclusiveScan(T (&in)[N], T (&out)[N], Op op) { T all; InclusiveScan(in, out, op, all); }
  template <int N> __device__ __inline__ void ExclusiveSum(T (&in)[N], T (&out)[N], T& all) { ExclusiveScan(in, out, T(), cub::Sum(), all); }
  template <int N> __device__ __inline__ void ExclusiveSum(T (&in)[N], T (&out)[N]) { ExclusiveScan(in, out, T(), cub::Sum()); }
  template <int N> __device__ __inline__ void InclusiveSum(T (&in)[N], T (&out)[N], T& all) { InclusiveScan(in, out, cub::Sum(), all); }
  template <int N> __device__ __inline__ void InclusiveSum(T (&in)[N], T (&out)[N]) { InclusiveScan(in, out, cub::Sum()); }

 private:
  T* of_warps_;
};

}  // namespace cub

#include "cub/exchange.cuh"
