// The pipeline, one step a line: source -> module -> one kernel, optimized for the target -> target code -> profile.
#include "kernelcast/frontend.h"

#include <algorithm>
#include <filesystem>
#include <memory>

#include "frontend/code/nvidia/nvrtc.h"
#include "frontend/lift/lift.h"
#include "frontend/lower/lower_kernel.h"
#include "frontend/pipeline/pipeline.h"
#include "frontend/source/compile.h"
#include "frontend/source/compile_guard.h"
#include "frontend/source/compile_language.h"
#include "frontend/source/kernels.h"
#include "frontend/source/pass_messages.h"
#include "kernelcast/error.h"
#include "kernelcast/setting.h"
#include "llvm/ADT/StringExtras.h"
#include "llvm/IR/Module.h"
#include "llvm/Support/SHA256.h"
#include "llvm/Support/raw_ostream.h"

namespace kernelcast {
namespace {

using namespace frontend;

/// Which files were not looked at: in C and C++ only the source's own functions are kernels.
std::string about_headers(const CompiledUnit& unit) {
  if (!is_loop_nest(unit.language)) return "";
  std::string names;
  for (const std::string& header : unit.headers)
    if (!in_system_folder(header))
      names += (names.empty() ? "" : ", ") + std::filesystem::path(header).lexically_normal().string();
  if (names.empty()) return "";
  return "\nnote: functions of included files are not looked at; give the file itself, with " KC_SETTING(lang) ": " +
         names;
}

KernelEntry picked(const CompiledUnit& unit, const std::vector<KernelEntry>& kernels, const std::string& wanted) {
  const std::string& name = unit.wanted_symbol.empty() ? wanted : unit.wanted_symbol;
  const auto meant = [&name](const KernelEntry& k) { return means_kernel(k, name); };
  try {
    return pick_kernel(kernels, name);
  } catch (const UsageError& e) {
    if (name.empty() || std::ranges::any_of(kernels, meant)) throw;
    throw UsageError(message_of(e) + about_headers(unit));
  }
}

TargetCode make_code(const llvm::Module& module, const std::string& symbol, bool fast_math,
                     const FrontendOptions& options, const NvrtcReport& nvrtc) {
  TargetCode code = generate_target_code(module, symbol, options.target, fast_math, options.ptxas, nvrtc.code);
  if (!nvrtc.obstacle.empty())
    code.assumptions.push_back({"NVIDIA's registers of " + symbol + ": " + nvrtc.obstacle,
                                "those of " + code.registers.method, KC_SETTING(nvrtc)});
  return code;
}

/// Two modules with the same digest are the same to code generation and to the profile.
std::string digest_of(const llvm::Module& module, const KernelEntry& entry, const Source& source,
                      const FrontendOptions& options, const NvrtcReport& nvrtc) {
  std::string text;
  llvm::raw_string_ostream stream(text);
  module.print(stream, nullptr);
  stream << entry.plain << '\n'
         << entry.symbol << '\n'
         << options.target << '\n'
         << source.fast_math << '\n'
         << options.ptxas << '\n'
         << nvrtc.obstacle;
  for (const TensorBox& b : source.tensor_maps) stream << ' ' << b.parameter << '=' << b.bytes << '/' << b.row_bytes;
  if (nvrtc.code)
    stream << nvrtc.code->compiler << ' ' << nvrtc.code->registers << ' ' << nvrtc.code->stack_bytes << ' '
           << nvrtc.code->shared_bytes;
  const auto hash = llvm::SHA256::hash(llvm::arrayRefFromStringRef(stream.str()));
  return llvm::toHex(hash, true);
}

NvrtcReport nvrtc_report(const CompiledUnit& unit, const Source& source, const KernelEntry& entry,
                         const FrontendOptions& options) {
  if (options.nvrtc.empty() || family_of(options.target) != TargetFamily::nvidia) return {};
  return ask_nvrtc(options.nvrtc, source, unit.language, entry, options.target);
}

CompiledUnit unit_of(const Source& source, const FrontendOptions& options, const std::string& kernel) {
  if (resolve_language(source) == Language::ptx) {
    return lift_ptx(source, options.target, options.capability.empty() ? options.target : options.capability, kernel);
  }
  if (options.capability.empty() || options.capability == source.capability)
    return compile_unit(source, options.target, options.time_limit_s, kernel);
  Source of_device = source;
  of_device.capability = options.capability;
  return compile_unit(of_device, options.target, options.time_limit_s, kernel);
}

/// Thrown inside: the analysis begins again with the files that have these bodies, if there are any.
struct BodiesElsewhere {
  MissingBodies missing;
  Language language;
  std::string kernel;              // demangled
  std::vector<std::string> notes;  // of the unit
};

std::vector<std::string> files_for(const BodiesElsewhere& b, const Source& source) {
  std::vector<std::string> files;
  if (b.language == Language::ptx)
    throw UserError(source.path + ": kernel '" + b.kernel + "' calls " + b.missing.first +
                    ", which has no body in this PTX: give PTX that has it, as of a source that includes both files");
  if (b.language != Language::llvm_ir) files = files_with_bodies(source, b.language, b.missing.names);
  std::erase_if(files,
                [&](const std::string& f) { return source.text.find("#include \"" + f + "\"") != std::string::npos; });
  if (!files.empty()) return files;
  std::string text =
      source.path + ": kernel '" + b.kernel + "' calls " + b.missing.first +
      ", which has no body here, nor in the files beside the source and in the folders of " KC_SETTING(I) ": give the "
      "folder of the file that has it by " KC_SETTING(I) ", or a file that includes both";
  for (const std::string& note : b.notes) text += "\nnote: " + note;  // an error may be why it has none
  throw UserError(text);
}

KernelEntry kernel_of(const CompiledUnit& unit, const Source& source, const FrontendOptions& options) {
  const auto kernels = list_kernels(*unit.module, unit.language);
  if (!kernels.empty()) return picked(unit, kernels, options.kernel);
  std::string text = ": no kernel found (a __global__ or __kernel function, or in C a function with a loop)";
  for (const std::string& note : unit.notes) text += "\nnote: " + note;
  throw UserError(source.path + text + about_headers(unit));
}

/// Through the rooms in order: source, lower, code, and what the pipeline makes of them.
Analysis analyze_unit(CompiledUnit unit, const Source& source, const FrontendOptions& options) {
  name_stage("the analysis, or LLVM's optimizer or code generator,");
  const KernelEntry entry = kernel_of(unit, source, options);
  const PassMessages messages(*unit.context);
  LoweredKernel lowered = lower_kernel(unit, entry.symbol, options.target, source.fast_math, options.map,
                                       options.cluster, options.capability);
  messages.refuse_errors();
  if (!lowered.missing.names.empty())
    throw BodiesElsewhere{lowered.missing, unit.language, entry.demangled, unit.notes};
  const NvrtcReport nvrtc = nvrtc_report(unit, source, entry, options);
  const llvm::Module& module = *unit.module;
  llvm::Function& kernel = *unit.module->getFunction(entry.symbol);
  mark_regions(kernel, options.regions);
  Analysis result;
  result.headers = std::move(unit.headers);
  result.consulted = std::move(unit.consulted);
  // What our preprocessor does not see.
  if (nvrtc.code && source.text.find("__CUDACC_RTC__") != std::string::npos) result.consulted.reset();
  result.diagnostics = std::move(unit.diagnostics);
  result.diagnostics.insert(result.diagnostics.end(), messages.warnings().begin(), messages.warnings().end());
  if (options.known && !options.program && lowered.nest.axes == 0) {
    result.digest = digest_of(module, entry, source, options, nvrtc);
    if (const auto profile = options.known(result.digest)) {
      result.profile = *profile;
      return result;
    }
  }
  const TargetCode code = make_code(module, entry.symbol, source.fast_math, options, nvrtc);
  if (options.listing) result.listing = lines_of_code(code.assembly);
  build_profile(kernel, code, source.tensor_maps, options.program, result);
  result.profile.kernel = entry.plain;
  result.profile.target = options.target;
  result.profile.mapped_axes = lowered.nest.axes;
  result.profile.mapped_extent = std::move(lowered.nest.extent);
  result.profile.notes = unit.notes;
  if (lowered.library_note) result.profile.notes.push_back(*lowered.library_note);
  return result;
}

}  // namespace

Analysis analyze(const Source& source, const FrontendOptions& options) {
  auto result = std::make_shared<Analysis>();
  GuardLimits limits;
  limits.time_s = options.time_limit_s;
  run_guarded(
      [result, source, options] {
        constexpr int most_rounds = 4;  // bodies may call others that are missing, too
        Source whole = source;
        std::vector<std::string> used;
        for (int round = 1;; ++round) {
          try {
            *result = analyze_unit(unit_of(whole, options, options.kernel), whole, options);
            break;
          } catch (const BodiesElsewhere& b) {
            if (round == most_rounds)
              throw LimitError(source.path + ": bodies are missing in too long a chain of files");
            const std::vector<std::string> files = files_for(b, whole);
            whole = with_bodies(std::move(whole), files);
            used.insert(used.end(), files.begin(), files.end());
          }
        }
        for (const std::string& file : used)
          result->profile.notes.push_back("bodies of functions that the source only declares are taken from " + file);
      },
      limits);
  return std::move(*result);
}

std::vector<std::string> kernels_in(const Source& source, const FrontendOptions& options) {
  auto names = std::make_shared<std::vector<std::string>>();
  GuardLimits limits;
  limits.time_s = options.time_limit_s;
  run_guarded(
      [names, source, options] {
        const CompiledUnit unit = unit_of(source, options, "");
        for (const KernelEntry& k : list_kernels(*unit.module, unit.language)) names->push_back(k.demangled);
      },
      limits);
  return std::move(*names);
}

}  // namespace kernelcast
