// The back end that measures an NVIDIA GPU through its driver library, in a process of its own (kernelcast-cuda): a
// driver may crash, and a patched cubin may hang the device. First it asks what the device is, then it sends the plan.
#include "probe/cuda/figures.h"

#include <fmt/format.h>

#include "io/process.h"
#include "io/text_file.h"
#include "kernelcast/error.h"
#include "kernelcast/setting.h"
#include "machine/sass/cubin.h"
#include "probe/cuda/make_plan.h"

namespace kernelcast::probe {
namespace cuda {
namespace {

constexpr std::uint64_t record_limit_bytes = 1ULL << 30U;

Record run(const Plan& plan, const Options& options, double seconds) {
  TemporaryFolder folder("kernelcast-cuda");
  const std::string request = folder.file("plan"), answer = folder.file("record");
  write_text_file(request, bytes_of(plan));
  std::vector<std::string> command{options.cuda_runner, request, answer};
  if (!options.cuda_library.empty()) command.push_back(options.cuda_library);
  const Ended ended = run_process(command, seconds, "the CUDA driver");
  Record record;
  try {
    record = record_of(read_text_file(answer, record_limit_bytes));
  } catch (const Error& e) {
    throw LimitError(KC_SETTING(backend) " cuda: " + (ended.failure.empty() ? message_of(e) : ended.failure));
  }
  if (!record.failure.empty()) throw LimitError(KC_SETTING(backend) " cuda: " + record.failure);
  if (!ended.failure.empty()) record.notes.push_back(ended.failure);
  return record;
}

PlanOptions plan_options(const Options& options) {
  PlanOptions out;
  out.ptxas = sass::find_ptxas(options.ptxas).value_or("");
  if (!options.ptxas.empty() && out.ptxas.empty())
    throw UsageError(KC_SETTING(ptxas) " " + options.ptxas + ": there is no such file");
  out.seconds = options.time_limit_s;
  if (options.quick) out.max_rounds = 6;
  return out;
}

int architecture_of(const Device& base) {
  const std::string& text = base.compute_capability;  // "9.0"
  const std::size_t dot = text.find('.');
  if (dot == std::string::npos || dot + 1 >= text.size()) return 0;
  return 10 * std::atoi(text.c_str()) + std::atoi(text.c_str() + dot + 1);
}

void check_base(const Device& base) {
  if (base.kind != "gpu" || architecture_of(base) == 0)
    throw UsageError(KC_SETTING(device) " " + base.id +
                     " is no NVIDIA GPU: " KC_SETTING(backend) " cuda measures one over what its file knows");
}

}  // namespace

namespace {

Record read_record(const std::string& path) {
  const std::string text = read_text_file(path, record_limit_bytes);
  try {
    return record_of(text);
  } catch (const Error& e) {
    throw UserError(path + ": is no whole record of kernelcast-cuda: " + message_of(e));
  }
}

}  // namespace

Report report_of(const Record& record, const Device& base) {
  if (!record.failure.empty()) throw LimitError(KC_SETTING(backend) " cuda: " + record.failure);
  if (record.info.architecture != architecture_of(base))
    throw UsageError(fmt::format(
        KC_SETTING(device) " {} has compute capability {}, \"{}\" has {}.{}: name its own device file, or one "
                           "of its architecture, by " KC_SETTING(device),
        base.id, base.compute_capability, record.info.name, record.info.architecture / 10,
        record.info.architecture % 10));
  Figures figures(record);
  ptx_figures(figures, record);
  tensor_figures(figures, record);
  patched_figures(figures, base.require(Field::compute_fp32_lanes_per_unit));
  Report out;
  out.backend = "cuda";
  out.device = base;
  out.results = figures.take();
  return out;
}

}  // namespace cuda

std::string cuda_device_name(const Options& options) { return cuda::run({}, options, 60).info.name; }

Report probe_cuda(const Device& base, const Options& options) {
  cuda::check_base(base);
  if (!options.cuda_record.empty()) return cuda::report_of(cuda::read_record(options.cuda_record), base);
  const auto say = [&](const std::string& what) {
    if (options.progress) options.progress("probe: " + what);
  };
  say("the device");
  cuda::Plan plan;
  plan.info = cuda::run(plan, options, 60).info;
  say("cubins");
  plan = cuda::make_plan(plan.info, cuda::plan_options(options));
  say("launches");
  return cuda::report_of(cuda::run(plan, options, 4 * options.time_limit_s + 120), base);
}

std::string cuda_plan(const Device& base, const Options& options) {
  cuda::check_base(base);
  cuda::Info info;
  info.name = base.name;
  info.architecture = cuda::architecture_of(base);
  info.units = static_cast<int>(base.require(Field::compute_units));
  info.warp_size = static_cast<int>(base.get(Field::compute_warp_size).value_or(32));
  info.l2_bytes = base.get(Field::memory_l2_bytes).value_or(0);
  info.memory_bytes = base.require(Field::memory_dram_bytes);
  return cuda::bytes_of(cuda::make_plan(info, cuda::plan_options(options)));
}

}  // namespace kernelcast::probe
