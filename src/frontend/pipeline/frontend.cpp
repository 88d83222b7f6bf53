// The pipeline, one step a line: source -> module -> one kernel, optimised for the target -> target code -> profile.
#include "kernelcast/frontend.h"

#include <algorithm>
#include <filesystem>
#include <memory>
#include <set>

#include "frontend/code/nvidia/nvrtc.h"
#include "frontend/ir/assembly.h"
#include "frontend/ir/builtins.h"
#include "frontend/ir/images.h"
#include "frontend/ir/math_costs.h"
#include "frontend/ir/ptx_calls.h"
#include "frontend/lift/lift.h"
#include "frontend/lower/loop_nest.h"
#include "frontend/lower/optimize.h"
#include "frontend/pipeline/pipeline.h"
#include "frontend/source/compile.h"
#include "frontend/source/compile_guard.h"
#include "frontend/source/compile_language.h"
#include "frontend/source/kernels.h"
#include "frontend/source/pass_messages.h"
#include "kernelcast/error.h"
#include "kernelcast/setting.h"
#include "kernelcast/target_listing.h"
#include "llvm/ADT/StringExtras.h"
#include "llvm/Demangle/Demangle.h"
#include "llvm/IR/InstIterator.h"
#include "llvm/IR/Instructions.h"
#include "llvm/IR/Module.h"
#include "llvm/Support/SHA256.h"
#include "llvm/Support/raw_ostream.h"
#include "llvm/Target/TargetMachine.h"
#include "llvm/Transforms/Utils/Cloning.h"

