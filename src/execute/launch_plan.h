// Everything that is fixed before the first block runs.
#pragma once

#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "execute/block_runner.h"
#include "execute/relevant.h"

namespace kernelcast::interpreter {

/// Owns what a LaunchPlan points at.
class Plan {
 public:
  /// Throws UserError for arguments that are missing and shared arrays without a size, naming the flag.
  Plan(const KernelProfile& profile, const Program& program, const Launch& launch, const MemoryGeometry& geometry,
       const ExecuteOptions& options);
  [[nodiscard]] const LaunchPlan& launch_plan() const { return plan_; }
  [[nodiscard]] Memory& memory() { return *memory_; }
  /// Arguments and sizes that were taken for granted.
  [[nodiscard]] std::vector<Assumption> assumptions() const;
  /// Whether blocks may run at the same time with the results of any order: no buffer is both read and written, and no
  /// atomic's old value is used.
  [[nodiscard]] bool order_free() const;
  /// Whether each warp of a block runs for itself: no barrier, no shared memory, no atomic whose old value is used.
  [[nodiscard]] bool warps_apart() const;

 private:
  void watch_global();
  void place_shared(const Launch& launch);
  void take_scalars(const Launch& launch);
  void fill_parameters(const Launch& launch);
  const Relevance& relevance();
  void take_irrelevant(const std::string& name);

  const KernelProfile& profile_;
  const Program& program_;
  PreparedProgram prepared_;
  std::unique_ptr<Memory> memory_;
  LaunchPlan plan_;
  std::vector<Assumption> assumptions_;
  std::optional<Relevance> relevance_;  // once it was asked for
};

}  // namespace kernelcast::interpreter
