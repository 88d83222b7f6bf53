// Counts by execution in place of closed forms, for the few configurations that are worth it.
#pragma once

#include <cstdint>
#include <functional>
#include <memory>
#include <string>

#include "kernelcast/device.h"
#include "kernelcast/execute.h"
#include "kernelcast/launch.h"
#include "kernelcast/profile.h"
#include "kernelcast/program.h"
#include "kernelcast/workload.h"

namespace kernelcast::tune {

/// How the best configurations are counted: closed forms only; closed forms, and execution of what data decide;
/// execution only.
enum class Counts : std::uint8_t { symbolic, automatic, executed };

/// A kernel that can be executed.
struct Executable {
  std::shared_ptr<const KernelProfile> profile;
  std::shared_ptr<const Program> program;  // null: it cannot be
  std::string no_program;                  // why not
};

/// Counts of a launch whose closed forms are known.
using Recount = std::function<Workload(const Launch& launch, Workload closed)>;

/// Locality is kept for the blocks that share a unit of `device`. What it returns throws LimitError where
/// Counts::executed meets a limit, UserError for arguments and buffers that are missing; under Counts::automatic a
/// launch that cannot be executed keeps its closed forms, with an assumption that says why, unless the contents of its
/// buffers are given.
Recount recount_by(const Executable& kernel, const Device& device, Counts counts, const ExecuteOptions& options);

}  // namespace kernelcast::tune
