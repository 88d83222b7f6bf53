// kernelcast offload: one region on a CPU and on a GPU, or on several pairs.
#include "cli/offload.h"

#include <algorithm>
#include <exception>
#include <memory>

#include "cli/catalog.h"
#include "cli/common_flags.h"
#include "cli/flag_values.h"
#include "cli/output.h"
#include "cli/run.h"
#include "cli/sources.h"
#include "io/text_file.h"
#include "kernelcast/error.h"
#include "report/offload_views.h"

namespace kernelcast::cli {
namespace {

using namespace offload;

constexpr const char* offload_examples = R"(Examples:
  kernelcast offload examples/offload/gemm.c --cpu i7-6700k --gpu gtx1080 --arg n=1024
  kernelcast offload examples/offload/gesummv.c --cpu i7-6700k --gpu gtx1080 --arg n=2000 --reps 50 --resident a,b
  kernelcast offload examples/offload/atax.c --kernel row_sums,column_sums --role t=temp --cpu host --devices v100,a100 --arg n=4096

--cpu-opt 0 --cpu-isa baseline --cpu-threads 1 is the code of a compiler without flags, on one thread.
--replay accepts --cpu and --gpu (another pair than the experiment's two), --cpu-opt, --cpu-threads and --examples.
Exit status: 0 success, 1 analysis failed or a GPU named with --devices has no forecast, 2 usage, 130 interrupted.)";

std::vector<Device> gpus_of(const OffloadFlags& f, const Device& cpu, const DeviceCatalog& catalog) {
  if (f.gpu.empty() && f.devices.empty()) throw UsageError("offload: name a GPU with --gpu, or several with --devices");
  std::vector<std::string> names;
  if (!f.gpu.empty()) names.push_back(f.gpu);
  const bool all = f.devices == "all";
  if (!f.devices.empty() && !all)
    for (const std::string& n : comma_list("--devices", f.devices)) names.push_back(n);
  std::vector<Device> gpus = devices_of(names, all, catalog);
  for (const Device& gpu : gpus) check_kinds(cpu, gpu);
  return gpus;
}

/// The same question to the published model in its other form and to ours.
std::vector<report::OffloadRow::Beside> beside(Evaluator& evaluator, const OffloadRequest& asked) {
  std::vector<report::OffloadRow::Beside> out;
  const auto add = [&](DecisionModel model, const Faults2017& faults) {
    if (model == asked.model && names_of(faults) == names_of(asked.faults)) return;
    OffloadRequest q = asked;
    q.model = model;
    q.faults = faults;
    report::OffloadRow::Beside b{model, names_of(faults), std::nullopt, ""};
    try {
      b.answer = evaluator.answer(q);
    } catch (const Error& e) {
      b.reason = message_of(e);
    }
    out.push_back(std::move(b));
  };
  add(DecisionModel::offload_2017, as_printed);
  add(DecisionModel::offload_2017, {});
  add(DecisionModel::kernelcast, {});
  return out;
}

report::OffloadRow answered(const Source& gpu_source, const Source& cpu_source, const OffloadFlags& f,
                            const Device& cpu, const Device& gpu, const OffloadRequest& q,
                            std::vector<std::string>& warnings) {
  report::OffloadRow row;
  row.cpu = cpu;
  row.gpu = gpu;
  std::vector<std::string> names, map;
  if (!f.source.kernel.empty()) names = comma_list("--kernel", f.source.kernel);
  if (!f.source.map.empty()) map = mapped_loops(f.source.map, cpu_source);
  Region region = analysed_region(gpu_source, cpu_source, names, map, cpu, gpu, settings_of(f), warnings);
  roles_of(f, region);
  Evaluator evaluator(region, cpu, gpu);
  row.answer = evaluator.answer(q);
  row.changes = evaluator.changes(q, row.answer);
  row.break_even = evaluator.break_even(q, scale_of(f, q));
  if (q.model == DecisionModel::offload_2017) row.beside = beside(evaluator, q);
  for (const RegionKernel& k : region.kernels)
    for (const CpuLoopCode& l : k.cpu.loops) row.loops.push_back({k.name, l});
  const auto place = [](const auto& l) { return l.loop.line.line; };
  std::stable_sort(row.loops.begin(), row.loops.end(),
                   [&](const auto& a, const auto& b) { return place(a) < place(b); });
  return row;
}

int offload_command(const OffloadFlags& f, const Environment& environment) {
  if (!f.replay.empty()) return offload_replay(f, environment);
  if (f.source.file.empty()) throw UsageError("FILE is required");
  const bool html = f.source.format == "html";
  const bool json = is_json_of_page(f.source.format);
  if (!f.source.output.empty()) check_writable(f.source.output);
  keep_inputs("-o", f.source.output, {f.source.file, f.cpu_source, f.cpu});
  const OffloadRequest q = question_of(f);
  settings_of(f);
  const DeviceCatalog catalog = catalog_of(f.source.devices_dir, environment.devices_dir);
  const Device cpu = catalog.find(f.cpu.empty() ? "host" : f.cpu);
  const std::vector<Device> gpus = gpus_of(f, cpu, catalog);
  Source gpu_source = source_of(f.source), cpu_source = gpu_source;
  gpu_source.text = read_source(gpu_source.path);
  if (!f.cpu_source.empty()) {
    ForecastFlags other = f.source;
    other.file = f.cpu_source;
    other.language.clear();
    cpu_source = source_of(other);
    cpu_source.text = read_source(cpu_source.path);
  } else {
    cpu_source.text = gpu_source.text;
  }
  report::OffloadReport out;
  out.head = environment.head;
  out.source = gpu_source.path;
  out.question = q;
  out.ranking = gpus.size() > 1;
  std::vector<std::string> warnings, failures;
  std::exception_ptr first_failure;
  for (const Device& gpu : gpus) {
    if (environment.progress) progress_line(gpu.name);
    try {
      OffloadRequest here = q;
      if (f.measure_power) measure_power(f, cpu, gpu, here);
      out.rows.push_back(answered(gpu_source, cpu_source, f, cpu, gpu, here, warnings));
    } catch (const UsageError&) {
      throw;  // nothing to do with the device
    } catch (const Error& e) {
      if (!first_failure) first_failure = std::current_exception();
      failures.push_back(gpu.id + ": " + message_of(e));
    }
  }
  if (out.rows.empty()) std::rethrow_exception(first_failure);
  std::stable_sort(out.rows.begin(), out.rows.end(),
                   [](const auto& a, const auto& b) { return *a.answer.gpu.cost.value < *b.answer.gpu.cost.value; });
  const report::Style style(environment.colour && f.source.output.empty());
  if (html) {
    write_page(f.source.output, report::offload_html(out));
  } else {
    write_result(f.source.output, json ? report::offload_json(out) : report::offload_text(out, style));
  }
  for (const auto* list : {&warnings, &failures})
    for (const std::string& text : *list) message("kernelcast: " + text);
  return failures.empty() || f.devices == "all" ? done : could_not_analyse;
}

}  // namespace

Action add_offload(Parser& parser) {
  auto f = std::make_shared<OffloadFlags>();
  Flags c = parser.command("offload", "Compare a CPU with a GPU, transfers included", offload_examples);
  c.positional("FILE", f->source.file, "C or C++ loop nests for both sides, or with --cpu-source the GPU's kernels");
  c.option("--kernel", "NAME[,NAME...]", f->source.kernel,
           "Functions in execution order (default: all, in file order)");
  c.option("--cpu", "DEV", f->cpu, "CPU: id, alias or path of a device file (default: host)");
  c.option("--gpu", "DEV", f->gpu, "GPU: id, alias or path of a device file; this or --devices is required");
  c.option("--devices", "DEV[,DEV...|all]", f->devices, "GPUs to rank, cheapest first; all: every GPU");
  c.option("--cpu-source", "FILE", f->cpu_source,
           "Source for the CPU if FILE is OpenCL, CUDA or HIP: functions of the same names");
  c.option("--block", "X[,Y[,Z]]", f->source.block,
           "Block size on the GPU in threads (default: 128, at most the loop's iterations)");
  c.option("--grid", "X[,Y[,Z]]", f->source.grid, "Grid size in blocks; not needed for loop nests");
  c.list("--arg", "NAME=VALUE", f->source.args, "Value of a scalar kernel argument; repeat");
  c.list("--buffer", "NAME=COUNT", f->source.buffers, "Elements of a buffer (default: as many as are touched); repeat");
  c.list("--role", "NAME=ROLE", f->roles,
         "Role of a buffer: in, out, inout or temp, which never moves (default: by loads and stores); repeat");
  c.option("--resident", "NAME[,NAME...]", f->resident, "Buffers that stay on the GPU (default: none)");
  c.option("--reps", "N", f->reps, "Runs between the transfers (default: 1)");
  c.option("--model", "NAME", f->model,
           "Deciding model: kernelcast, or the published offload-2017 with ours beside it (default: kernelcast)");
  c.option("--faults", "as-printed|none|NAME[,NAME...]", f->faults,
           "Faults of the print that offload-2017 keeps: larger-roof, intensity-by-instruction, cpu-bandwidth-tenth, "
           "gap-added (default: none)");
  c.option("--host-memory", "pageable|pinned", f->memory, "Host memory of transfers (default: pageable)");
  c.flag("--overlap", f->overlap, "Transfers in pieces that overlap with execution, best case");
  c.option("--weights", "time=W,energy=W", f->weights,
           "Weights of the cost, per second and per joule (default: time=1,energy=0)");
  c.option("--confidence", "P", f->confidence,
           "Smallest probability of a decision; below it is too close to call (default: where a tie within 10 % is "
           "likelier than a winner)");
  c.option("--scale", "NAME", f->scale, "Integer argument to vary for the break-even size (default: the only one)");
  c.option("--cpu-threads", "N", f->cpu_threads,
           "CPU threads, at most those of the CPU (default: one per core; with --replay: 1)");
  c.option("--cpu-simd", "on|off", f->cpu_simd, "Vectorization of the CPU code (default: on; with --replay: off)");
  c.option("--cpu-opt", "0|1|2|3", f->cpu_opt, "Optimization level of the CPU code (default: 3; with --replay: 0)");
  c.option("--cpu-isa", "native|baseline|CPU", f->cpu_isa,
           "Instruction set of the CPU code: the CPU's own (native), any x86-64 (baseline), or a core as LLVM names "
           "it, such as skylake-avx512 (default: native; with --replay: baseline)");
  c.option("--cpu-idle-w", "W", f->cpu_idle_w, "Idle power of the CPU in watts (default: that of its file)");
  c.option("--gpu-idle-w", "W", f->gpu_idle_w, "Idle power of the GPU in watts (default: that of its file)");
  c.option("--busy-power", "tdp-times-0.6|tdp-over-0.6", f->busy_power,
           "Reading of equation (19): idle + 0.6 TDP, or idle + TDP / 0.6 (default: tdp-times-0.6)");
  c.flag("--measure-power", f->measure_power,
         "Idle power of both sides, and power of the loaded CPU, from this machine's meters (RAPL, NVML)");
  c.option("--powercap", "DIR", f->powercap, "Folder of RAPL's counters (default: /sys/class/powercap)");
  c.option("--nvml", "LIBRARY", f->nvml, "NVIDIA's management library (default: libnvidia-ml.so.1)");
  c.option("--map", "i[,j[,k]]", f->source.map,
           "Loops that become threads, outermost first; CPU threads share the first");
  declare_source(c, f->source);
  declare_compile_seconds(c, f->source);
  c.list("--assume", "KEY=VALUE", f->source.assume,
         "Value of an unknown, by the key that the assumptions name; repeat");
  c.option("--replay", "TABLE.csv", f->replay, "Table of the published experiment to replay, instead of FILE");
  c.option("--examples", "DIR", f->examples, "Folder of the replay's loop nests (default: examples/offload)");
  declare_result(c, f->source.format, f->source.output);
  c.say_instead("--format", "text|json|html", "Output format; html: a page with plots (default: text)");
  declare_devices_dir(c, f->source.devices_dir);
  return [f](const Environment& environment) { return offload_command(*f, environment); };
}

}  // namespace kernelcast::cli
