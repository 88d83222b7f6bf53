// Closed forms come first in any case: they check the launch, and give sizes and footprints.
#include "cli/counting.h"

#include <algorithm>

#include "execute/mix.h"
#include "kernelcast/bind.h"
#include "kernelcast/error.h"

namespace kernelcast::cli {
namespace {

/// What binding rejects is on the command line: arguments, sizes, answers.
Workload bound(const report::DeviceResult& result) {
  try {
    return Binder(*result.profile, result.device.geometry()).bind(result.launch);
  } catch (const UserError& e) {
    throw UsageError(e.what());
  }
}

CountOrigin all_executed(const Workload& w) {
  return {std::vector(w.block_counts.size(), Origin::executed), std::vector(w.access_counts.size(), Origin::executed),
          std::vector(w.branch_counts.size(), Origin::executed)};
}

/// Who says what a buffer holds wants it used: then a failure is no matter to pass over.
bool contents_given(const Launch& launch) {
  return std::any_of(launch.buffers.begin(), launch.buffers.end(),
                     [](const auto& b) { return !b.second.fill.empty(); });
}

}  // namespace

void Counter::count(const Analysed& analysed, report::DeviceResult& result) {
  Workload closed = bound(result);
  if (request_.counts == Counts::executed) {
    result.execution = executed(analysed, result);
    result.workload = result.execution->workload;
    result.origin = all_executed(*result.workload);
  } else if (request_.counts == Counts::automatic) {
    mix(analysed, std::move(closed), result);
  } else {
    result.workload = std::move(closed);
  }
}

void Counter::mix(const Analysed& analysed, Workload closed, report::DeviceResult& result) {
  CountOrigin origin = count_origin(*result.profile, result.launch, closed);
  if (!origin.all_closed()) {
    try {
      result.execution = executed(analysed, result);
      Mixed m = mixed(*result.profile, result.launch, closed, result.execution->workload, std::move(origin));
      result.workload = std::move(m.workload);
      result.origin = std::move(m.origin);
      return;
    } catch (const Error& e) {
      if (contents_given(result.launch)) throw;
      closed.assumptions.push_back({"what data decide", std::string("by default, not executed: ") + e.what(), ""});
    }
  }
  result.workload = std::move(closed);
}

std::shared_ptr<const Execution> Counter::executed(const Analysed& analysed, const report::DeviceResult& result) {
  if (!analysed.program) {
    throw LimitError("kernel " + analysed.profile->kernel + " cannot be executed: " +
                     (analysed.no_program.empty() ? "it was not made ready for it" : analysed.no_program));
  }
  const MemoryGeometry geometry = result.device.geometry();
  const auto key = std::tuple(analysed.profile.get(), geometry, result.launch.grid.array());
  auto found = ran_.find(key);
  if (found == ran_.end()) {
    found = ran_.emplace(key, run(analysed, result.launch, geometry)).first;
    if (found->second.first) add_findings(*analysed.profile, *found->second.first);
  }
  if (found->second.second) std::rethrow_exception(found->second.second);
  return found->second.first;
}

Counter::Ran Counter::run(const Analysed& analysed, const Launch& launch, const MemoryGeometry& geometry) const {
  try {
    try {
      return {std::make_shared<const Execution>(
                  execute(*analysed.profile, *analysed.program, launch, geometry, request_.execute)),
              nullptr};
    } catch (const UserError& e) {
      throw UsageError(e.what());  // arguments and buffers are on the command line
    }
  } catch (const Error&) {
    return {nullptr, std::current_exception()};
  }
}

void Counter::add_findings(const KernelProfile& profile, const Execution& execution) {
  for (const Finding& f : execution.findings) {
    report::FindingReport r{f, profile.kernel, ""};
    if (f.line.file >= 0 && static_cast<std::size_t>(f.line.file) < profile.files.size())
      r.file = profile.files[static_cast<std::size_t>(f.line.file)];
    const bool known = std::any_of(findings_.begin(), findings_.end(), [&](const report::FindingReport& k) {
      return k.finding.kind == f.kind && k.file == r.file && k.finding.line.line == f.line.line;
    });
    if (!known) findings_.push_back(std::move(r));
  }
}

}  // namespace kernelcast::cli
