// `offload --measure-power`: what the meters of this machine say, for devices that are in it.
#include <algorithm>
#include <thread>

#include "cli/offload.h"
#include "io/text.h"
#include "kernelcast/power.h"

namespace kernelcast::cli {
namespace {

constexpr double seconds = 1;  // of each measurement

offload::Given given(power::Power p) { return {p.watts, std::move(p.how)}; }

}  // namespace

void measure_power(const OffloadFlags& f, const Device& cpu, const Device& gpu, offload::OffloadRequest& q) {
  if (cpu.codegen_target != "host") {
    const std::string why = "meters are read for --cpu host or a device file that `probe` wrote here";
    if (!q.cpu_idle.watts) q.cpu_idle.how = why;
  } else {
    if (!q.cpu_idle.watts) q.cpu_idle = given(power::rapl_power(f.powercap, seconds, power::rest));
    if (q.cpu_idle.watts) {
      const int most = static_cast<int>(std::max(1U, std::thread::hardware_concurrency()));
      const int threads = q.threads > 0 ? std::min(q.threads, most) : most;
      q.cpu_busy = given(power::rapl_power(f.powercap, seconds, [&](double s) { power::compute(s, threads); }));
      if (q.cpu_busy.watts)
        q.cpu_busy.how += ", multiply-adds on " + std::to_string(threads) + " " + plural(threads, "thread");
    }
  }
  if (q.gpu_idle.watts) return;
  std::vector<std::string> names = gpu.aliases;
  names.push_back(gpu.name);
  q.gpu_idle = given(power::nvml_power(f.nvml, names, seconds));
}

}  // namespace kernelcast::cli
