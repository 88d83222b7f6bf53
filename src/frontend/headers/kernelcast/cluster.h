// Clusters: what CUDA declares of them without an include, and what cooperative groups are built on.
#pragma once

// Registers of sm_90; elsewhere a cluster is one block.
#if defined(__NVPTX__) && __CUDA_ARCH__ >= 900
#define KC_REGISTER(name, reg, other) \
  KC_D unsigned int name() { unsigned int r; asm("mov.u32 %0, %%" reg ";" : "=r"(r)); return r; }
#else
#define KC_REGISTER(name, reg, other) KC_D unsigned int name() { return other; }
#endif
#define KC_REGISTERS(name, reg, other) \
  KC_REGISTER(name##_x, reg ".x", other(x)) KC_REGISTER(name##_y, reg ".y", other(y)) \
  KC_REGISTER(name##_z, reg ".z", other(z)) \
  KC_D dim3 name() { return dim3(name##_x(), name##_y(), name##_z()); }
#define KC_ZERO(axis) 0
#define KC_ONE(axis) 1
#define KC_BLOCK(axis) blockIdx.axis
#define KC_GRID(axis) gridDim.axis
KC_REGISTERS(__kc_cluster_block, "cluster_ctaid", KC_ZERO) KC_REGISTERS(__kc_cluster_blocks, "cluster_nctaid", KC_ONE)
KC_REGISTERS(__kc_cluster, "clusterid", KC_BLOCK) KC_REGISTERS(__kc_clusters, "nclusterid", KC_GRID)
KC_REGISTER(__kc_cluster_rank, "cluster_ctarank", 0) KC_REGISTER(__kc_cluster_size, "cluster_nctarank", 1)
#undef KC_REGISTER
#undef KC_REGISTERS
#undef KC_ZERO
#undef KC_ONE
#undef KC_BLOCK
#undef KC_GRID

KC_D dim3 __clusterDim() { return __kc_cluster_blocks(); }
KC_D dim3 __clusterRelativeBlockIdx() { return __kc_cluster_block(); }
KC_D dim3 __clusterGridDimInClusters() { return __kc_clusters(); }
KC_D dim3 __clusterIdx() { return __kc_cluster(); }
KC_D unsigned int __clusterRelativeBlockRank() { return __kc_cluster_rank(); }
KC_D unsigned int __clusterSizeInBlocks() { return __kc_cluster_size(); }
KC_D unsigned int __clusterDimIsSpecified() { return __kc_cluster_size() > 1; }
#if defined(__NVPTX__) && __CUDA_ARCH__ >= 900
KC_D void* __cluster_map_shared_rank(const void* p, unsigned int rank) {
  void* there;
  asm("mapa.u64 %0, %1, %2;" : "=l"(there) : "l"(p), "r"(rank));
  return there;
}
#else
KC_D void* __cluster_map_shared_rank(const void* p, unsigned int) { return (void*)p; }
#endif
KC_D unsigned int __cluster_query_shared_rank(const void*) { return __kc_cluster_rank(); }
#if defined(__NVPTX__) && __CUDA_ARCH__ >= 900
KC_D unsigned int __isCtaShared(const void* p) { return __isShared(p); }
KC_D unsigned int __isClusterShared(const void* p) { return __isShared(p); }
KC_D void __cluster_barrier_arrive() { asm volatile("barrier.cluster.arrive;" ::: "memory"); }
KC_D void __cluster_barrier_arrive_relaxed() { asm volatile("barrier.cluster.arrive.relaxed;" ::: "memory"); }
KC_D void __cluster_barrier_wait() { asm volatile("barrier.cluster.wait;" ::: "memory"); }
KC_D void __threadfence_cluster() { asm volatile("fence.sc.cluster;" ::: "memory"); }
#endif
