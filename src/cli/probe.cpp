// kernelcast probe: micro-benchmarks of a device, or of the cycle-level model of its SM.
#include <algorithm>
#include <cstdlib>
#include <filesystem>
#include <memory>

#include "cli/catalog.h"
#include "cli/commands.h"
#include "cli/common_flags.h"
#include "cli/flag_values.h"
#include "cli/measure.h"
#include "cli/output.h"
#include "cli/run.h"
#include "cli/sources.h"
#include "io/text_file.h"
#include "kernelcast/error.h"
#include "kernelcast/probe.h"
#include "kernelcast/sm_views.h"
#include "report/probe_views.h"
#include "report/sm_views.h"

namespace kernelcast::cli {
namespace {

constexpr const char* probe_examples = R"(Examples:
  kernelcast probe --backend sim --device k20
  kernelcast probe --backend sim --device k20 -o my-k20.toml
  kernelcast probe --backend sim --device k20 --format json
  kernelcast probe --backend sim --device k20 --program bench.txt --warps 8 --format json
  kernelcast probe --backend host -o this-machine.toml
  kernelcast probe --backend opencl --device this-machine.toml
  kernelcast probe --backend cuda -o my-gpu.toml
  kernelcast probe --backend cuda --device h200 --plan h200.plan
  kernelcast probe --backend cuda --device h200 --record h200.record -o h200.toml

Exit status: 0 success, 1 measurement failed, 2 usage, 130 interrupted.)";

struct ProbeFlags {
  std::string backend, device, format = "text", output, devices_dir, registers = "32", time_limit = "60";
  std::string program, warps, blocks;        // of sim
  std::string library, ptxas, plan, record;  // of cuda
  bool quick = false;
};

double positive(const std::string& flag, const std::string& text) {
  char* end = nullptr;
  const double value = std::strtod(text.c_str(), &end);
  if (text.empty() || *end != '\0' || !(value > 0) || value > 1e6)
    throw UsageError(flag + " " + text + ": expected a number above 0");
  return value;
}

/// A program of the user's on the cycle-level SM, and what can be seen of it.
int watch_program(const ProbeFlags& flags, const DeviceCatalog& catalog, const Environment& environment) {
  const Device device = catalog.find(flags.device);
  const sm::Spec spec = sm::spec_of(device, catalog.folder());
  sm::SmLaunch launch;
  if (!flags.warps.empty())
    launch.warps_per_block = static_cast<int>(std::min<std::int64_t>(whole_number("--warps", flags.warps, 1), 1024));
  if (!flags.blocks.empty())
    launch.blocks = static_cast<int>(std::min<std::int64_t>(whole_number("--blocks", flags.blocks, 1), 1'000'000));
  launch.max_cycles = 100'000'000;
  const sm::Views views = sm::watch(spec, sm::assemble(read_source(flags.program), flags.program), launch);
  const report::Style style(environment.colour);
  write_result("", is_json(flags.format) ? report::sm_views_json(environment.head, device, views)
                                         : report::sm_views_text(device, views, style));
  return done;
}

std::string environment_text(const char* name) {
  const char* text = std::getenv(name);
  return text == nullptr ? "" : text;
}

void check_cuda_flags(const ProbeFlags& flags) {
  for (const auto& [flag, text] : {std::pair{"--plan", flags.plan}, std::pair{"--record", flags.record},
                                   std::pair{"--cuda-library", flags.library}, std::pair{"--ptxas", flags.ptxas}})
    if (!text.empty() && flags.backend != "cuda")
      throw UsageError(std::string(flag) + " " + text + ": only --backend cuda takes it");
  if (flags.device.empty() && (!flags.plan.empty() || !flags.record.empty()))
    throw UsageError("--device DEV is missing: which device is the plan or the record of?");
  if (!flags.plan.empty() && (!flags.record.empty() || !flags.output.empty()))
    throw UsageError("--plan " + flags.plan + " runs nothing: --record and -o go without it");
}

/// What is known before anything is measured.
Device base_of(const ProbeFlags& flags, const DeviceCatalog& catalog, const probe::Options& options) {
  if (!flags.device.empty()) return catalog.find(flags.device);
  if (flags.backend != "cuda") return catalog.find("host");
  const std::string name = probe::cuda_device_name(options);
  try {
    return catalog.find(name);
  } catch (const UserError&) {
    throw UsageError("--device DEV is missing: there is no device file for \"" + name +
                     "\"; name one of its architecture");
  }
}

int probe_device(const ProbeFlags& flags, const Environment& environment) {
  const bool json = is_json(flags.format);
  if (flags.backend != "sim" && flags.backend != "host" && flags.backend != "opencl" && flags.backend != "cuda")
    throw UsageError("--backend " + flags.backend + ": expected sim, opencl, cuda or host");
  if (flags.backend == "sim" && flags.device.empty())
    throw UsageError("--device DEV is missing: the cycle-level SM of which device?");
  const std::filesystem::path output(flags.output);
  if (!flags.output.empty() && output.extension() != ".toml")
    throw UsageError("-o " + flags.output + ": the device file's name must end in .toml");
  if (!flags.program.empty() && flags.backend != "sim")
    throw UsageError("--program runs on the cycle-level SM: give --backend sim");
  if (flags.program.empty() && !(flags.warps.empty() && flags.blocks.empty()))
    throw UsageError("--warps and --blocks belong to --program FILE");
  if (!flags.program.empty() && !flags.output.empty())
    throw UsageError("-o writes a device file, and a run of --program measures none");
  if (!flags.output.empty()) check_writable(output);
  const DeviceCatalog catalog = catalog_of(flags.devices_dir, environment.devices_dir);
  if (!flags.program.empty()) return watch_program(flags, catalog, environment);
  probe::Options options;
  options.device_folder = catalog.folder();
  const double registers = positive("--registers", flags.registers);
  if (registers != static_cast<int>(registers))
    throw UsageError("--registers " + flags.registers + ": expected 8 to 64");
  options.registers = static_cast<int>(registers);
  options.time_limit_s = positive("--time-limit", flags.time_limit);
  if (environment.progress) options.progress = [](const std::string& text) { progress_line(text); };
  options.quick = flags.quick;
  options.opencl_runner = runner_program("kernelcast-opencl");
  options.cuda_runner = runner_program("kernelcast-cuda");
  options.cuda_library = flags.library.empty() ? environment_text("KERNELCAST_CUDA_LIBRARY") : flags.library;
  options.ptxas = flags.ptxas.empty() ? environment_text("KERNELCAST_PTXAS") : flags.ptxas;
  options.cuda_record = flags.record;
  check_cuda_flags(flags);
  const Device base = base_of(flags, catalog, options);
  if (!flags.plan.empty()) {
    write_bytes(flags.plan, probe::cuda_plan(base, options));
    return done;
  }
  const probe::Report report = flags.backend == "host"     ? probe::probe_host(base, options)
                               : flags.backend == "opencl" ? probe::probe_opencl(base, options)
                               : flags.backend == "cuda"   ? probe::probe_cuda(base, options)
                                                           : probe::probe_sim(base, options);
  if (!flags.output.empty()) write_result(flags.output, probe::device_file(report, output.stem().string()));
  const report::Style style(environment.colour);
  write_result("", json ? report::probe_json(environment.head, report) : report::probe_text(report, style));
  return done;
}

}  // namespace

