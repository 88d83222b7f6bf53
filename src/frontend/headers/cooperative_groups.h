// Cooperative groups: the block, tiles, the active lanes, the grid, the cluster. The ranks of lanes that became a thread_group are those of a tile.
// A barrier in two halves is one barrier where its threads wait.
#pragma once
#include "kernelcast/async_copies.h"
#include "kernelcast/cluster.h"

namespace cooperative_groups {

// A barrier of the whole grid; its cost is not modelled.
extern "C" __attribute__((device)) void kc_grid_sync();

struct __kc_arrival {};

struct thread_group {
  unsigned int lanes;
  KC_D unsigned int __kc_rank() { return threadIdx.x + blockDim.x * (threadIdx.y + blockDim.y * threadIdx.z); }
  __device__ __inline__ void sync() const { lanes <= __KERNELCAST_WARP_SIZE ? __syncwarp() : __syncthreads(); }
  __device__ __inline__ unsigned int size() const { return lanes; }
  __device__ __inline__ unsigned int num_threads() const { return lanes; }
  __device__ __inline__ unsigned int thread_rank() const { return __kc_rank() % lanes; }
};

struct thread_block {
  using arrival_token = __kc_arrival;
  static __device__ __inline__ void sync() { __syncthreads(); }
  static __device__ __inline__ arrival_token barrier_arrive() { return {}; }
  static __device__ __inline__ void barrier_wait(arrival_token&&) { sync(); }
  static __device__ __inline__ unsigned int size() { return blockDim.x * blockDim.y * blockDim.z; }
  static __device__ __inline__ unsigned int num_threads() { return size(); }
  static __device__ __inline__ unsigned int thread_rank() { return thread_group::__kc_rank(); }
  static __device__ __inline__ dim3 group_index() { return blockIdx; }
  static __device__ __inline__ dim3 thread_index() { return threadIdx; }
  static __device__ __inline__ dim3 group_dim() { return blockDim; }
  static __device__ __inline__ dim3 dim_threads() { return blockDim; }
  __device__ __inline__ operator thread_group() const { return thread_group{size()}; }
};
KC_D thread_block this_thread_block() { return thread_block(); }

struct grid_group {
  using arrival_token = unsigned int;
  static __device__ __inline__ void sync() { kc_grid_sync(); }
  static __device__ __inline__ arrival_token barrier_arrive() { return 0; }
  static __device__ __inline__ void barrier_wait(arrival_token&&) { sync(); }
  static __device__ __inline__ bool is_valid() { return true; }
  static __device__ __inline__ unsigned long long size() { return (unsigned long long)num_blocks() * thread_block::size(); }
  static __device__ __inline__ unsigned long long num_threads() { return size(); }
  static __device__ __inline__ unsigned int num_blocks() { return gridDim.x * gridDim.y * gridDim.z; }
  static __device__ __inline__ unsigned long long block_rank() { return blockIdx.x + gridDim.x * (blockIdx.y + gridDim.y * blockIdx.z); }
  static __device__ __inline__ unsigned long long thread_rank() { return block_rank() * thread_block::size() + thread_group::__kc_rank(); }
  static __device__ __inline__ dim3 group_dim() { return gridDim; }
  static __device__ __inline__ dim3 dim_blocks() { return gridDim; }
  static __device__ __inline__ dim3 block_index() { return blockIdx; }
  static __device__ __inline__ dim3 cluster_index() { return __kc_cluster(); }
  static __device__ __inline__ dim3 dim_clusters() { return __kc_clusters(); }
  static __device__ __inline__ unsigned long long num_clusters() { const dim3 n = __kc_clusters(); return (unsigned long long)n.x * n.y * n.z; }
  static __device__ __inline__ unsigned long long cluster_rank() {
    const dim3 at = __kc_cluster(), n = __kc_clusters();
    return at.x + n.x * (at.y + (unsigned long long)n.y * at.z);
  }
};
KC_D grid_group this_grid() { return grid_group(); }

// Grids of several devices that work together: one.
struct multi_grid_group : grid_group {
  static __device__ __inline__ unsigned int num_grids() { return 1; }
  static __device__ __inline__ unsigned int grid_rank() { return 0; }
};
KC_D multi_grid_group this_multi_grid() { return multi_grid_group(); }

// Blocks of a cluster. Its size is that of the launch.
struct cluster_group {
  using arrival_token = __kc_arrival;
  static __device__ __inline__ unsigned int block_rank() { return __kc_cluster_rank(); }
  static __device__ __inline__ unsigned int num_blocks() { return __kc_cluster_size(); }
#if defined(__NVPTX__) && __CUDA_ARCH__ >= 900
  static __device__ __inline__ arrival_token barrier_arrive() { asm volatile("barrier.cluster.arrive.aligned;" ::: "memory"); return {}; }
  static __device__ __inline__ void barrier_wait() { asm volatile("barrier.cluster.wait.aligned;" ::: "memory"); }
#else
  static __device__ __inline__ arrival_token barrier_arrive() { return {}; }
  static __device__ __inline__ void barrier_wait() { __syncthreads(); }
#endif
  static __device__ __inline__ void barrier_wait(arrival_token&&) { barrier_wait(); }
  static __device__ __inline__ void sync() { barrier_arrive(); barrier_wait(); }
  static __device__ __inline__ dim3 block_index() { return __kc_cluster_block(); }
  static __device__ __inline__ dim3 dim_blocks() { return __kc_cluster_blocks(); }
  static __device__ __inline__ dim3 thread_index() {
    const dim3 at = block_index();
    return dim3(at.x * blockDim.x + threadIdx.x, at.y * blockDim.y + threadIdx.y, at.z * blockDim.z + threadIdx.z);
  }
  static __device__ __inline__ dim3 dim_threads() { const dim3 n = dim_blocks(); return dim3(n.x * blockDim.x, n.y * blockDim.y, n.z * blockDim.z); }
  static __device__ __inline__ unsigned int thread_rank() { return block_rank() * thread_block::size() + thread_group::__kc_rank(); }
  static __device__ __inline__ unsigned int num_threads() { return num_blocks() * thread_block::size(); }
  static __device__ __inline__ unsigned int size() { return num_threads(); }
  template <class T> static __device__ __inline__ T* map_shared_rank(T* p, int rank) { return (T*)__cluster_map_shared_rank(p, rank); }
  static __device__ __inline__ unsigned int query_shared_rank(const void*) { return block_rank(); }
};
KC_D cluster_group this_cluster() { return cluster_group(); }
template <unsigned int Size> struct block_tile_memory { unsigned char __kc_none; };
template <unsigned int Size> KC_D thread_block this_thread_block(block_tile_memory<Size>&) { return thread_block(); }

template <unsigned int Size, class Parent = void> struct thread_block_tile {
  __device__ __inline__ thread_block_tile() {}
  template <class Other> __device__ __inline__ thread_block_tile(const thread_block_tile<Size, Other>&) {}
  static __device__ __inline__ void sync() { if (Size > __KERNELCAST_WARP_SIZE) __syncthreads(); else __syncwarp(); }
  static __device__ __inline__ constexpr unsigned int size() { return Size; }
  static __device__ __inline__ constexpr unsigned int num_threads() { return Size; }
  static __device__ __inline__ unsigned int thread_rank() { return thread_group::__kc_rank() % Size; }
  static __device__ __inline__ unsigned int meta_group_rank() { return thread_group::__kc_rank() / Size; }
  static __device__ __inline__ unsigned int meta_group_size() { return (thread_block::size() + Size - 1) / Size; }
  template <class T> static __device__ __inline__ T shfl(T v, int lane) { return __kc_any(v, lane, (int)Size); }
  template <class T> static __device__ __inline__ T shfl_up(T v, unsigned int d) { return __kc_any_up(v, d, (int)Size); }
  template <class T> static __device__ __inline__ T shfl_down(T v, unsigned int d) { return __kc_any_down(v, d, (int)Size); }
  template <class T> static __device__ __inline__ T shfl_xor(T v, unsigned int x) { return __kc_any_xor(v, (int)x, (int)Size); }
  static __device__ __inline__ int any(int p) { return (ballot(p)) != 0; }
  static __device__ __inline__ int all(int p) { return ballot(p) == ballot(1); }
  static __device__ __inline__ unsigned int ballot(int p) {
    return (unsigned int)(__ballot_sync(KC_FULL_MASK, p) >> (__lane_id() / Size * Size % 32)) & (Size >= 32 ? ~0u : (1u << Size % 32) - 1);
  }
  template <class T> static __device__ __inline__ unsigned int match_any(T v) { return (unsigned int)__match_any_sync(KC_FULL_MASK, v); }
  template <class T> static __device__ __inline__ unsigned int match_all(T v, int& p) { return (unsigned int)__match_all_sync(KC_FULL_MASK, v, &p); }
  __device__ __inline__ operator thread_group() const { return thread_group{Size}; }
};
template <unsigned int Size, class Parent> KC_D thread_block_tile<Size, Parent> tiled_partition(const Parent&) { return {}; }
KC_D thread_group tiled_partition(const thread_block&, unsigned int size) { return thread_group{size}; }
KC_D thread_group tiled_partition(const thread_group&, unsigned int size) { return thread_group{size}; }

struct coalesced_group {
  __kc_mask lanes;
  unsigned int __kc_meta_rank = 0, __kc_meta_size = 1;
  __device__ __inline__ unsigned int meta_group_rank() const { return __kc_meta_rank; }
  __device__ __inline__ unsigned int meta_group_size() const { return __kc_meta_size; }
  __device__ __inline__ void sync() const { __syncwarp(); }
  __device__ __inline__ unsigned int size() const { return (unsigned int)__builtin_popcountll(lanes); }
  __device__ __inline__ unsigned int num_threads() const { return size(); }
  __device__ __inline__ unsigned int thread_rank() const { return (unsigned int)__builtin_popcountll(lanes & (((__kc_mask)1 << __lane_id()) - 1)); }
  template <class T> __device__ __inline__ T shfl(T v, int lane) const { return __shfl_sync(lanes, v, lane); }
  template <class T> __device__ __inline__ T shfl_down(T v, unsigned int d) const { return __shfl_down_sync(lanes, v, d); }
  template <class T> __device__ __inline__ T shfl_up(T v, unsigned int d) const { return __shfl_up_sync(lanes, v, d); }
  __device__ __inline__ int any(int p) const { return __any_sync(lanes, p); }
  __device__ __inline__ int all(int p) const { return __all_sync(lanes, p); }
  __device__ __inline__ __kc_mask ballot(int p) const { return __ballot_sync(lanes, p); }
  template <class T> __device__ __inline__ __kc_mask match_any(T v) const { return __match_any_sync(lanes, v); }
  template <class T> __device__ __inline__ __kc_mask match_all(T v, int& p) const { return __match_all_sync(lanes, v, &p); }
  __device__ __inline__ operator thread_group() const { return thread_group{size()}; }
};
KC_D coalesced_group tiled_partition(const coalesced_group& group, unsigned int size) {
  const unsigned int mine = group.thread_rank() / size;
  __kc_mask lanes = 0;
  for (unsigned int lane = 0, rank = 0; lane < __KERNELCAST_WARP_SIZE; ++lane) {
    if (!(group.lanes >> lane & 1)) continue;
    if (rank / size == mine) lanes |= (__kc_mask)1 << lane;
    ++rank;
  }
  return coalesced_group{lanes, mine, (group.size() + size - 1) / size};
}
template <class Group> KC_D coalesced_group binary_partition(const Group&, bool p) {
  const __kc_mask active = __activemask(), chosen = __ballot_sync(active, p);
  return coalesced_group{p ? chosen : active & ~chosen};
}
template <class Group, class T> KC_D coalesced_group labeled_partition(const Group&, T label) { return coalesced_group{__match_any_sync(__activemask(), label)}; }
KC_D coalesced_group coalesced_threads() { return coalesced_group{__activemask()}; }

template <class T> struct plus { __device__ __inline__ T operator()(T a, T b) const { return a + b; } };
template <class T> struct less { __device__ __inline__ T operator()(T a, T b) const { return b < a ? b : a; } };
template <class T> struct greater { __device__ __inline__ T operator()(T a, T b) const { return a < b ? b : a; } };
template <class T> struct bit_and { __device__ __inline__ T operator()(T a, T b) const { return a & b; } };
template <class T> struct bit_or { __device__ __inline__ T operator()(T a, T b) const { return a | b; } };
template <class T> struct bit_xor { __device__ __inline__ T operator()(T a, T b) const { return a ^ b; } };
template <unsigned int Size, class P, class T, class Op> KC_D T reduce(const thread_block_tile<Size, P>& tile, T v, Op op) {
  for (unsigned int x = Size / 2; x > 0; x >>= 1) v = op(v, tile.shfl_xor(v, x));
  return v;
}
template <unsigned int Size, class P, class T, class Op> KC_D T inclusive_scan(const thread_block_tile<Size, P>& tile, T v, Op op) {
  for (unsigned int d = 1; d < Size; d *= 2) {
    const T other = tile.shfl_up(v, d);
    if (tile.thread_rank() >= d) v = op(other, v);
  }
  return v;
}
template <unsigned int Size, class P, class T> KC_D T inclusive_scan(const thread_block_tile<Size, P>& tile, T v) { return inclusive_scan(tile, v, plus<T>()); }
template <unsigned int Size, class P, class T> KC_D T exclusive_scan(const thread_block_tile<Size, P>& tile, T v) { return inclusive_scan(tile, v) - v; }
template <unsigned int Size, class P, class T, class Op> KC_D T exclusive_scan(const thread_block_tile<Size, P>& tile, T v, Op op) {
  const T before = tile.shfl_up(inclusive_scan(tile, v, op), 1);
  return tile.thread_rank() == 0 ? T() : before;
}
template <class Group> KC_D void sync(const Group& group) { group.sync(); }
template <class Group> KC_D auto thread_rank(const Group& group) -> decltype(group.thread_rank()) { return group.thread_rank(); }
template <class Group> KC_D auto group_size(const Group& group) -> decltype(group.size()) { return group.size(); }
template <class Group> KC_D auto is_valid(const Group& group) -> decltype(group.is_valid()) { return group.is_valid(); }
template <class Group, class T> KC_D void memcpy_async(const Group& group, T* to, const T* from, size_t bytes) {
  for (size_t i = group.thread_rank(); i < bytes / sizeof(T); i += group.size()) __kc_copy_element(to + i, from + i);
  __kc_commit_copies();
}
template <class Group, class T, class Bytes> KC_D void memcpy_async(const Group& group, T* to, const T* from, const Bytes& bytes) {
  memcpy_async(group, to, from, (size_t)bytes);
}
template <class Group, class T, class Layout> KC_D void memcpy_async(const Group& group, T* to, const Layout& have, const T* from, const Layout& want) {
  const size_t n = (size_t)have < (size_t)want ? (size_t)have : (size_t)want;
  for (size_t i = group.thread_rank(); i < n; i += group.size()) __kc_copy_element(to + i, from + i);
  __kc_commit_copies();
}
template <class Group> KC_D void wait(const Group& group) {
  __kc_wait_for_copies(0);
  group.sync();
}
template <unsigned char Stages, class Group> KC_D void wait_prior(const Group& group) {
  __kc_wait_for_copies(Stages);
  group.sync();
}
template <class T, class Op> KC_D T reduce(const coalesced_group& group, T v, Op op) {
  for (unsigned int d = 1; d < group.size(); d *= 2) {
    const T other = group.shfl_down(v, d);
    if (group.thread_rank() + d < group.size()) v = op(v, other);
  }
  return group.shfl(v, 0);
}
template <class T, class Op> KC_D T inclusive_scan(const coalesced_group& group, T v, Op op) {
  for (unsigned int d = 1; d < group.size(); d *= 2) {
    const T other = group.shfl_up(v, d);
    if (group.thread_rank() >= d) v = op(other, v);
  }
  return v;
}
template <class T> KC_D T inclusive_scan(const coalesced_group& group, T v) { return inclusive_scan(group, v, plus<T>()); }
template <class T, class Op> KC_D T exclusive_scan(const coalesced_group& group, T v, Op op) {
  const T before = group.shfl_up(inclusive_scan(group, v, op), 1);
  return group.thread_rank() == 0 ? T() : before;
}
template <class T> KC_D T exclusive_scan(const coalesced_group& group, T v) { return exclusive_scan(group, v, plus<T>()); }
template <class Group> KC_D bool __kc_first(const Group& group) { return group.thread_rank() == 0; }
template <class Group, class F, class... A> KC_D void invoke_one(const Group& group, F f, A... a) { if (__kc_first(group)) f(a...); }
template <class Group, class F, class... A> KC_D auto invoke_one_broadcast(const Group& group, F f, A... a) -> decltype(f(a...)) {
  decltype(f(a...)) result{};
  if (__kc_first(group)) result = f(a...);
  return group.shfl(result, 0);
}

// Results that go to a cuda::atomic or cuda::atomic_ref: one atomic operation of one thread.
template <class A, class T, class U> KC_D T __kc_update(A& to, T v, plus<U>) { return to.fetch_add(v); }
template <class A, class T, class U> KC_D T __kc_update(A& to, T v, less<U>) { return to.fetch_min(v); }
template <class A, class T, class U> KC_D T __kc_update(A& to, T v, greater<U>) { return to.fetch_max(v); }
template <class A, class T, class U> KC_D T __kc_update(A& to, T v, bit_and<U>) { return to.fetch_and(v); }
template <class A, class T, class U> KC_D T __kc_update(A& to, T v, bit_or<U>) { return to.fetch_or(v); }
template <class A, class T, class U> KC_D T __kc_update(A& to, T v, bit_xor<U>) { return to.fetch_xor(v); }
template <class A, class T, class Op> KC_D T __kc_update(A& to, T v, Op op) {
  T old = to.load();
  while (!to.compare_exchange_weak(old, op(old, v))) {}
  return old;
}
template <class Group, class A, class T, class Op> KC_D void reduce_update_async(const Group& group, A& to, T v, Op op) {
  const T all = reduce(group, v, op);
  if (__kc_first(group)) __kc_update(to, all, op);
}
template <class Group, class A, class T, class Op> KC_D void reduce_store_async(const Group& group, A& to, T v, Op op) {
  const T all = reduce(group, v, op);
  if (__kc_first(group)) to.store(all);
}
template <class Group, class R, class T, class Op> KC_D void reduce_store_async(const Group& group, R* to, T v, Op op) {
  const T all = reduce(group, v, op);
  if (__kc_first(group)) *to = all;
}
template <class Group, class A, class T, class Op> KC_D T inclusive_scan_update(const Group& group, A& to, T v, Op op) {
  const T mine = inclusive_scan(group, v, op);
  T old = T();
  if (group.thread_rank() + 1 == group.size()) old = __kc_update(to, mine, op);
  return op(group.shfl(old, (int)group.size() - 1), mine);
}
template <class Group, class A, class T> KC_D T inclusive_scan_update(const Group& group, A& to, T v) { return inclusive_scan_update(group, to, v, plus<T>()); }
template <class Group, class A, class T, class Op> KC_D T exclusive_scan_update(const Group& group, A& to, T v, Op op) {
  const T mine = inclusive_scan(group, v, op);
  T old = T();
  if (group.thread_rank() + 1 == group.size()) old = __kc_update(to, mine, op);
  old = group.shfl(old, (int)group.size() - 1);
  const T before = group.shfl_up(mine, 1);
  return group.thread_rank() == 0 ? old : op(old, before);
}
template <class Group, class A, class T> KC_D T exclusive_scan_update(const Group& group, A& to, T v) { return exclusive_scan_update(group, to, v, plus<T>()); }

}  // namespace cooperative_groups
