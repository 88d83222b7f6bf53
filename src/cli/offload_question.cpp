// Flags of `offload`, read strictly.
#include <fmt/format.h>

#include <algorithm>

#include "cli/flag_values.h"
#include "cli/offload.h"
#include "cli/sources.h"
#include "kernelcast/error.h"

namespace kernelcast::cli {

namespace {

constexpr std::int64_t default_block = 128;

offload::Weights weights_of(const std::string& text) {
  offload::Weights w{0, 0};
  bool time = false, energy = false;
  for (const std::string& part : comma_list("--weights", text)) {
    const auto [name, value] = name_and_value("--weights", part);
    if (name != "time" && name != "energy") throw UsageError("--weights " + part + ": expected time=W,energy=W");
    bool& given = name == "time" ? time : energy;
    if (given) throw UsageError("--weights " + text + ": " + name + " is given twice");
    given = true;
    (name == "time" ? w.time : w.energy) = real_number("--weights " + name, value);
  }
  if (time != energy) (time ? w.energy : w.time) = 1 - (time ? w.time : w.energy);
  offload::check(w);
  return w;
}

std::optional<double> watts(const char* flag, const std::string& text) {
  if (text.empty()) return std::nullopt;
  const double w = real_number(flag, text);
  if (w < 0) throw UsageError(fmt::format("{} {}: expected 0 or more", flag, text));
  return w;
}

int threads_of(const OffloadFlags& f) {
  if (f.cpu_threads.empty()) return 0;
  return static_cast<int>(std::min<std::int64_t>(whole_number("--cpu-threads", f.cpu_threads, 1), 4096));
}

/// --model and --faults. Flags that the model of 2017 has no place for are not passed over in silence.
void set_model(const OffloadFlags& f, offload::OffloadRequest& q) {
  using offload::DecisionModel;
  bool known = false;
  for (const DecisionModel m : {DecisionModel::kernelcast, DecisionModel::offload_2017}) {
    if (f.model != offload::name_of(m)) continue;
    q.model = m;
    known = true;
  }
  if (!known) throw UsageError("--model " + f.model + ": expected kernelcast or offload-2017");
  if (q.model == DecisionModel::kernelcast) {
    if (!f.faults.empty()) throw UsageError("--faults is of the published model: add --model offload-2017");
    return;
  }
  if (!f.faults.empty()) q.faults = offload::faults_2017(comma_list("--faults", f.faults));
  const OffloadFlags d;
  const std::pair<const char*, bool> others[] = {{"--overlap, it has none", f.overlap},
                                                 {"--confidence, it knows no error", f.confidence != d.confidence},
                                                 {"--cpu-threads, it credits all cores", !f.cpu_threads.empty()}};
  for (const auto& [flag, given] : others)
    if (given) throw UsageError(std::string("--model offload-2017 takes no ") + flag);
}

}  // namespace

offload::OffloadRequest question_of(const OffloadFlags& f) {
  offload::OffloadRequest q;
  set_model(f, q);
  q.launch = arguments_of(f.source);
  q.fit_block = f.source.block.empty();
  q.launch.block = f.source.block.empty() ? Dim3{default_block, 1, 1} : sizes("--block", f.source.block);
  if (!f.source.grid.empty()) q.grid = sizes("--grid", f.source.grid);
  q.threads = threads_of(f);
  q.reps = static_cast<double>(whole_number("--reps", f.reps, 1));
  if (f.memory != "pageable" && f.memory != "pinned")
    throw UsageError("--host-memory " + f.memory + ": expected pageable or pinned");
  q.memory = f.memory == "pinned" ? offload::HostMemory::pinned : offload::HostMemory::pageable;
  q.overlap = f.overlap;
  q.weights = weights_of(f.weights);
  const auto reading = busy_power_named(f.busy_power);
  if (!reading) throw UsageError("--busy-power " + f.busy_power + ": expected tdp-times-0.6 or tdp-over-0.6");
  q.busy_power = *reading;
  q.confidence = real_number("--confidence", f.confidence);
  if (q.confidence < 0.5 || q.confidence >= 1)
    throw UsageError("--confidence " + f.confidence + ": expected 0.5 or more, below 1");
  q.cpu_idle = {watts("--cpu-idle-w", f.cpu_idle_w), "--cpu-idle-w"};
  q.gpu_idle = {watts("--gpu-idle-w", f.gpu_idle_w), "--gpu-idle-w"};
  for (offload::Given* g : {&q.cpu_idle, &q.gpu_idle})
    if (!g->watts) g->how.clear();
  return q;
}

int optimization_of(const OffloadFlags& flags, int without) {
  if (flags.cpu_opt.empty()) return without;
  const std::int64_t level = whole_number("--cpu-opt", flags.cpu_opt, 0);
  if (level > 3) throw UsageError("--cpu-opt " + flags.cpu_opt + ": expected 0, 1, 2 or 3");
  return static_cast<int>(level);
}

CpuSettings settings_of(const OffloadFlags& f) {
  CpuSettings s;
  s.optimization = optimization_of(f, s.optimization);
  if (f.cpu_simd != "on" && f.cpu_simd != "off") throw UsageError("--cpu-simd " + f.cpu_simd + ": expected on or off");
  s.simd = f.cpu_simd == "on";
  s.baseline = f.cpu_isa == "baseline";
  if (f.cpu_isa != "native" && !s.baseline) s.made_for = f.cpu_isa;
  s.threads = threads_of(f);
  s.compile_seconds = compile_seconds_of(f.source);
  return s;
}

void roles_of(const OffloadFlags& f, offload::Region& region) {
  for (const std::string& text : f.roles) {
    const auto [name, value] = name_and_value("--role", text);
    const auto role = offload::role_named(value);
    if (!role) throw UsageError("--role " + text + ": expected in, out, inout or temp");
    if (!region.roles.emplace(name, *role).second) throw UsageError("--role " + name + " is given twice");
  }
  if (f.resident.empty()) return;
  for (const std::string& name : comma_list("--resident", f.resident)) region.resident.insert(name);
}

std::string scale_of(const OffloadFlags& f, const offload::OffloadRequest& q) {
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

}  // namespace kernelcast::cli
