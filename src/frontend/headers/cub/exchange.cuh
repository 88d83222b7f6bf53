// CUB's loads, stores and changes of arrangement: blocked is N neighbouring items a thread, striped is every X-th item.
// One arrangement becomes the other through shared memory. Loads and stores of a block are those of the algorithm named.
#pragma once
#include "cub/cub.cuh"

namespace cub {

enum BlockLoadAlgorithm { BLOCK_LOAD_DIRECT, BLOCK_LOAD_STRIPED, BLOCK_LOAD_VECTORIZE, BLOCK_LOAD_TRANSPOSE, BLOCK_LOAD_WARP_TRANSPOSE, BLOCK_LOAD_WARP_TRANSPOSE_TIMESLICED };
enum BlockStoreAlgorithm { BLOCK_STORE_DIRECT, BLOCK_STORE_STRIPED, BLOCK_STORE_VECTORIZE, BLOCK_STORE_TRANSPOSE, BLOCK_STORE_WARP_TRANSPOSE, BLOCK_STORE_WARP_TRANSPOSE_TIMESLICED };

/// `Threads` threads, of which this is `rank`, exchange N items each through `place`.
template <class T, int N, int Threads> struct __kc_exchange {
  static __device__ __inline__ int blocked(int rank, int i) { return rank * N + i; }
  static __device__ __inline__ int striped(int rank, int i) { return rank + i * Threads; }
  template <class Sync, class To, class From, class U>
  static __device__ __inline__ void go(T* place, Sync sync, To to, From from, const T (&in)[N], U (&out)[N]) {
    for (int i = 0; i < N; ++i) place[to(i)] = in[i];
    sync();
    for (int i = 0; i < N; ++i) out[i] = place[from(i)];
    sync();
  }
};
struct __kc_block_sync { __device__ __inline__ void operator()() const { __syncthreads(); } };
struct __kc_warp_sync { __device__ __inline__ void operator()() const { __syncwarp(); } };

#define KC_EXCHANGE(Class, Threads, Rank, Sync)                                                                                     \
 public:                                                                                                                            \
  struct TempStorage { alignas(T) unsigned char items[sizeof(T) * N * (Threads)]; };                                                \
  __device__ __inline__ explicit Class(TempStorage& s) : place_((T*)s.items) {}                                                     \
  template <class U> __device__ __inline__ void StripedToBlocked(const T (&in)[N], U (&out)[N]) {                                   \
    const int r = Rank;                                                                                                             \
    E::go(place_, Sync(), [r](int i) { return E::striped(r, i); }, [r](int i) { return E::blocked(r, i); }, in, out);               \
  }                                                                                                                                 \
  template <class U> __device__ __inline__ void BlockedToStriped(const T (&in)[N], U (&out)[N]) {                                   \
    const int r = Rank;                                                                                                             \
    E::go(place_, Sync(), [r](int i) { return E::blocked(r, i); }, [r](int i) { return E::striped(r, i); }, in, out);               \
  }                                                                                                                                 \
  template <class U, class O> __device__ __inline__ void ScatterToBlocked(const T (&in)[N], U (&out)[N], const O (&ranks)[N]) {     \
    const int r = Rank;                                                                                                             \
    E::go(place_, Sync(), [&ranks](int i) { return ranks[i]; }, [r](int i) { return E::blocked(r, i); }, in, out);                  \
  }                                                                                                                                 \
  template <class U, class O> __device__ __inline__ void ScatterToStriped(const T (&in)[N], U (&out)[N], const O (&ranks)[N]) {     \
    const int r = Rank;                                                                                                             \
    E::go(place_, Sync(), [&ranks](int i) { return ranks[i]; }, [r](int i) { return E::striped(r, i); }, in, out);                  \
  }                                                                                                                                 \
  __device__ __inline__ void StripedToBlocked(T (&v)[N]) { StripedToBlocked(v, v); }                                                \
  __device__ __inline__ void BlockedToStriped(T (&v)[N]) { BlockedToStriped(v, v); }                                                \
  template <class O> __device__ __inline__ void ScatterToBlocked(T (&v)[N], const O (&ranks)[N]) { ScatterToBlocked(v, v, ranks); } \
  template <class O> __device__ __inline__ void ScatterToStriped(T (&v)[N], const O (&ranks)[N]) { ScatterToStriped(v, v, ranks); } \
                                                                                                                                    \
 private:                                                                                                                           \
  T* place_;

enum WarpExchangeAlgorithm { WARP_EXCHANGE_SMEM, WARP_EXCHANGE_SHUFFLE };
template <class T, int X, int N, bool = false, int Y = 1, int Z = 1, int = 0> class BlockExchange {
  typedef __kc_block<X, Y, Z> B;
  typedef __kc_exchange<T, N, B::threads> E;
  KC_EXCHANGE(BlockExchange, B::threads, B::rank(), __kc_block_sync)
};
template <class T, int N, int Lanes = __KERNELCAST_WARP_SIZE, int = 0, WarpExchangeAlgorithm = WARP_EXCHANGE_SMEM> class WarpExchange {
  typedef __kc_exchange<T, N, Lanes> E;
  KC_EXCHANGE(WarpExchange, Lanes, (int)(__lane_id() % Lanes), __kc_warp_sync)
};
#undef KC_EXCHANGE

template <class T, int X, int N, BlockLoadAlgorithm How = BLOCK_LOAD_DIRECT, int Y = 1, int Z = 1, int = 0> class BlockLoad {
  typedef __kc_block<X, Y, Z> B;
  typedef BlockExchange<T, X, N, false, Y, Z> Exchange;
  static constexpr bool direct = How == BLOCK_LOAD_DIRECT || How == BLOCK_LOAD_VECTORIZE;

 public:
  struct TempStorage : Exchange::TempStorage {};
  __device__ __inline__ explicit BlockLoad(TempStorage& s) : place_(s) {}
  template <class I> __device__ __inline__ void Load(I from, T (&out)[N]) { Load(from, out, N * B::threads); }
  template <class I> __device__ __inline__ void Load(I from, T (&out)[N], int valid) {
    for (int i = 0; i < N; ++i) {
      const int at = direct ? B::rank() * N + i : B::rank() + i * B::threads;
      if (at < valid) out[i] = from[at];
    }
    if (!direct && How != BLOCK_LOAD_STRIPED) Exchange(place_).StripedToBlocked(out);
  }
  template <class I, class D> __device__ __inline__ void Load(I from, T (&out)[N], int valid, D other) {
    for (int i = 0; i < N; ++i) out[i] = other;
    Load(from, out, valid);
  }

 private:
  TempStorage& place_;
};

template <class T, int X, int N, BlockStoreAlgorithm How = BLOCK_STORE_DIRECT, int Y = 1, int Z = 1, int = 0> class BlockStore {
  typedef __kc_block<X, Y, Z> B;
  typedef BlockExchange<T, X, N, false, Y, Z> Exchange;
  static constexpr bool direct = How == BLOCK_STORE_DIRECT || How == BLOCK_STORE_VECTORIZE;

 public:
  struct TempStorage : Exchange::TempStorage {};
  __device__ __inline__ explicit BlockStore(TempStorage& s) : place_(s) {}
  template <class I> __device__ __inline__ void Store(I to, T (&in)[N]) { Store(to, in, N * B::threads); }
  template <class I> __device__ __inline__ void Store(I to, T (&in)[N], int valid) {
    if (!direct && How != BLOCK_STORE_STRIPED) Exchange(place_).BlockedToStriped(in);
    for (int i = 0; i < N; ++i) {
      const int at = direct ? B::rank() * N + i : B::rank() + i * B::threads;
      if (at < valid) to[at] = in[i];
    }
  }

 private:
  TempStorage& place_;
};

/// Differences of neighbouring items in blocked arrangement; the first (left) or last (right) item of the block stays.
template <class T, int X, int Y = 1, int Z = 1, int = 0> class BlockAdjacentDifference {
  typedef __kc_block<X, Y, Z> B;

 public:
  struct TempStorage { alignas(T) unsigned char ends[sizeof(T) * B::threads]; };
  __device__ __inline__ explicit BlockAdjacentDifference(TempStorage& s) : ends_((T*)s.ends) {}
  template <int N, class U, class Op> __device__ __inline__ void SubtractLeft(T (&in)[N], U (&out)[N], Op op) {
    const int rank = B::rank();
    ends_[rank] = in[N - 1];
    __syncthreads();
    for (int i = N - 1; i > 0; --i) out[i] = op(in[i], in[i - 1]);
    out[0] = rank == 0 ? in[0] : op(in[0], ends_[rank - 1]);
  }
  template <int N, class U, class Op> __device__ __inline__ void SubtractRight(T (&in)[N], U (&out)[N], Op op) {
    const int rank = B::rank();
    ends_[rank] = in[0];
    __syncthreads();
    for (int i = 0; i + 1 < N; ++i) out[i] = op(in[i], in[i + 1]);
    out[N - 1] = rank == B::threads - 1 ? in[N - 1] : op(in[N - 1], ends_[rank + 1]);
  }

 private:
  T* ends_;
};

}  // namespace cub