namespace kernelcast {
namespace {

using namespace frontend;

bool is_loop_nest(Language language) { return language == Language::c || language == Language::cxx; }

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
                     const FrontendOptions& options, const NvrtcAnswer& nvrtc) {
  const std::string& target = options.target;
  if (family_of(target) == TargetFamily::nvidia) {
    TargetCode code = generate_target_code(module, symbol, target, fast_math, options.ptxas, nvrtc.code);
    if (!nvrtc.obstacle.empty())
      code.assumptions.push_back({"NVIDIA's registers of " + symbol + ": " + nvrtc.obstacle,
                                  "those of " + code.registers.method, KC_SETTING(nvrtc)});
    return code;
  }
  auto copy = llvm::CloneModule(module);
  lower_size_markers(*copy);
  return generate_target_code(*copy, symbol, target, fast_math);
}

/// Two modules with the same digest are the same to code generation and to the profile.
std::string digest_of(const llvm::Module& module, const KernelEntry& entry, const Source& source,
                      const FrontendOptions& options, const NvrtcAnswer& nvrtc) {
  std::string text;
  llvm::raw_string_ostream stream(text);
  module.print(stream, nullptr);
  stream << entry.plain << '\n'
         << entry.symbol << '\n'
         << options.target << '\n'
         << source.fast_math << '\n'
         << options.ptxas << '\n'
         << nvrtc.obstacle;
  for (const auto& [name, bytes] : source.tensor_maps) stream << ' ' << name << '=' << bytes;
  if (nvrtc.code)
    stream << nvrtc.code->compiler << ' ' << nvrtc.code->registers << ' ' << nvrtc.code->stack_bytes << ' '
           << nvrtc.code->shared_bytes;
  const auto hash = llvm::SHA256::hash(llvm::arrayRefFromStringRef(stream.str()));
  return llvm::toHex(hash, true);
}

NvrtcAnswer nvrtc_answer(const CompiledUnit& unit, const Source& source, const KernelEntry& entry,
                         const FrontendOptions& options) {
  if (options.nvrtc.empty() || family_of(options.target) != TargetFamily::nvidia) return {};
  return ask_nvrtc(options.nvrtc, source, unit.language, entry, options.target);
}

CompiledUnit unit_of(const Source& source, const FrontendOptions& options, const std::string& kernel) {
  if (resolve_language(source) == Language::ptx) {
    return lift_ptx(source, options.target, options.capability.empty() ? options.target : options.capability, kernel);
  }
  return compile_unit(source, options.target, options.time_limit_s, kernel);
}

/// Functions that the kernel calls and whose bodies are in another file, with the first place of a call.
struct MissingBodies {
  std::set<std::string> names;  // plain
  std::string first;            // "f(float)' (a.cu:12)"
};

MissingBodies missing_bodies(const llvm::Function& kernel, Language language) {
  MissingBodies out;
  for (const llvm::Instruction& i : llvm::instructions(kernel)) {
    const auto* call = llvm::dyn_cast<llvm::CallBase>(&i);
    const llvm::Function* f = call == nullptr ? nullptr : call->getCalledFunction();
    if (f == nullptr || !f->isDeclaration() || f->isIntrinsic() || ptx_instruction(i)) continue;
    const std::string symbol = f->getName().str();
    if (symbol.starts_with("kc_")) continue;  // marks of a work-item and its barriers, for the CPU's side
    const bool of_ir = language == Language::llvm_ir && !is_runtime_function(symbol) && !id_value(i);
    if (!(f->hasFnAttribute(without_body_key) || of_ir) || is_costed_function(symbol)) continue;
    const std::string spoken = without_parameters(llvm::demangle(symbol));
    const std::size_t scope = spoken.rfind("::");
    out.names.insert(scope == std::string::npos ? spoken : spoken.substr(scope + 2));
    if (!out.first.empty()) continue;
    out.first = "'" + llvm::demangle(symbol) + "'";
    if (const llvm::DebugLoc& at = i.getDebugLoc())
      out.first += " (" + at->getFilename().str() + ":" + std::to_string(at.getLine()) + ")";
  }
  return out;
}

/// Thrown inside: the analysis begins again with these files.
struct BodiesElsewhere {
  std::vector<std::string> files;
};

void look_for_bodies(const llvm::Function& kernel, const CompiledUnit& unit, const Source& source,
                     const KernelEntry& entry) {
  const MissingBodies missing = missing_bodies(kernel, unit.language);
  if (missing.names.empty()) return;
  std::vector<std::string> files;
  if (unit.language != Language::llvm_ir) files = files_with_bodies(source, unit.language, missing.names);
  std::erase_if(files,
                [&](const std::string& f) { return source.text.find("#include \"" + f + "\"") != std::string::npos; });
  if (!files.empty()) throw BodiesElsewhere{std::move(files)};
  throw UserError(source.path + ": kernel '" + entry.demangled + "' calls " + missing.first +
                  ", which has no body here, nor in the files beside the source and in the folders of " KC_SETTING(I) ": give the "
                  "folder of the file that has it by " KC_SETTING(I) ", or a file that includes both");
}

/// `assembly`: where the text of the code goes; null: nowhere.
Analysis analyze_unit(CompiledUnit unit, const Source& source, const FrontendOptions& options, std::string* assembly) {
  name_stage("the analysis, or LLVM's optimizer or code generator,");
  const TargetFamily family = family_of(options.target);
  llvm::Module& module = *unit.module;
  const auto kernels = list_kernels(module, unit.language);
  if (kernels.empty()) {
    std::string text = ": no kernel found (a __global__ or __kernel function, or in C a function with a loop)";
    for (const std::string& note : unit.notes) text += "\nnote: " + note;
    throw UserError(source.path + text + about_headers(unit));
  }
  const KernelEntry entry = picked(unit, kernels, options.kernel);
  MappedNest nest;
  if (is_loop_nest(unit.language)) nest = map_loop_nest(module, entry.symbol, options.map, unit.pragmas, family);
  lower_opencl_builtins(module, family);
  if (family == TargetFamily::nvidia) lift_asm_statements(module);
  lower_image_accesses(module, family);
  auto library_note = link_opencl_library(module, family);
  const NvrtcAnswer nvrtc = nvrtc_answer(unit, source, entry, options);
  auto machine = make_target_machine(options.target, source.fast_math);
  const PassMessages messages(*unit.context);
  optimize_for_target(module, entry.symbol, *machine);
  messages.refuse_errors();
  look_for_bodies(*module.getFunction(entry.symbol), unit, source, entry);
  mark_regions(*module.getFunction(entry.symbol), options.regions);
  Analysis result;
  result.headers = std::move(unit.headers);
  result.consulted = std::move(unit.consulted);
  // What our preprocessor does not see.
  if (nvrtc.code && source.text.find("__CUDACC_RTC__") != std::string::npos) result.consulted.reset();
  result.diagnostics = std::move(unit.diagnostics);
  result.diagnostics.insert(result.diagnostics.end(), messages.warnings().begin(), messages.warnings().end());
  if (options.known && !options.program && nest.axes == 0) {
    result.digest = digest_of(module, entry, source, options, nvrtc);
    if (const auto profile = options.known(result.digest)) {
      result.profile = *profile;
      return result;
    }
  }
  const TargetCode code = make_code(module, entry.symbol, source.fast_math, options, nvrtc);
  if (assembly != nullptr) *assembly = code.assembly;
  build_profile(*module.getFunction(entry.symbol), code, source.tensor_maps, options.program, result);
  result.profile.kernel = entry.plain;
  result.profile.target = options.target;
  result.profile.mapped_axes = nest.axes;
  result.profile.mapped_extent = std::move(nest.extent);
  result.profile.notes = unit.notes;
  if (library_note) result.profile.notes.push_back(*library_note);
  return result;
}

struct AnalysisWithCode {
  Analysis analysis;
  std::string assembly;
};

std::shared_ptr<AnalysisWithCode> analyze_guarded(const Source& source, const FrontendOptions& options,
                                                  bool with_code) {
  auto result = std::make_shared<AnalysisWithCode>();
  GuardLimits limits;
  limits.time_s = options.time_limit_s;
  run_guarded(
      [result, source, options, with_code] {
        constexpr int most_rounds = 4;  // bodies may call others that are missing, too
        Source whole = source;
        std::vector<std::string> used;
        for (int round = 1;; ++round) {
          try {
            result->analysis = analyze_unit(unit_of(whole, options, options.kernel), whole, options,
                                            with_code ? &result->assembly : nullptr);
            break;
          } catch (const BodiesElsewhere& b) {
            if (round == most_rounds)
              throw LimitError(source.path + ": bodies are missing in too long a chain of files");
            whole = with_bodies(std::move(whole), b.files);
            used.insert(used.end(), b.files.begin(), b.files.end());
          }
        }
        for (const std::string& file : used)
          result->analysis.profile.notes.push_back("bodies of functions that the source only declares are taken from " +
                                                   file);
      },
      limits);
  return result;
}

/// Instructions and labels, with the places that `.loc` directives give.
std::vector<TargetLine> lines_of_code(std::string_view text) {
  std::vector<TargetLine> lines;
  std::string file;
  int line = 0;
  while (!text.empty()) {
    const std::size_t end = text.find('\n');
    const std::string_view whole = text.substr(0, end), code = trim(whole);
    text.remove_prefix(end == std::string_view::npos ? text.size() : end + 1);
    if (code.starts_with(".loc")) {
      const std::size_t comment = std::min(code.find("//"), code.find(';'));
      file = comment == std::string_view::npos ? std::string() : path_in_comment(code.substr(comment));
      std::string_view numbers = trim(code.substr(4));
      numbers = trim(numbers.substr(std::min(numbers.find_first_of(" \t"), numbers.size())));
      line = 0;
      for (const char c : numbers) {
        if (c < '0' || c > '9' || line > (1 << 24)) break;
        line = 10 * line + (c - '0');
      }
      continue;
    }
    const bool label = code.ends_with(':') || code.find(":  ") != std::string_view::npos;
    const bool skipped = code.empty() || code.front() == ';' || code.starts_with("//") || code == "{" || code == "}" ||
                         code == "(" || code == ")" || (code.front() == '.' && !label);
    if (skipped) continue;
    if (label) {
      lines.push_back({std::string(code.substr(0, code.find_first_of(" \t"))), {}, 0});
    } else {
      lines.push_back({"  " + std::string(code), line > 0 ? file : std::string(), line});
    }
  }
  return lines;
}

}  // namespace

Analysis analyze(const Source& source, const FrontendOptions& options) {
  return std::move(analyze_guarded(source, options, false)->analysis);
}

std::vector<TargetLine> target_listing(const Source& source, const FrontendOptions& options) {
  return lines_of_code(analyze_guarded(source, options, true)->assembly);
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
