// The steps: refuse what is no source; choose language, headers and arguments; run clang on a guarded thread; judge its
// errors against the kernel that is wanted; run it again when a template has to be instantiated or an older OpenCL fits
// better.
#include "frontend/source/compile.h"

#include <algorithm>
#include <cctype>
#include <set>

#include "frontend/source/compile_clang.h"
#include "frontend/source/compile_guard.h"
#include "frontend/source/compile_headers.h"
#include "frontend/source/compile_language.h"
#include "frontend/source/host_code.h"
#include "frontend/source/kernels.h"
#include "frontend/source/nvcc_text.h"
#include "frontend/source/unit_memory.h"
#include "kernelcast/error.h"
#include "kernelcast/setting.h"
#include "llvm/IR/Instructions.h"
#include "llvm/IR/LLVMContext.h"
#include "llvm/IR/Module.h"
#include "llvm/Support/raw_ostream.h"

namespace kernelcast::frontend {

CompiledUnit::CompiledUnit() = default;
CompiledUnit::CompiledUnit(CompiledUnit&&) noexcept = default;
CompiledUnit& CompiledUnit::operator=(CompiledUnit&&) noexcept = default;
CompiledUnit::~CompiledUnit() {
  if (module && before_end != nullptr) before_end(*module);
}

namespace {

constexpr std::size_t kLargestSource = std::size_t{16} << 20;
constexpr std::size_t kMostErrors = 20;
constexpr const char* kMoreExtensions = "-cl-ext=+cl_khr_fp16,+cl_khr_subgroups,+__opencl_c_subgroups";

void refuse_what_is_no_source(const Source& source, Language language) {
  if (language == Language::llvm_ir) return;
  if (looks_binary(source.text))
    throw UserError(source.path + ": this is no text: it has bytes that source code does not have");
  if (source.text.size() > kLargestSource) {
    throw LimitError(source.path + ": the source has " + std::to_string(source.text.size() >> 20) + " MiB; at most " +
                     std::to_string(kLargestSource >> 20) +
                     " MiB are read: reduce the file to the kernel and what it needs");
  }
}

/// CUDA and HIP as Clang takes them.
std::string respelled_cuda(std::string_view text) {
  constexpr std::string_view words[] = {"__shared__", "asm", "<<", "pragma"};
  if (std::ranges::none_of(words, [&](auto word) { return text.find(word) != std::string_view::npos; }))
    return std::string(text);
  return child_launches_as_calls(as_clang_spells(text));
}

ClangJob make_job(const Source& source, Language language, const std::string& target) {
  ClangJob job;
  job.language = language;
  job.main_file = source.path == "-" ? "<stdin>" : source.path;
  const bool cuda = language == Language::cuda || language == Language::hip;
  job.host_code_may_fail = cuda;
  job.headers = source.headers;
  job.readable_dirs = source.readable_dirs;
  const bool host = is_loop_nest(language);
  job.text = host ? rename_loop_pragmas(source.text) : cuda ? respelled_cuda(source.text) : source.text;
  if (cuda) {
    job.respell = respelled_cuda;
    for (FileText& header : job.headers) header.text = respelled_cuda(header.text);
  }
  std::vector<std::string> preludes;
  if (cuda) {
    std::string words = job.text;  // macros of the command line may name what the prelude declares
    for (const auto& define : source.defines) words += "\n" + define;
    preludes = preludes_for(words);
  } else if (language == Language::opencl) {
    preludes = opencl_preludes_for(source.text);
  }
  job.arguments = compiler_arguments(source, language, target, job.main_file, preludes).arguments;
  return job;
}

/// Symbols of functions that the kernels (all, or those that `wanted` means) reach through calls or addresses.
std::set<std::string> reachable_symbols(const llvm::Module& module, std::span<const KernelEntry> kernels,
                                        const std::string& wanted) {
  std::set<std::string> reached;
  std::vector<const llvm::Function*> work;
  for (const auto& kernel : kernels) {
    if (!wanted.empty() && !means_kernel(kernel, wanted)) continue;
    work.push_back(module.getFunction(kernel.symbol));
  }
  while (!work.empty()) {
    const llvm::Function* function = work.back();
    work.pop_back();
    if (function == nullptr || !reached.insert(function->getName().str()).second) continue;
    for (const auto& block : *function) {
      for (const auto& instruction : block) {
        for (const llvm::Use& operand : instruction.operands()) {
          if (const auto* used = llvm::dyn_cast<llvm::Function>(operand->stripPointerCasts())) work.push_back(used);
        }
      }
    }
  }
  return reached;
}

/// Nothing where all headers of the distribution are there.
std::string note_of_missing_packages() {
  std::string names;
  for (const std::string& package : missing_packages()) names += (names.empty() ? "" : " and ") + package;
  return names.empty() ? "" : "headers of the distribution are not on this machine: install " + names;
}

std::string notes_of_missing_headers(const ClangJob& job, const ClangResult& result) {
  std::string text;
  const std::string searched = job.readable_dirs.empty() ? "" : " in the folders of " KC_SETTING(restrict_includes);
  for (const auto& header : result.missing_headers) {
    text += "note: the header '" + header + "' was not found" + searched +
            " and was skipped; give its folder by " KC_SETTING(I) "\n";
  }
  if (const std::string packages = note_of_missing_packages(); !text.empty() && !packages.empty())
    text += "note: " + packages + "\n";
  return text;
}

bool in_device_code(const ClangError& error) { return error.where != ClangError::Where::host_code; }

std::string rendered_errors(const ClangJob& job, const ClangResult& result, bool only_device_code) {
  std::string text;
  std::size_t count = 0;
  only_device_code = only_device_code && std::any_of(result.errors.begin(), result.errors.end(), in_device_code);
  for (const auto& error : result.errors) {
    if (only_device_code && !in_device_code(error)) continue;
    if (count++ < kMostErrors) text += error.text;
  }
  if (count > kMostErrors) text += "... and " + std::to_string(count - kMostErrors) + " more errors\n";
  text += notes_of_missing_headers(job, result);
  if (job.language == Language::opencl && (text.find("undeclared identifier") != std::string::npos ||
                                           text.find("unknown type name") != std::string::npos)) {
    text +=
        "note: if the host program builds this source with options (clBuildProgram: " KC_SETTING(D) " NAME=VALUE, " KC_SETTING(I) " DIR), give the "
        "same ones here\n";
  }
  if (text.find("in namespace 'std'") != std::string::npos)
    text += "note: C++ is read as gnu++17 unless " KC_SETTING(std) " gives another, such as c++20\n";
  while (text.ends_with('\n')) text.pop_back();
  return text;
}

/// Which kernels can be asked for in spite of the errors.
std::string note_of_good_kernels(const ClangResult& result, const std::vector<KernelEntry>& kernels) {
  constexpr std::size_t most = 20;
  std::string names;
  std::size_t good = 0;
  for (const KernelEntry& kernel : kernels) {
    const auto reached = reachable_symbols(*result.module, {&kernel, 1}, "");
    if (std::any_of(result.broken_symbols.begin(), result.broken_symbols.end(),
                    [&](const auto& name) { return reached.contains(name); }))
      continue;
    if (good++ < most) names += (names.empty() ? "" : ", ") + kernel.demangled;
  }
  if (good > most) names += " and " + std::to_string(good - most) + " more";
  return names.empty() ? "" : "\nnote: kernels without errors, for " KC_SETTING(kernel) ": " + names;
}

bool holds_kernel(const ClangResult& result, Language language, const std::string& wanted) {
  if (result.module == nullptr) return false;
  const auto kernels = list_kernels(*result.module, language);
  return std::any_of(kernels.begin(), kernels.end(), [&](const auto& kernel) { return means_kernel(kernel, wanted); });
}

std::vector<std::string> templates_without_instance(const ClangJob& job, const ClangResult& result) {
  std::vector<std::string> names;
  if (!job.host_code_may_fail || result.module == nullptr) return names;
  for (const auto& name : result.kernel_templates) {
    const bool listed = std::find(names.begin(), names.end(), name) != names.end();
    if (!listed && !holds_kernel(result, job.language, name)) names.push_back(name);
  }
  return names;
}

/// A file whose kernels all are under conditions that do not hold: where. Errors of host code are beside the point.
void refuse_skipped_alone(const ClangJob& job, const ClangResult& result) {
  if (result.skipped.empty() || !templates_without_instance(job, result).empty()) return;
  if (result.module != nullptr && !list_kernels(*result.module, job.language).empty()) return;
  std::string text = about_skipped(result.skipped) + "\n" + notes_of_missing_headers(job, result);
  text.pop_back();
  throw UserError(text);
}

/// Throws if an error of the run concerns the kernel that is wanted (or, without a name, any kernel).
void refuse_errors(const ClangJob& job, const ClangResult& result, const std::string& wanted) {
  if (result.errors.empty()) return;
  const auto device_errors = std::count_if(result.errors.begin(), result.errors.end(), in_device_code);
  if (!job.host_code_may_fail || result.module == nullptr)
    throw UserError(rendered_errors(job, result, device_errors > 0));
  const auto kernels = list_kernels(*result.module, job.language);
  const std::string& name = result.wanted_symbol.empty() ? wanted : result.wanted_symbol;
  const auto reached = reachable_symbols(*result.module, kernels, name);
  const bool found = std::any_of(kernels.begin(), kernels.end(),
                                 [&](const auto& kernel) { return name.empty() || means_kernel(kernel, name); });
  if (kernels.empty() && device_errors == 0 && !templates_without_instance(job, result).empty()) return;  // no instance
  if (kernels.empty() && device_errors == 0) {
    refuse_skipped_alone(job, result);
    throw UserError(job.main_file + ": no kernel found (a __global__ function), and errors in host code\n" +
                    rendered_errors(job, result, false));
  }
  if (!found && device_errors > 0) {
    const bool skipped = kernels.empty() && !result.skipped.empty();
    throw UserError(rendered_errors(job, result, device_errors > 0) +
                    (skipped ? "\nnote: " + about_skipped(result.skipped) : ""));
  }
  if (!found) return;  // a matter of the name, not of the errors
  const bool reaches_broken = std::any_of(result.broken_symbols.begin(), result.broken_symbols.end(),
                                          [&](const auto& name) { return reached.contains(name); });
  const bool loose_error = std::any_of(result.errors.begin(), result.errors.end(), [](const auto& error) {
    return error.where == ClangError::Where::other_device_code;
  });
  if (reaches_broken || (wanted.empty() && (loose_error || result.broken_kernel)))
    throw UserError(rendered_errors(job, result, true) + note_of_good_kernels(result, kernels));
}

std::string base_name(const std::string& kernel) {
  std::string name = kernel.substr(0, kernel.find_first_of("<("));
  if (name.starts_with("void ")) name.erase(0, 5);
  if (const auto colons = name.rfind("::"); colons != std::string::npos) name = name.substr(colons + 2);
  std::erase(name, ' ');
  return name;
}

/// The qualified name of the kernel template that `spelt` names, or nothing.
std::string template_of(const ClangResult& result, const std::string& spelt) {
  const std::string wanted = spoken_name(spelt);
  for (const auto& name : result.kernel_templates) {
    if (base_name(name) == base_name(wanted)) return name;
  }
  return {};
}

/// The template arguments in "ns::reduce<float, 4>(float*)": "<float, 4>".
std::string template_arguments(const std::string& wanted) {
  const std::size_t open = wanted.find('<');
  if (open == std::string::npos) return {};
  int depth = 0;
  for (std::size_t at = open; at < wanted.size(); ++at) {
    if (wanted[at] == '<') ++depth;
    if (wanted[at] == '>' && --depth == 0) return wanted.substr(open, at + 1 - open);
  }
  throw UserError(KC_SETTING(kernel) " " + wanted + ": the '<' has no matching '>'");
}

// Taking a kernel's address on the host side instantiates it.
ClangResult instantiate(ClangJob& job, const std::string& qualified, const std::string& wanted) {
  const std::string arguments = template_arguments(spoken_name(wanted));
  job.text += std::string(added_text) + "static const void* " + wanted_variable + " = (const void*)::" + qualified +
              (arguments.empty() ? "<>" : arguments) + ";\n";
  ClangResult result = run_clang(job);
  for (const auto& error : result.errors) {
    if (error.text.find("<kernel>:1:") == std::string::npos) continue;
    throw UserError("kernel template '" + qualified + "' cannot be instantiated as '" + wanted +
                    "': name its template arguments, as in " KC_SETTING(kernel) " '" + qualified + "<256>'\n" +
                    error.text);
  }
  return result;
}

/// What may make a source of OpenCL C right that is not as it stands: an older language (what 2.0 made an error), or
/// extensions that drivers of NVIDIA do not have. Otherwise the errors of the run that has fewest.
ClangResult compile_in_another_opencl(const Source& source, ClangJob& job, const std::string& target,
                                      ClangResult first) {
  if (source.standard.empty()) {
    Source older = source;
    older.standard = "CL1.2";
    ClangJob older_job = make_job(older, Language::opencl, target);
    ClangResult second = run_clang(older_job);
    second.macros.insert(first.macros.begin(), first.macros.end());  // the first run's errors led here
    if (second.errors.empty()) {
      job = std::move(older_job);
      return second;
    }
  }
  if (vendor_of(target) != Vendor::nvidia) return first;
  ClangJob extended_job = job;
  extended_job.arguments.insert(extended_job.arguments.begin(), kMoreExtensions);
  ClangResult extended = run_clang(extended_job);
  extended.macros.insert(first.macros.begin(), first.macros.end());
  if (extended.errors.size() >= first.errors.size()) return first;
  job = std::move(extended_job);
  return extended;
}

/// Runs again with what nvcc takes and clang does not: respelled, where that leaves fewer errors.
ClangResult run_respelled(ClangJob& job, int most_rounds = 4) {
  ClangResult result = run_clang(job);
  if (result.respelled.empty() || most_rounds == 0) return result;
  ClangJob again = job;
  for (FileText& file : result.respelled) {
    if (file.path == job.main_file) {
      again.text = std::move(file.text);
      continue;
    }
    std::erase_if(again.headers, [&](const FileText& known) { return known.path == file.path; });
    again.headers.push_back(std::move(file));
  }
  ClangResult next = run_respelled(again, most_rounds - 1);
  if (next.errors.size() >= result.errors.size()) return result;
  job = std::move(again);
  return next;
}

ClangResult compile_in_language(const Source& source, ClangJob& job, Language language, const std::string& target,
                                const std::string& wanted) {
  ClangResult result = run_respelled(job);
  if (language == Language::opencl && !result.errors.empty())
    return compile_in_another_opencl(source, job, target, std::move(result));
  if (result.skipped_callers && result.module != nullptr) {
    const auto count = [&](const ClangResult& r) {
      if (r.module == nullptr) return std::ptrdiff_t{0};
      const auto kernels = list_kernels(*r.module, language);
      return std::count_if(kernels.begin(), kernels.end(),
                           [&](const auto& k) { return wanted.empty() || means_kernel(k, wanted); });
    };
    if (count(result) == 0) {
      ClangJob whole = job;
      whole.all_host_code = true;
      ClangResult second = run_clang(whole);
      if (count(second) > 0) {
        job = std::move(whole);
        return second;
      }
    }
  }
  if (!wanted.empty() && job.host_code_may_fail && !holds_kernel(result, language, wanted)) {
    const std::string qualified = template_of(result, wanted);
    if (!qualified.empty()) return instantiate(job, qualified, wanted);
  }
  return result;
}

std::string about_template(const std::string& name) {
  return "kernel template '" + name + "' is not instantiated in this file; " KC_SETTING(kernel) " '" + name +
         "<...>' does it";
}

/// Without the lines of the files that include the place, and without the source's text.
std::string first_error(const ClangResult& result) {
  const std::string& first = result.errors.front().text;
  std::size_t begin = first.find(": error: ");
  begin = begin == std::string::npos ? 0 : first.rfind('\n', begin) + 1;
  return first.substr(begin, first.find('\n', begin) - begin);
}

/// A file whose kernels all are templates that it does not instantiate: which there are.
void refuse_templates_alone(const ClangJob& job, const ClangResult& result) {
  const auto names = templates_without_instance(job, result);
  if (names.empty() || !list_kernels(*result.module, job.language).empty()) return;
  std::string text = job.main_file + ": no kernel found, but kernel templates";
  for (const auto& name : names) text += "\n" + about_template(name);
  if (!result.errors.empty())
    text += "\nnote: the functions that do may have errors; the first of host code: " + first_error(result);
  throw UserError(text);
}

std::vector<std::string> notes_about(const ClangJob& job, const ClangResult& result) {
  std::vector<std::string> notes;
  for (const auto& header : result.missing_headers)
    notes.push_back("header '" + header + "' was not found and was skipped; " KC_SETTING(I) " gives its folder");
  if (const std::string packages = note_of_missing_packages(); !notes.empty() && !packages.empty())
    notes.push_back(packages);
  if (!result.errors.empty()) {
    notes.push_back(std::to_string(result.errors.size()) +
                    " errors in code that the kernel does not use were passed over; the first: " + first_error(result));
  }
  if (!job.arguments.empty() && job.arguments.front() == kMoreExtensions) {
    notes.push_back(
        "the source needs OpenCL extensions (half precision, sub-groups) that NVIDIA's drivers may lack: forecast as "
        "if "
        "they were there");
  }
  for (const auto& name : templates_without_instance(job, result)) notes.push_back(about_template(name));
  return notes;
}

/// The preludes of CUDA and HIP are chosen by words, those of the defines included (make_job).
bool may_choose_preludes(const std::string& define, const ClangJob& job) {
  const auto is_letter = [](unsigned char c) { return std::isalpha(c) != 0 || c == '_'; };
  const std::size_t value = std::min(define.find('='), define.size());
  return job.host_code_may_fail &&
         std::any_of(define.begin() + static_cast<std::ptrdiff_t>(value), define.end(), is_letter);
}

/// Nothing after errors that were passed over: the preprocessor drops what it read inside a macro call that is broken.
std::optional<std::vector<std::string>> consulted_by(const Source& source, const ClangJob& job,
                                                     const ClangResult& result) {
  if (!result.errors.empty()) return std::nullopt;
  std::set<std::string> names;
  for (const std::string& define : source.defines) {
    const std::string name = define.substr(0, define.find_first_of("=( \t"));
    if (result.macros.contains(name) || may_choose_preludes(define, job)) names.insert(name);
  }
  return std::vector<std::string>(names.begin(), names.end());
}

KnownRun known_or_compiled(const Source& source, Language language, const std::string& target,
                           const std::string& wanted) {
  const std::string key = run_key(source, language, target);
  if (auto known = recall_run(key, wanted)) return std::move(*known);
  ClangJob job = make_job(source, language, target);
  ClangResult result = compile_in_language(source, job, language, target, wanted);
  keep_run(key, job, result);
  return {std::move(job), std::move(result)};
}

CompiledUnit compile_now(const Source& source, const std::string& target, const std::string& wanted) {
  const Language language = resolve_language(source);
  refuse_what_is_no_source(source, language);
  CompiledUnit unit;
  if (language == Language::llvm_ir) {
    unit = read_llvm_ir(source);
    unit.consulted.emplace();
  } else {
    auto [job, result] = known_or_compiled(source, language, target, wanted);
    refuse_errors(job, result, wanted);
    refuse_templates_alone(job, result);
    refuse_skipped_alone(job, result);
    unit.notes = notes_about(job, result);
    unit.context = std::move(result.context);
    unit.module = std::move(result.module);
    unit.diagnostics = std::move(result.warnings);
    unit.pragmas = std::move(result.pragmas);
    unit.headers = std::move(result.headers);
    unit.consulted = consulted_by(source, job, result);
    unit.wanted_symbol = std::move(result.wanted_symbol);
  }
  unit.language = language;
  return unit;
}

}  // namespace

std::string module_text(const CompiledUnit& unit) {
  std::string text;
  llvm::raw_string_ostream stream(text);
  unit.module->print(stream, nullptr);
  return text;
}

CompiledUnit compile_unit(const Source& source, const std::string& target, double time_limit_s,
                          const std::string& kernel) {
  auto unit = std::make_shared<CompiledUnit>();  // shared with a worker that may outlive this call
  run_guarded([source, target, kernel, unit] { *unit = compile_now(source, target, kernel); },
              {.time_s = time_limit_s});
  return std::move(*unit);
}

std::vector<std::string> inspect_unit(const Source& source, const FrontendOptions& options,
                                      const std::function<void(clang::ASTContext&)>& inspect) {
  auto notes = std::make_shared<std::vector<std::string>>();
  const auto inspect_now = [source, target = options.target, kernel = options.kernel, inspect, notes] {
    const Language language = resolve_language(source);
    refuse_what_is_no_source(source, language);
    ClangJob job = make_job(source, language, target);
    ClangResult result = compile_in_language(source, job, language, target, kernel);
    refuse_errors(job, result, kernel);
    refuse_skipped_alone(job, result);
    job.inspect = [&inspect](clang::ASTContext& context, const ClangResult&) { inspect(context); };
    run_clang(job);
    *notes = notes_about(job, result);
  };
  run_guarded(inspect_now, {.time_s = options.time_limit_s});
  return std::move(*notes);
}

namespace {

constexpr int kMostRounds = 5;  // of declarations of names that are missing: types, then what they hide

/// What text calls: `name(`, with blanks between.
bool calls(std::string_view text, const std::string& name) {
  for (std::size_t use = text.find(name); use != std::string::npos; use = text.find(name, use + 1)) {
    const std::size_t behind = text.find_first_not_of(" \t", use + name.size());
    if (behind != std::string::npos && text[behind] == '(' && (use == 0 || !is_word(text[use - 1]))) return true;
  }
  return false;
}

/// Declarations of names that no header declares, by what the errors say of them: types first, since variables of an
/// unknown type are not declared either.
std::string declarations_of_missing(const ClangResult& result, const std::string& text, std::set<std::string>& names) {
  std::string types, others;
  const auto named = [](const std::string& error, std::string_view key) -> std::string {
    const std::size_t at = error.find(key);
    if (at == std::string::npos) return "";
    const std::size_t begin = at + key.size();
    return error.substr(begin, error.find('\'', begin) - begin);
  };
  for (const ClangError& error : result.errors) {
    const std::string type = named(error.text, "unknown type name '");
    if (!type.empty() && names.insert(type).second) types += "typedef int " + type + "; ";
  }
  if (!types.empty()) return types;
  for (const ClangError& error : result.errors) {
    const std::string name = named(error.text, "use of undeclared identifier '");
    if (name.empty() || !names.insert(name).second) continue;
    // Checks of samples hand on the error that they are given.
    const bool check = name == "checkCudaErrors" || name == "checkCudaError";
    if (check)
      others += "template <class A> int " + name + "(A a) { return (int)a; } ";
    else if (calls(error.text, name) || calls(text, name))
      others += "template <class... A> int " + name + "(const A&...); ";
    else
      others += "extern int " + name + "; ";
  }
  return others;
}

}  // namespace

void inspect_host(const Source& source, const std::string& target, double time_limit_s,
                  const std::function<void(clang::ASTContext&)>& inspect) {
  const auto inspect_now = [source, target, inspect] {
    const Language language = resolve_language(source);
    if (language != Language::cuda && language != Language::hip)
      throw UserError(source.path + ": launches are found in CUDA and HIP sources alone");
    refuse_what_is_no_source(source, language);
    ClangJob job = make_job(source, language, target);
    job.host_bodies = true;
    std::string declared;
    std::set<std::string> names;
    for (int round = 0;; ++round) {
      std::string more;
      job.inspect = [&](clang::ASTContext& context, const ClangResult& result) {
        if (round < kMostRounds) more = declarations_of_missing(result, job.text, names);
        if (more.empty()) inspect(context);
      };
      run_clang(job);
      if (more.empty()) break;
      declared += more;
      job.text = declared + "\n#line 1\n" + make_job(source, language, target).text;
    }
  };
  run_guarded(inspect_now, {.time_s = time_limit_s});
}

}  // namespace kernelcast::frontend
