// kernelcast offload: one region on a CPU and on a GPU, or on several pairs.
#include "cli/offload.h"

#include <fmt/format.h>

#include <algorithm>
#include <memory>

#include "cli/catalog.h"
#include "cli/output.h"
#include "cli/run.h"
#include "cli/sources.h"
#include "cli/values.h"
#include "kernelcast/error.h"
#include "report/offload_views.h"

namespace kernelcast::cli {
namespace {

using namespace offload;

constexpr const char* offload_examples = R"(Examples:
  kernelcast offload examples/offload/gemm.c --cpu i7-6700k --gpu gtx1080 --arg n=1024
  kernelcast offload examples/offload/gesummv.c --cpu i7-6700k --gpu gtx1080 --arg n=2000 --reps 50 --resident a,b
  kernelcast offload examples/offload/atax.c --kernel row_sums,column_sums --role t=temp --cpu host --devices v100,a100 --arg n=4096

--cpu-opt 0 --cpu-isa baseline --cpu-threads 1 is what a compiler makes of the nest without any flag, on one thread.)";

constexpr std::int64_t default_block = 128;

Weights weights_of(const std::string& text) {
  Weights w{0, 0};
  bool time = false, energy = false;
  for (const std::string& part : comma_list("--weights", text)) {
    const auto [name, value] = name_and_value("--weights", part);
    if (name != "time" && name != "energy") throw UsageError("--weights " + part + ": expected time=W,energy=W");
    (name == "time" ? w.time : w.energy) = real_number("--weights " + name, value);
    (name == "time" ? time : energy) = true;
  }
  if (time != energy) (time ? w.energy : w.time) = 1 - (time ? w.time : w.energy);
  check(w);
  return w;
}

std::optional<double> watts(const char* flag, const std::string& text) {
  if (text.empty()) return std::nullopt;
  const double w = real_number(flag, text);
  if (w < 0) throw UsageError(fmt::format("{} {}: expected 0 or more", flag, text));
  return w;
}

Question question_of(const OffloadFlags& f) {
  Question q;
  q.launch = arguments_of(f.source);
  q.fit_block = f.source.block.empty();
  q.launch.block = f.source.block.empty() ? Dim3{default_block, 1, 1} : sizes("--block", f.source.block);
  if (!f.source.grid.empty()) q.grid = sizes("--grid", f.source.grid);
  if (!f.cpu_threads.empty())
    q.threads = static_cast<int>(std::min<std::int64_t>(whole_number("--cpu-threads", f.cpu_threads, 1), 4096));
  q.reps = static_cast<double>(whole_number("--reps", f.reps, 1));
  if (f.memory != "pageable" && f.memory != "pinned")
    throw UsageError("--host-memory " + f.memory + ": expected pageable or pinned");
  q.memory = f.memory == "pinned" ? HostMemory::pinned : HostMemory::pageable;
  q.overlap = f.overlap;
  q.weights = weights_of(f.weights);
  q.confidence = real_number("--confidence", f.confidence);
  if (q.confidence < 0.5 || q.confidence >= 1)
    throw UsageError("--confidence " + f.confidence + ": expected 0.5 or more, below 1");
  q.cpu_idle = {watts("--cpu-idle-w", f.cpu_idle_w), "--cpu-idle-w"};
  q.gpu_idle = {watts("--gpu-idle-w", f.gpu_idle_w), "--gpu-idle-w"};
  for (Given* g : {&q.cpu_idle, &q.gpu_idle})
    if (!g->watts) g->how.clear();
  return q;
}

CpuSettings settings_of(const OffloadFlags& f) {
  CpuSettings s;
  s.optimization = static_cast<int>(std::min<std::int64_t>(whole_number("--cpu-opt", f.cpu_opt, 0), 9));
  if (s.optimization > 3) throw UsageError("--cpu-opt " + f.cpu_opt + ": expected 0, 1, 2 or 3");
  if (f.cpu_simd != "on" && f.cpu_simd != "off") throw UsageError("--cpu-simd " + f.cpu_simd + ": expected on or off");
  s.simd = f.cpu_simd == "on";
  s.baseline = f.cpu_isa == "baseline";
  if (f.cpu_isa != "native" && !s.baseline) s.made_for = f.cpu_isa;
  if (!f.cpu_threads.empty())
    s.threads = static_cast<int>(std::min<std::int64_t>(whole_number("--cpu-threads", f.cpu_threads, 1), 4096));
  return s;
}

void roles_of(const OffloadFlags& f, Region& region) {
  for (const std::string& text : f.roles) {
    const auto [name, value] = name_and_value("--role", text);
    const auto role = role_named(value);
    if (!role) throw UsageError("--role " + text + ": expected in, out, inout or temp");
    if (!region.roles.emplace(name, *role).second) throw UsageError("--role " + name + " is given twice");
  }
  if (f.resident.empty()) return;
  for (const std::string& name : comma_list("--resident", f.resident)) region.resident.insert(name);
}

/// The argument whose value is the size: as named, or the only integer one.
std::string scale_of(const OffloadFlags& f, const Question& q) {
  if (!f.scale.empty()) {
    if (!q.launch.args.contains(f.scale))
      throw UsageError("--scale " + f.scale + ": --arg gives no value of that name");
    return f.scale;
  }
  std::string only;
  for (const auto& [name, value] : q.launch.args) {
    if (!std::holds_alternative<std::int64_t>(value)) continue;
    if (!only.empty()) return "";
    only = name;
  }
  return only;
}

report::OffloadRow answered(const Source& gpu_source, const Source& cpu_source, const OffloadFlags& f,
                            const Device& cpu, const Device& gpu, const Question& q,
                            std::vector<std::string>& warnings) {
  report::OffloadRow row;
  row.cpu = cpu;
  row.gpu = gpu;
  std::vector<std::string> names, map;
  if (!f.source.kernel.empty()) names = comma_list("--kernel", f.source.kernel);
  if (!f.source.map.empty()) map = comma_list("--map", f.source.map);
  Region region = analysed_region(gpu_source, cpu_source, names, map, cpu, gpu, settings_of(f), warnings);
  roles_of(f, region);
  Evaluator evaluator(region, cpu, gpu);
  row.answer = evaluator.answer(q);
  row.changes = evaluator.changes(q, row.answer);
  row.break_even = evaluator.break_even(q, scale_of(f, q));
  for (const RegionKernel& k : region.kernels)
    for (const CpuLoopCode& l : k.cpu.loops) row.loops.push_back({k.name, l});
  const auto place = [](const auto& l) { return l.loop.line.line; };
  std::stable_sort(row.loops.begin(), row.loops.end(),
                   [&](const auto& a, const auto& b) { return place(a) < place(b); });
  return row;
}

int offload_command(const OffloadFlags& f, const Environment& environment) {
  if (!f.replay.empty()) return offload_replay(f, environment);
  if (f.source.file.empty()) throw UsageError("offload: FILE is required");
  if (f.source.format != "text" && f.source.format != "json")
    throw UsageError("--format " + f.source.format + ": expected text or json");
  if (f.gpu.empty() && f.devices.empty()) throw UsageError("offload: name a GPU with --gpu, or several with --devices");
  const Question q = question_of(f);
  settings_of(f);
  const DeviceCatalog catalog = catalog_of(f.source.devices_dir, environment.devices_dir);
  const Device cpu = catalog.find(f.cpu);
  std::vector<std::string> names;
  if (!f.gpu.empty()) names.push_back(f.gpu);
  if (!f.devices.empty())
    for (const std::string& n : comma_list("--devices", f.devices)) names.push_back(n);
  std::vector<Device> gpus;
  for (const std::string& n : names) {
    gpus.push_back(catalog.find(n));
    check_kinds(cpu, gpus.back());
  }
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
  std::vector<std::string> warnings;
  for (const Device& gpu : gpus) {
    if (environment.progress) progress_line(gpu.name);
    try {
      Question here = q;
      if (f.measure_power) measure_power(f, cpu, gpu, here);
      out.rows.push_back(answered(gpu_source, cpu_source, f, cpu, gpu, here, warnings));
    } catch (const LimitError& e) {
      if (gpus.size() == 1) throw;
      warnings.push_back(gpu.id + ": " + e.what());
    }
  }
  std::stable_sort(out.rows.begin(), out.rows.end(),
                   [](const auto& a, const auto& b) { return *a.answer.gpu.cost.value < *b.answer.gpu.cost.value; });
  const report::Style style(environment.colour && f.source.output.empty());
  write_result(f.source.output,
               f.source.format == "json" ? report::offload_json(out) : report::offload_text(out, style));
  for (const std::string& text : warnings) message("kernelcast: " + text);
  return out.rows.size() == gpus.size() ? done : could_not_analyse;
}

}  // namespace

