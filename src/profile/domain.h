// Where a block of code executes: the set of (group, iteration, lane) that its chain of guards and loops admits, cut
// into boxes on which the set of active lanes is one and the same.
#pragma once

#include <optional>
#include <string>
#include <vector>

#include "kernelcast/profile.h"
#include "kernelcast/workload.h"
#include "profile/index.h"
#include "profile/lanes.h"

namespace kernelcast {

/// Everything about the current launch.
struct LaunchState {
  const KernelProfile* profile = nullptr;
  MemoryGeometry geometry;
  Dim3 grid;
  const BlockLanes* block = nullptr;
  const LaneSet* all_lanes = nullptr;
  const ConstantPool* pool = nullptr;
  std::span<const Symbol> parameters;
  std::span<const std::int64_t> parameter_values;
  std::span<const double> unknowns;
  LaneTables* tables = nullptr;
  // In lane evaluations:
  double work_limit = 0;  // of one domain or access
  double leaf_work = 0;   // of handing on a leaf
};

/// One outcome of the uniform unknowns (a single one of weight 1 without them).
struct LanePart {
  double weight = 1;
  const LaneSet* set = nullptr;               // lanes that may be active
  double probability = 1;                     // of each of them
  const std::vector<double>* each = nullptr;  // by thread, when they differ
  double warps = 0, lanes = 0;                // expected numbers that execute, at one point

  /// Everybody in the set, for certain.
  static LanePart certain(const LaneSet& set) { return {1, &set, 1, nullptr, set.warps, set.lanes}; }
};

/// Active lanes are the same at all points of the box.
struct Leaf {
  const Box* box = nullptr;
  double weight = 1;  // of each point
  std::vector<LanePart> parts;
  /// Of a branch condition, when the domain was made with one that varies among the lanes here: by thread.
  const std::vector<std::uint8_t>* truth = nullptr;
  double volume = 1;  // of the box
  [[nodiscard]] double times() const { return weight * volume; }
};

/// What is done with the leaves of a domain.
class LeafSink {
 public:
  virtual void take(const Leaf& leaf) = 0;

 protected:
  ~LeafSink() = default;
};

/// Least and greatest value of a linear index on the box; adds the box's free variables that it depends on to `open`.
Bounds affine_range(const Index& index, const Box& box, const ConstantPool& pool, VariableMask& open);

class Domain {
 public:
  /// `loop` is the innermost loop (-1: none); `condition`, if any, is decided or lane-exact in each leaf.
  Domain(const KernelProfile& profile, int loop, const Guard& guard, const std::optional<Expr>& condition,
         ConstantPool& pool);
  /// Hands on leaves that together hold every execution once. Returns false when a sample was taken.
  bool visit(const LaunchState& launch, LeafSink& sink);
  /// Lane evaluations of the last visit.
  [[nodiscard]] double work() const { return work_; }
  [[nodiscard]] const Scope& scope() const { return scope_; }

 private:
  enum class Kind : std::uint8_t { negative, zero, nonzero };  // value < 0, == 0, != 0
  struct Term {
    Kind kind = Kind::nonzero;
    Index index;
    int positive_slot = -1;  // index and kind hold when this launch constant is positive, else `general` != 0
    Index general;
    LaneProgram program;
    // Chosen for the launch:
    Kind kind_now = Kind::nonzero;
    Index* now = nullptr;
  };
  struct PathPlan {
    int first = 0, last = 0;  // terms
    std::vector<Path::Factor> factors;
  };
  struct Level {
    std::vector<PathPlan> paths;
    int first_trip = 0, last_trip = 0;  // terms that say "counter < trips"
    int variable = -1;                  // counter, -1: the block itself
    int loop = -1;
    Index trips;
    int unknown = -1;
  };
  struct Split {
    int variable = -1;
    std::int64_t cut[2];
  };

  void add_guard(const Guard& guard, Level& level, ConstantPool& pool);
  void add_condition(const Expr& e, ConstantPool& pool);
  void add_trips(Symbol counter, const Expr& trips, ConstantPool& pool);
  void add_term(Kind kind, const Expr& e, ConstantPool& pool);
  bool add_divided_trips(Symbol counter, const Expr& trips, ConstantPool& pool);
  [[nodiscard]] bool varies(const Expr& e) const;

  void make_roots(std::size_t level, Box& box, double weight);
  void descend(const Box& box, double weight, int depth);
  int decide(Term& term, const Box& box, VariableMask& open);
  bool decide_all(const Box& box, std::vector<std::int8_t>& decisions, int& open_term, VariableMask& open);
  Split choose(Term& term, const Box& box, VariableMask open);
  bool shear(Term& term, const Box& box, VariableMask open, double weight, int depth);
  void sample(const Box& box, double weight, int depth);
  void emit(const Box& box, double weight, const std::vector<std::int8_t>& decisions);
  void emit_expected(const std::vector<std::int8_t>& decisions);
  void apply(Term& term, std::vector<std::uint64_t>& bits);
  void apply_rows(Term& term, std::vector<std::uint64_t>& bits);
  void set_row(std::int64_t from, std::int64_t to);
  void apply_open(int first, int last, const std::vector<std::int8_t>& decisions, std::vector<std::uint64_t>& bits);
  void evaluate_condition(const std::vector<std::int8_t>& decisions);
  void lanes_of(const std::vector<std::uint64_t>& bits);

  const KernelProfile& profile_;
  Scope scope_;
  std::vector<Level> levels_;
  std::vector<Term> terms_;
  int first_condition_ = 0;  // terms from here on belong to the branch condition
  bool has_condition_ = false;
  bool plain_ = true;  // one path and no data-decided factor at every level
  std::vector<int> uniform_;

  // State of one visit.
  const LaunchState* launch_ = nullptr;
  LeafSink* sink_ = nullptr;
  Box root_;
  double work_ = 0;
  bool exact_ = true;
  Leaf leaf_;
  std::vector<std::vector<std::int8_t>> decisions_;
  std::vector<std::uint64_t> bits_, path_bits_, row_bits_;
  std::vector<std::uint32_t> lanes_;
  std::vector<std::int64_t> lane_values_;
  std::vector<std::vector<double>> probability_, sum_;
  std::vector<std::uint8_t> truth_;
};

}  // namespace kernelcast
