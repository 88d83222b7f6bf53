// Distinct memory that a block, and neighbouring blocks, touch while loops run: Workload::reuse in closed form.
#pragma once

#include <cstdint>
#include <span>
#include <vector>

#include "kernelcast/workload.h"
#include "profile/domain.h"
#include "profile/index.h"

namespace kernelcast {

/// `count` values that are `stride` bytes apart.
struct Stride {
  std::int64_t stride = 0, count = 1;
  friend bool operator==(const Stride&, const Stride&) = default;
};

/// Distinct aligned sectors of { offset + sum of i_k * stride_k, 0 <= i_k < count_k, over all offsets }, each element
/// `bytes` long. Exact when every stride is a multiple of or lies inside what the smaller ones cover; else an estimate.
/// `strides` is scratch: sorted and changed. Offsets are sorted.
double distinct_sectors(std::vector<Stride>& strides, std::span<const std::int64_t> offsets, int bytes, int sector);

class ReuseFinder {
 public:
  ReuseFinder(const KernelProfile& profile, const MemoryGeometry& geometry) : profile_(profile), geometry_(geometry) {}
  /// Announces the next access, in the order of Workload::access_counts; before the pool is compiled. `parameters` are
  /// those that a launch must give: what data decide may mention others, and is then scattered.
  void add(const Access& access, int loop, const Scope& scope, ConstantPool& pool, std::span<const Symbol> parameters);
  /// After the last add().
  void prepare(std::span<const Symbol> parameters);
  /// Fills out.reuse from out.access_counts and the launch.
  void find(const LaunchState& launch, std::span<const std::int64_t> buffer_bytes, Workload& out);

 private:
  /// One global access: its index, and how it is evaluated where it is not linear.
  struct Plan {
    const Access* access;
    std::size_t position;  // in access_counts
    int chain;             // index into chains_
    Index offset;
    CompiledExprs general;   // used when the offset is not linear
    bool computable = true;  // from launch parameters, ids and counters alone
  };
  /// Loops around an access, outermost first, with what their trips are at a middle point of the launch.
  struct Chain {
    int loop;
    std::vector<int> loops;
    std::vector<Symbol> counters;
    CompiledExprs trips;
    std::vector<std::int64_t> now;
  };
  /// Strides of one variable of an access: one, or one a bit of the variable.
  struct Group {
    int buffer, chain, bytes;
    Reuse::Direction direction;
    std::vector<Stride> by_variable[max_variables];
    std::vector<std::int64_t> offsets;
    double requested = 0;    // sectors, whole launch
    bool scattered = false;  // data decide the addresses
  };

  /// What is inside one outermost loop, or outside of all: phases follow one another in time.
  struct Phase {
    int loop;
    double footprint[2][Reuse::depths][Reuse::windows];
  };

  Phase& phase_of(const Chain& chain);
  void join_phases(Reuse& out) const;
  int chain_of(int loop);
  void trips_of(Chain& chain, const LaunchState& launch);
  void strides_of(Plan& plan, const LaunchState& launch, Group& group);
  void general_strides(Plan& plan, const LaunchState& launch, Group& group);
  void add_to_groups(Group&& group);
  void sizes(const Chain& chain, const LaunchState& launch, std::int64_t (&n)[max_variables]) const;
  double footprint(const Group& group, const std::int64_t (&n)[max_variables]);

  const KernelProfile& profile_;
  MemoryGeometry geometry_;
  std::size_t accesses_ = 0;
  std::vector<Plan> plans_;
  std::vector<Chain> chains_;
  std::vector<Symbol> parameters_;
  std::vector<Group> groups_;
  std::vector<Phase> phases_;
  std::vector<Stride> strides_;
  std::vector<std::int64_t> in_, out_, scratch_;
};

}  // namespace kernelcast
