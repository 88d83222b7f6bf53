// Distinct memory that a block, and neighbouring blocks, touch while loops run: Workload::reuse in closed form.
#pragma once

#include <array>
#include <cstdint>
#include <span>
#include <vector>

#include "kernelcast/workload.h"
#include "profile/distinct_sectors.h"
#include "profile/domain.h"
#include "profile/index.h"

namespace kernelcast {

class ReuseFinder {
 public:
  ReuseFinder(const KernelProfile& profile, const MemoryGeometry& geometry) : profile_(profile), geometry_(geometry) {}
  /// Announces the next access, in the order of Workload::access_counts; before the pool is compiled. `parameters` are
  /// those that a launch must give: what data decide may mention others, and is then scattered.
  void add(const Access& access, int loop, const Scope& scope, ConstantPool& pool, std::span<const Symbol> parameters);
  /// After the last add().
  void prepare(std::span<const Symbol> parameters);
  /// Windows behind the first and before number `first` are not wanted: they get the numbers of that one.
  void skip_windows(int first) { first_window_ = static_cast<std::size_t>(first); }
  /// Whether find() fills out.walks.
  void keep_walks(bool wanted) { keep_streams_ = wanted; }
  /// Fills out.reuse from out.access_counts and the launch.
  void find(const LaunchState& launch, std::span<const std::int64_t> buffer_bytes, Workload& out);

 private:
  /// A stride of one variable of an access. A variable that the address is not linear in has one for each of its bits.
  struct Step {
    int variable;
    std::int64_t stride, count;  // count 0: runs over the whole variable
    std::int64_t bit = 0;        // of the variable, 0: not by bits
    friend bool operator==(const Step&, const Step&) = default;
  };
  /// One global access: its index, and how it is evaluated where it is not linear.
  struct Plan {
    const Access* access;
    std::size_t position;  // in access_counts
    int chain;             // index into chains_
    Index offset;
    std::vector<Index::LinearTerm> terms;  // of a linear offset, by variable
    CompiledExprs general;                 // used when the offset is not linear
    bool computable = true;                // from launch parameters, ids and counters alone
    bool scattered = false;                // data decide the addresses
    bool shares = false;                   // another loop accesses the same buffer likewise
  };
  /// Loops around an access, outermost first, with what their trips are at a middle point of the launch.
  struct Chain {
    int loop;
    std::vector<int> loops;
    std::vector<Symbol> counters;
    CompiledExprs trips;
    bool nested = false;  // trips depend on counters
    std::vector<std::int64_t> now;
    std::int64_t run = 1;  // iterations of the innermost loop that one sector serves
  };
  /// Accesses that differ by a constant only, over the same buffer.
  struct Group {
    int buffer = -1, chain = 0, bytes = 0;
    Reuse::Direction direction = Reuse::read;
    std::vector<Step> steps, ascending;  // as they are, and by size of the stride
    std::vector<std::int64_t> offsets;
    double requested = 0;                    // sectors, whole launch
    double requests = 0, request_bytes = 0;  // of warps; what their lanes ask for
    bool scattered = false;                  // data decide the addresses
    bool shares = false;                     // a group of other loops may touch the same data, see join_groups()
    int host = -1, shared = 0;               // of a guest: its host, and the loops around both
    std::vector<int> guests;                 // of a host
    std::vector<std::int64_t> reach;         // of a host: where its own loops start to cover itself and its guests
  };
  using Row = std::array<double, Reuse::windows>;
  /// What is inside one outermost loop, or outside of all: phases follow one another in time.
  struct Phase {
    int loop;
    Row footprint[2][Reuse::depths];
  };
  using Counts = std::array<std::int64_t, Reuse::windows>;
  /// The windows of a launch, and how far each reaches along the axes of the grid.
  struct Windows {
    Row blocks{};                                      // by column
    std::array<Counts, 3> size{};                      // by axis and column
    std::array<std::size_t, Reuse::windows> column{};  // by window
  };

  std::size_t phase_of(const Chain& chain);
  [[nodiscard]] bool walks_like_the_last(const Group& group) const;
  void write(Reuse& out) const;
  int chain_of(int loop);
  void trips_of(Chain& chain, const LaunchState& launch);
  void steps_of(const Plan& plan, const LaunchState& launch, Group& group);
  void general_steps(const Plan& plan, const LaunchState& launch, Group& group);
  template <class At>
  bool linear_inside(Group& group, const At& at, const std::int64_t (&most)[max_variables], std::size_t variables);
  void drop_still_steps(const LaunchState& launch, Group& group);
  void group_accesses(const LaunchState& launch, const Workload& out);
  void add_group();
  void prepare_group(Group& group);
  void lengthen_run(const Group& group);
  void join_groups();
  [[nodiscard]] int shared_loops(const Group& a, const Group& b) const;
  bool join(std::size_t host, std::size_t guest);
  [[nodiscard]] std::pair<std::int64_t, std::int64_t> hull(const Group& group, int shared) const;
  [[nodiscard]] bool joined(const Group& host, std::size_t depth) const;
  [[nodiscard]] std::size_t row_of(std::size_t depth) const;
  [[nodiscard]] int outside_of(const Group& group, std::size_t depth) const;
  void distinct(const Group& group, std::span<const std::int64_t> offsets, const LaunchState& launch, int outside,
                std::int64_t run, Row& sectors);
  void distinct_together(const Group& host, const LaunchState& launch, int outside, std::int64_t run, Row& sectors);
  void find_windows(const Dim3& grid);
  double near_share(const Group& group);
  [[nodiscard]] AccessStream stream_of(const Group& group) const;
  void add_traffic(const Group& group, const LaunchState& launch, double declared, double blocks, AccessStream* walk);
  void sizes(const Chain& chain, const LaunchState& launch, std::int64_t (&n)[max_variables]) const;
  void footprints(const Group& group, std::span<const std::int64_t> offsets, const std::int64_t (&n)[max_variables],
                  Row& sectors);

  const KernelProfile& profile_;
  MemoryGeometry geometry_;
  std::size_t accesses_ = 0;
  std::vector<Plan> plans_;
  std::vector<Chain> chains_;
  std::vector<Symbol> parameters_;
  std::vector<Group> groups_;  // the first used_groups_ of this launch, the others keep their memory
  std::size_t used_groups_ = 0;
  std::vector<Phase> phases_;  // the first used_phases_ of this launch
  std::size_t used_phases_ = 0;
  const Group* last_ = nullptr;  // the last of this launch whose sectors were counted
  double last_declared_ = 0;     // sectors of its buffer
  struct LastRows {
    Row distinct, sectors, traffic;  // in its box; no more than requested; moved
  };
  std::array<LastRows, Reuse::depths> last_rows_{};  // by depth
  Windows windows_;
  std::size_t columns_ = 0;       // windows that differ, of this launch
  std::size_t first_window_ = 1;  // behind the first: see skip_windows()
  std::size_t rows_ = 1;          // depths that differ: deeper ones are like the last of these
  std::size_t whole_ = 0;         // the row of a block's whole life: the last of these, or one more
  bool shares_ = false;           // whether any plan does
  bool keep_streams_ = false;
  Row traffic_[2][Reuse::depths];
  std::array<double, 2> requested_{}, near_{};  // sectors by direction, and those that near touches leave
  double stored_again_ = 0;                     // what they do not leave, of stores outside loops
  std::vector<std::pair<std::int64_t, int>> places_;
  SectorCounter counter_;
  std::vector<CaseStride> strides_;
  std::vector<Counts> bit_counts_;
  std::vector<std::int64_t> in_, out_, scratch_;
};

}  // namespace kernelcast