Action add_offload(Parser& parser) {
  auto f = std::make_shared<OffloadFlags>();
  Flags c = parser.command("offload", "Is the GPU worth it? CPU against GPU, transfers included", offload_examples);
  c.positional("FILE", f->source.file, "C or C++ loop nests for both sides, or the GPU's kernels with --cpu-source");
  c.option("--kernel", "NAME[,NAME...]", f->source.kernel, "Functions in the order in which they run; all without it");
  c.option("--cpu", "DEV", f->cpu, "CPU by id, alias or path of a device file; host without it");
  c.option("--gpu", "DEV", f->gpu, "GPU likewise");
  c.option("--devices", "DEV[,DEV...]", f->devices, "GPUs to rank");
  c.option("--cpu-source", "FILE", f->cpu_source,
           "What the CPU would run, when FILE is OpenCL, CUDA or HIP: functions of the same names");
  c.option("--block", "X[,Y[,Z]]", f->source.block, "Threads of a block on the GPU; 128 without it");
  c.option("--grid", "X[,Y[,Z]]", f->source.grid, "Blocks; not needed for loop nests");
  c.list("--arg", "NAME=VALUE", f->source.args, "Value of a scalar parameter; repeat");
  c.list("--buffer", "NAME=COUNT", f->source.buffers,
         "Elements behind a pointer parameter; without it as far as is touched; repeat");
  c.list("--role", "NAME=ROLE", f->roles,
         "in, out, inout or temp (never moved); without it by loads and stores; repeat");
  c.option("--resident", "NAME[,NAME...]", f->resident, "Buffers that stay on the GPU");
  c.option("--reps", "N", f->reps, "Runs between the transfers; 1 without it");
  c.option("--host-memory", "pageable|pinned", f->memory, "What transfers start from and end in");
  c.flag("--overlap", f->overlap, "Transfers in pieces that overlap with execution, at best");
  c.option("--weights", "time=W,energy=W", f->weights, "Cost = W * seconds + W * joules; time=1,energy=0 without it");
  c.option("--confidence", "P", f->confidence,
           "Below this probability it is too close to call; without it where a tie (10 %) is likelier than a winner");
  c.option("--scale", "NAME", f->scale, "Integer argument to vary for the break-even size; without it the only one");
  c.option("--cpu-threads", "N", f->cpu_threads, "Threads; one a core without it");
  c.option("--cpu-simd", "on|off", f->cpu_simd, "Whether the compiler vectorises");
  c.option("--cpu-opt", "0|1|2|3", f->cpu_opt, "The compiler's -O; 3 without it");
  c.option("--cpu-isa", "native|baseline|CPU", f->cpu_isa,
           "Code for the CPU that runs it, for any x86-64, or for this one, as LLVM names it (skylake-avx512)");
  c.option("--cpu-idle-w", "W", f->cpu_idle_w, "Idle power of the CPU, where its file does not have it");
  c.option("--gpu-idle-w", "W", f->gpu_idle_w, "Idle power of the GPU likewise");
  c.flag("--measure-power", f->measure_power,
         "Read this machine's meters (RAPL, NVML): idle power of both, and of the CPU under a load of ours");
  c.option("--powercap", "DIR", f->powercap, "Where RAPL's counters are; /sys/class/powercap without it");
  c.option("--nvml", "LIBRARY", f->nvml, "NVIDIA's management library; libnvidia-ml.so.1 without it");
  c.option("--map", "i[,j[,k]]", f->source.map,
           "Loops that become work-items, outermost first; threads share the first");
  declare_source(c, f->source);
  c.list("--assume", "KEY=VALUE", f->source.assume,
         "Answer to something analysis cannot know, as output names it; repeat");
  c.option("--replay", "TABLE.csv", f->replay, "Replay the cells of the published experiment instead of a FILE");
  c.option("--examples", "DIR", f->examples, "Folder of the replay's loop nests; without it examples/offload");
  c.option("--format", "text|json", f->source.format, "text or json");
  c.option("-o", "FILE", f->source.output, "Write to FILE, in one step, instead of standard output");
  c.option("--devices-dir", "DIR", f->source.devices_dir, "Folder of device files (also: KERNELCAST_DEVICES)");
  return [f](const Environment& environment) { return offload_command(*f, environment); };
}

}  // namespace kernelcast::cli
