// Which block of which cluster a block is, from its place in the grid.
#pragma once

#include "kernelcast/launch.h"

namespace llvm {
class Function;
}

namespace kernelcast::frontend {

/// Notes the cluster that a launch sets, as __cluster_dims__ would. UsageError where the code has another.
void launch_in_clusters(llvm::Function& kernel, const Dim3& cluster);

/// Replaces special registers of clusters by arithmetic on the block's place in the grid, where the code fixes the
/// cluster's shape (__cluster_dims__, .reqnctapercluster): blocks of a cluster are neighbours in each dimension, their
/// rank counts x first (PTX ISA, %clusterid, %cluster_ctarank).
void place_in_cluster(llvm::Function& kernel);

}  // namespace kernelcast::frontend
