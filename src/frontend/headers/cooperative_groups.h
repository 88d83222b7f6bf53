// The basics of cooperative groups: the block, tiles of a warp, the active lanes, the grid.
#pragma once

namespace cooperative_groups {

// A barrier of the whole grid; its cost is not modelled.
extern "C" __attribute__((device)) void kc_grid_sync();

struct thread_group {
  unsigned int lanes;
  KC_D unsigned int __kc_rank() { return threadIdx.x + blockDim.x * (threadIdx.y + blockDim.y * threadIdx.z); }
  __device__ __inline__ void sync() const { lanes <= __KERNELCAST_WARP_SIZE ? __syncwarp() : __syncthreads(); }
  __device__ __inline__ unsigned int size() const { return lanes; }
  __device__ __inline__ unsigned int num_threads() const { return lanes; }
  __device__ __inline__ unsigned int thread_rank() const { return __kc_rank() % lanes; }
};

struct thread_block {
  static __device__ __inline__ void sync() { __syncthreads(); }
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
  static __device__ __inline__ void sync() { kc_grid_sync(); }
  static __device__ __inline__ bool is_valid() { return true; }
  static __device__ __inline__ unsigned long long size() { return (unsigned long long)num_blocks() * thread_block::size(); }
  static __device__ __inline__ unsigned long long num_threads() { return size(); }
  static __device__ __inline__ unsigned int num_blocks() { return gridDim.x * gridDim.y * gridDim.z; }
  static __device__ __inline__ unsigned long long block_rank() { return blockIdx.x + gridDim.x * (blockIdx.y + gridDim.y * blockIdx.z); }
  static __device__ __inline__ unsigned long long thread_rank() { return block_rank() * thread_block::size() + thread_group::__kc_rank(); }
  static __device__ __inline__ dim3 group_dim() { return gridDim; }
  static __device__ __inline__ dim3 dim_blocks() { return gridDim; }
};
KC_D grid_group this_grid() { return grid_group(); }

// Blocks of a cluster. Its size is that of the launch: registers of sm_90; elsewhere a cluster is one block.
struct cluster_group {
#if defined(__NVPTX__) && __CUDA_ARCH__ >= 900
#define KC_CLUSTER(name, reg) \
  static __device__ __inline__ unsigned int name() { unsigned int r; asm("mov.u32 %0, %%" reg ";" : "=r"(r)); return r; }
  KC_CLUSTER(block_rank, "cluster_ctarank") KC_CLUSTER(num_blocks, "cluster_nctarank")
  KC_CLUSTER(__kc_x, "cluster_ctaid.x") KC_CLUSTER(__kc_y, "cluster_ctaid.y") KC_CLUSTER(__kc_z, "cluster_ctaid.z")
#undef KC_CLUSTER
  static __device__ __inline__ void barrier_arrive() { asm volatile("barrier.cluster.arrive.aligned;" ::: "memory"); }
  static __device__ __inline__ void barrier_wait() { asm volatile("barrier.cluster.wait.aligned;" ::: "memory"); }
#else
  static __device__ __inline__ unsigned int block_rank() { return 0; }
  static __device__ __inline__ unsigned int num_blocks() { return 1; }
  static __device__ __inline__ unsigned int __kc_x() { return 0; }
  static __device__ __inline__ unsigned int __kc_y() { return 0; }
  static __device__ __inline__ unsigned int __kc_z() { return 0; }
  static __device__ __inline__ void barrier_arrive() {}
  static __device__ __inline__ void barrier_wait() { __syncthreads(); }
#endif
  static __device__ __inline__ void sync() { barrier_arrive(); barrier_wait(); }
  static __device__ __inline__ dim3 block_index() { return dim3(__kc_x(), __kc_y(), __kc_z()); }
  static __device__ __inline__ unsigned int thread_rank() { return block_rank() * thread_block::size() + thread_group::__kc_rank(); }
  static __device__ __inline__ unsigned int num_threads() { return num_blocks() * thread_block::size(); }
  static __device__ __inline__ unsigned int size() { return num_threads(); }
  // Another block's shared memory is taken for this block's: its latency and bandwidth are not modelled.
  template <class T> static __device__ __inline__ T* map_shared_rank(T* p, int) { return p; }
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
  __device__ __inline__ operator thread_group() const { return thread_group{Size}; }
};
template <unsigned int Size, class Parent> KC_D thread_block_tile<Size, Parent> tiled_partition(const Parent&) { return {}; }
KC_D thread_group tiled_partition(const thread_block&, unsigned int size) { return thread_group{size}; }
KC_D thread_group tiled_partition(const thread_group&, unsigned int size) { return thread_group{size}; }

struct coalesced_group {
  __kc_mask lanes;
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
};
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
template <class Group> KC_D void sync(const Group& group) { group.sync(); }
template <class Group, class T> KC_D void memcpy_async(const Group& group, T* to, const T* from, size_t bytes) {
  for (size_t i = group.thread_rank(); i < bytes / sizeof(T); i += group.size()) to[i] = from[i];
}
template <class Group, class T, class Bytes> KC_D void memcpy_async(const Group& group, T* to, const T* from, const Bytes& bytes) {
  memcpy_async(group, to, from, (size_t)bytes);
}
template <class Group, class T, class Layout> KC_D void memcpy_async(const Group& group, T* to, const Layout& have, const T* from, const Layout& want) {
  const size_t n = (size_t)have < (size_t)want ? (size_t)have : (size_t)want;
  for (size_t i = group.thread_rank(); i < n; i += group.size()) to[i] = from[i];
}
template <class Group> KC_D void wait(const Group& group) { group.sync(); }
template <unsigned char Stages, class Group> KC_D void wait_prior(const Group& group) { group.sync(); }
template <class T, class Op> KC_D T reduce(const coalesced_group& group, T v, Op op) {
  for (unsigned int d = 1; d < group.size(); d *= 2) {
    const T other = group.shfl_down(v, d);
    if (group.thread_rank() + d < group.size()) v = op(v, other);
  }
  return group.shfl(v, 0);
}
template <class Group> KC_D bool __kc_first(const Group& group) { return group.thread_rank() == 0; }
template <class Group, class F> KC_D void invoke_one(const Group& group, F f) { if (__kc_first(group)) f(); }

}  // namespace cooperative_groups
