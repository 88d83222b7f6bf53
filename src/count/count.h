// How a launch is counted: closed forms, and execution where data decide. The one rule for predict, explain, tune,
// validate, check and offload; they differ in how much work they allow (ExecuteOptions) and in what they keep.
#pragma once

#include <array>
#include <cstdint>
#include <functional>
#include <map>
#include <memory>
#include <optional>
#include <string>

#include "count/mix.h"
#include "kernelcast/bind.h"
#include "kernelcast/device.h"
#include "kernelcast/execute.h"
#include "kernelcast/launch.h"
#include "kernelcast/profile.h"
#include "kernelcast/program.h"
#include "kernelcast/workload.h"

namespace kernelcast {

/// Closed forms only; closed forms, and execution where data decide; execution only.
enum class Counting : std::uint8_t { symbolic, automatic, executed };

/// A kernel as the front end left it for one code generation target.
struct Kernel {
  std::shared_ptr<const KernelProfile> profile;
  std::shared_ptr<const Program> program;  // null: cannot be executed, or nobody asked
  std::string no_program;                  // why not
};

/// How many blocks share an SM, and how many SMs take blocks in turn: what locality depends on beside the geometry. And
/// how much work a block is, so that none is begun that cannot be finished.
struct Sharing {
  double resident_blocks = 1;
  int processors = 1;
  double block_work = 0;  // of executing one block, as ExecuteOptions::most_sample_work; 0: data decide it
  friend bool operator==(const Sharing&, const Sharing&) = default;
};

/// Binder::bind() of what a user asked for: what it rejects is in the question (arguments, sizes, answers), a
/// UsageError.
Workload bind_asked(Binder& binder, const Launch& launch);

/// One block an SM where none fits: the models refuse the launch in their own words.
Sharing sharing_of(const Workload& closed, const Device& device);

/// Runs a sample of the launch. Throws LimitError for a kernel without a program or beyond the limits of `options`,
/// UserError for arguments and buffers that are missing.
std::shared_ptr<const Execution> execute_on(const Kernel& kernel, const Launch& launch, const MemoryGeometry& geometry,
                                            const Sharing& sharing, ExecuteOptions options);

/// Executes the launch, or returns what was executed before; called only where execution is wanted.
using Executor = std::function<std::shared_ptr<const Execution>(const Sharing& sharing)>;

struct Counted {
  Workload workload;
  std::optional<CountOrigin> origin;           // where closed forms and execution were joined
  std::shared_ptr<const Execution> execution;  // null: closed forms
};

/// Counts a launch that Binder has bound (`closed`). Under Counting::automatic a launch that cannot be executed keeps
/// its closed forms, with an assumption that says why, unless the contents of a buffer are given: then, and under
/// Counting::executed, what the executor throws leaves this function.
Counted count(const KernelProfile& profile, const Launch& launch, Workload closed, const Device& device,
              Counting counting, const Executor& executor);

/// Mean trip counts of the loops that data decide, by the keys of their unknowns ("trips:14"): what execution found in
/// place of the default, for another form of the same source (the CPU's side of a nest).
std::map<std::string, double> executed_trips(const KernelProfile& profile, const Workload& closed,
                                             const Workload& executed);

using Extents = std::array<std::int64_t, 3>;

/// Trip counts of the mapped loops with the launch's arguments put in; 1 where no loop is mapped. Throws UsageError for
/// an extent that the arguments do not decide or that is below 1, and where the profile knows none.
Extents mapped_extents(const KernelProfile& profile, const Launch& launch);

/// Blocks that cover `extents`, the last ones in part.
Dim3 grid_over(const Extents& extents, const Dim3& block);

}  // namespace kernelcast