Action add_probe(Parser& parser) {
  auto f = std::make_shared<ProbeFlags>();
  Flags flags = parser.command("probe", "Measure a device, or the cycle-level model of one", probe_examples);
  flags.option(
      "--backend", "sim|opencl|cuda|host", f->backend,
      "Measured device: the cycle-level SM (sim), or this machine's OpenCL device, NVIDIA GPU (cuda) or CPU (host)",
      Flags::Need::required);
  flags.option("--device", "DEV", f->device,
               "Device: id, alias or path of a device file. sim: the modeled device (required); others: what is known "
               "before the measurement (default: host; cuda: the file with the GPU's name)");
  flags.option("--format", "text|json", f->format, "Output format (default: text)");
  flags.option("-o", "FILE.toml", f->output, "Device file to write, with the measured numbers in place");
  flags.option("--registers", "N", f->registers,
               "sim: registers of the bank test, R0 to R(N-1), 8 to 64 (default: 32)");
  flags.option("--time-limit", "SECONDS", f->time_limit,
               "Time limit in seconds; opencl, cuda and host finish the current round (default: 60)");
  flags.option("--program", "FILE", f->program,
               "sim: assembly text to run instead, showing issues, stalls and pipes; -: standard input");
  flags.option("--warps", "N", f->warps, "Warps per block with --program (default: 1)");
  flags.option("--blocks", "N", f->blocks, "Blocks with --program (default: 1)");
  flags.flag("--quick", f->quick, "Fewer repeats (opencl, cuda, host)");
  flags.option("--cuda-library", "FILE", f->library,
               "cuda: driver library (default: KERNELCAST_CUDA_LIBRARY, else libcuda.so.1)");
  flags.option(
      "--ptxas", "FILE", f->ptxas,
      "cuda: NVIDIA's assembler, for what PTX cannot express (default: KERNELCAST_PTXAS, else CUDA's usual places)");
  flags.option("--plan", "FILE", f->plan,
               "cuda: plan to write instead of a run; `kernelcast-cuda FILE RECORD` runs it on the GPU's machine");
  flags.option("--record", "FILE", f->record, "cuda: record of kernelcast-cuda to evaluate");
  declare_devices_dir(flags, f->devices_dir);
  return [f](const Environment& environment) { return probe_device(*f, environment); };
}

}  // namespace kernelcast::cli
