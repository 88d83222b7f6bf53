// Both sides of a region from source.
#include <algorithm>
#include <memory>

#include "cli/offload.h"
#include "forecast/code_target.h"
#include "kernelcast/cpu_code.h"
#include "kernelcast/error.h"

namespace kernelcast::cli {
namespace {

void keep(std::vector<std::string>& warnings, const std::vector<Diagnostic>& diagnostics) {
  for (const Diagnostic& d : diagnostics)
    if (std::find(warnings.begin(), warnings.end(), d.text) == warnings.end()) warnings.push_back(d.text);
}

}  // namespace

offload::Region analysed_region(const Source& gpu_source, const Source& cpu_source,
                                const std::vector<std::string>& names, const std::vector<std::string>& map,
                                const Device& cpu, const Device& gpu, const CpuSettings& settings,
                                std::vector<std::string>& warnings) {
  if (!is_loop_nest(cpu_source)) {
    throw UsageError(cpu_source.path +
                     " is no C or C++ loop nest: give what the CPU would run instead with --cpu-source FILE.c");
  }
  FrontendOptions options;
  generate_for(gpu, options);
  options.time_limit_s = settings.compile_seconds;
  if (is_loop_nest(gpu_source)) options.map = map;
  std::vector<std::string> kernels = names;
  if (kernels.empty()) {
    for (const std::string& n : kernels_in(gpu_source, options)) kernels.push_back(n.substr(0, n.find('(')));
    if (kernels.empty()) throw UserError(gpu_source.path + ": no kernel found");
  }
  offload::Region region;
  for (const std::string& name : kernels) {
    offload::RegionKernel k;
    k.name = name;
    options.kernel = name;
    options.program = true;
    Analysis on_gpu = analyze(gpu_source, options);
    keep(warnings, on_gpu.diagnostics);
    k.gpu = std::make_shared<const KernelProfile>(std::move(on_gpu.profile));
    k.program = std::move(on_gpu.program);
    k.no_program = std::move(on_gpu.no_program);
    CpuCodeOptions of_cpu;
    of_cpu.kernel = name;
    of_cpu.cpu = cpu.codegen_target;
    of_cpu.optimization = settings.optimization;
    of_cpu.simd = settings.simd;
    of_cpu.baseline = settings.baseline;
    of_cpu.made_for = settings.made_for;
    of_cpu.time_limit_s = settings.compile_seconds;
    of_cpu.parallel = map;
    of_cpu.threads = settings.threads != 1 && cpu.require(Field::compute_units) > 1;
    of_cpu.fp32_fma_cycles = cpu.get_or(Field::latency_fp32_cycles, 0);
    of_cpu.fp64_fma_cycles = cpu.get_or(Field::latency_fp64_cycles, 0);
    of_cpu.issue_width = cpu.get_or(Field::cpu_issue_width, 0);
    of_cpu.scalar_fma_per_cycle = cpu.get_or(Field::cpu_scalar_fma_per_core, 0);
    of_cpu.gather_element_cycles = cpu.get_or(Field::cpu_gather_element_cycles, 0);
    of_cpu.scatter_element_cycles = cpu.get_or(Field::cpu_scatter_element_cycles, 0);
    k.cpu = analyze_cpu(cpu_source, of_cpu);
    keep(warnings, k.cpu.diagnostics);
    region.kernels.push_back(std::move(k));
  }
  return region;
}

}  // namespace kernelcast::cli
