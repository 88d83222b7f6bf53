#include "cli/converge_run.h"

#include <fmt/format.h>

#include "cli/catalog.h"
#include "cli/flag_values.h"
#include "cli/sources.h"
#include "forecast/code_target.h"
#include "forecast/pipeline.h"
#include "kernelcast/error.h"

namespace kernelcast::cli {
namespace {

constexpr const char* default_device = "nvidia-tesla-v100-pcie-16gb";

void assume(ConvergeRequest& r, const std::string& text) {
  const auto [key, value] = name_and_value("--assume", text);
  const double number = real_number("--assume " + key, value);
  if (key == "p" && number >= 0 && number <= 1) {
    r.p = number;
  } else if (key == "f" && number >= 0 && number <= 1) {
    r.f = number;
  } else if (key == "iterations" && number >= 1) {
    r.iterations = number;
  } else if (key == "rho" && number > 0) {
    r.rho = number;
  } else {
    throw UsageError("--assume " + text + ": expected p or f from 0 to 1, iterations from 1 or rho above 0");
  }
}

}  // namespace

ConvergeRequest converge_request(const ConvergeFlags& flags, const Environment& environment) {
  ConvergeRequest r;
  ForecastFlags f = flags.forecast;
  r.launched = !f.block.empty();
  if (!r.launched && (!f.grid.empty() || !f.global.empty())) throw UsageError("a launch needs --block");
  if (!r.launched) f.block = f.grid = "1";
  if (f.device.empty()) f.device = default_device;
  f.format = "text";
  f.assume.clear();
  if (flags.rewrite && !flags.diff) f.output.clear();  // a file may be rewritten in place
  r.request = checked(f);
  if (r.request.devices.size() != 1 || r.request.all_devices) throw UsageError("--device: converge takes one device");
  r.device = catalog_of(r.request.devices_dir, environment.devices_dir).find(r.request.devices.front());
  require_gpu(r.device);
  r.request.source.text = read_source(r.request.source.path);
  r.options.kernel = r.request.kernel;
  generate_for(r.device, r.options);
  r.options.block = r.request.launch.block;
  r.options.cluster = r.request.launch.cluster;
  for (const std::string& text : flags.forecast.assume) assume(r, text);
  return r;
}

KernelRun run_kernel(const ConvergeRequest& r, const Source& source, const std::string& kernel,
                     const ExecuteOptions& options, const std::vector<CodeRegion>& regions) {
  FrontendOptions o = r.options;
  o.kernel = kernel;
  o.program = true;
  o.regions = regions;
  KernelRun k;
  k.analysis = analyze(source, o);
  if (!k.analysis.program) throw LimitError("the kernel cannot be executed: " + k.analysis.no_program);
  k.launch = r.request.launch;
  set_grid(r.request, k.analysis.profile, k.launch);
  try {
    k.execution = execute(k.analysis.profile, *k.analysis.program, k.launch, r.device.geometry(), options);
  } catch (const UserError& e) {
    throw UsageError(message_of(e));  // arguments and buffers are on the command line
  }
  for (Finding& f : k.execution.findings) f.line.line = line_in_region(f.line.line);
  return k;
}

double warp_instructions(const Execution& e) {
  double all = 0;
  for (const LineExecution& l : e.lines) all += l.warp_ops.total();
  return all;
}

std::string line_text(const ConvergeRequest& r, const std::string& file, int line) {
  return file == r.request.source.path ? fmt::format("line {}", line) : fmt::format("{}:{}", file, line);
}

namespace {

double check_kernel(const ConvergeRequest& r, const Source& rewritten, const DivergentLoop& loop,
                    const std::string& kernel) {
  ExecuteOptions options = r.request.execute;
  options.sample = -1;
  options.jobs = 1;
  options.keep_buffers = true;
  const KernelRun before = run_kernel(r, r.request.source, kernel, options);
  const KernelRun after = run_kernel(r, rewritten, kernel, options);
  const std::string at = fmt::format("{}:{}: ", loop.file, loop.loop.first);
  if (!before.execution.complete || !after.execution.complete)
    throw LimitError(at + "the results could not be compared: a limit of execution struck; use a smaller launch");
  if (after.execution.findings.size() > before.execution.findings.size()) {
    throw UserError(
        at + "refused: execution finds trouble in the transformed loop: " + after.execution.findings.front().text);
  }
  for (const auto& [name, bytes] : before.execution.buffers) {
    const auto found = after.execution.buffers.find(name);
    if (found == after.execution.buffers.end() || found->second != bytes)
      throw UserError(at + "refused: the transformed loop leaves other contents in " + name);
  }
  return warp_instructions(before.execution) / warp_instructions(after.execution);
}

}  // namespace

double check_same_results(const ConvergeRequest& r, const Source& rewritten, const DivergentLoop& loop) {
  const double gain = check_kernel(r, rewritten, loop, loop.runs_as());
  for (std::size_t k = 1; k < loop.instances.size(); ++k) {
    try {
      check_kernel(r, rewritten, loop, loop.instances[k]);
    } catch (const Error& e) {
      throw UserError(fmt::format("{}\n  that is the instance {} of the template, which has the same text",
                                  message_of(e), loop.instances[k]));
    }
  }
  return gain;
}

}  // namespace kernelcast::cli
