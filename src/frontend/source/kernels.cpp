// Matching goes from the exact to the loose: mangled name, full signature, qualified name with template arguments,
// qualified name, plain name with template arguments, plain name. The first level that has a match decides; two matches
// there are an ambiguity.
#include "frontend/source/kernels.h"

#include <algorithm>
#include <array>
#include <cctype>
#include <set>

#include "frontend/source/compile.h"
#include "frontend/source/compile_language.h"
#include "io/nearest.h"
#include "kernelcast/error.h"
#include "kernelcast/setting.h"
#include "llvm/ADT/StringRef.h"
#include "llvm/Analysis/LoopInfo.h"
#include "llvm/Demangle/Demangle.h"
#include "llvm/IR/Constants.h"
#include "llvm/IR/DebugInfoMetadata.h"
#include "llvm/IR/Dominators.h"
#include "llvm/IR/Module.h"

namespace kernelcast::frontend {
namespace {

/// Where the parameter list of a demangled name opens; its length if there is none.
std::size_t parameters_start(const std::string& name) {
  int depth = 0;
  for (std::size_t at = 0; at < name.size(); ++at) {
    if (name[at] == '<') ++depth;
    if (name[at] == '>') --depth;
    if (name.compare(at, 21, "(anonymous namespace)") == 0) {
      at += 20;
      continue;
    }
    if (name[at] == '(' && depth == 0) return at;
  }
  return name.size();
}

std::string without_template_arguments(const std::string& name) {
  std::string result;
  int depth = 0;
  for (char c : name) {
    if (c == '<') ++depth;
    if (depth == 0) result += c;
    if (c == '>') --depth;
  }
  return result;
}

std::string last_part(const std::string& qualified) {
  int depth = 0;
  for (std::size_t at = qualified.size(); at > 1; --at) {
    const char c = qualified[at - 1];
    if (c == '>') ++depth;
    if (c == '<') --depth;
    if (depth == 0 && c == ':') return qualified.substr(at);
  }
  return qualified;
}

bool is_word_letter(char c) { return std::isalnum(static_cast<unsigned char>(c)) != 0 || c == '_'; }

/// Where the words `from` stand in `name`, blanks between them as they come; npos: nowhere behind `start`.
std::pair<std::size_t, std::size_t> find_words(const std::string& name, std::string_view from, std::size_t start) {
  for (std::size_t at = start; at < name.size(); ++at) {
    if (at > 0 && is_word_letter(name[at - 1])) continue;
    std::size_t here = at, word = 0;
    while (word < from.size() && here < name.size() && (name[here] == from[word])) {
      if (from[word] == ' ')
        while (here + 1 < name.size() && name[here + 1] == ' ') ++here;
      ++here;
      ++word;
    }
    if (word == from.size() && (here == name.size() || !is_word_letter(name[here]))) return {at, here};
  }
  return {std::string::npos, 0};
}

/// Integer types by other names, on the 64-bit systems that CUDA and HIP know; the longer first.
constexpr std::pair<std::string_view, std::string_view> other_names[] = {
    {"unsigned long long int", "unsigned long long"},
    {"unsigned long int", "unsigned long"},
    {"unsigned short int", "unsigned short"},
    {"long unsigned int", "unsigned long"},
    {"short unsigned int", "unsigned short"},
    {"long long int", "long long"},
    {"unsigned int", "unsigned"},
    {"long int", "long"},
    {"short int", "short"},
    {"signed int", "int"},
    {"uint8_t", "unsigned char"},
    {"uint16_t", "unsigned short"},
    {"uint32_t", "unsigned"},
    {"uint64_t", "unsigned long"},
    {"int8_t", "signed char"},
    {"int16_t", "short"},
    {"int32_t", "int"},
    {"int64_t", "long"},
    {"size_t", "unsigned long"},
    {"ptrdiff_t", "long"},
    {"uchar", "unsigned char"},
    {"ushort", "unsigned short"},
    {"uint", "unsigned"},
    {"ulong", "unsigned long"},
    {"half", "__half"},
    {"(bool)1", "true"},
    {"(bool)0", "false"}};

/// "const T" as "T const".
void put_const_behind(std::string& name) {
  for (std::size_t at = 0; (at = find_words(name, "const", at).first) != std::string::npos;) {
    const std::size_t before = name.find_last_not_of(' ', at == 0 ? 0 : at - 1);
    const bool leads = at == 0 || name[before] == '<' || name[before] == ',' || name[before] == '(';
    const std::size_t type = leads ? name.find_first_not_of(' ', at + 5) : std::string::npos;
    const std::size_t end = type == std::string::npos ? type : name.find_first_of("<>,*&()[", type);
    if (type == std::string::npos || (end != std::string::npos && name[end] == '<')) {
      at += 5;
      continue;
    }
    std::string word = name.substr(type, end == std::string::npos ? end : end - type);
    word.erase(word.find_last_not_of(' ') + 1);
    name.replace(at, type - at + word.size(), word + " const");
    at += word.size() + 6;
  }
}

/// One spelling for what can be spelt in several ways: no blanks, "unsigned int" and "uint32_t" as "unsigned", no
/// suffix on numbers, nothing for an outer "::" and for the return type that tools print before a template's name.
std::string normalised(std::string name) {
  if (name.starts_with("void ")) name.erase(0, 5);
  for (const std::string from : {"(anonymous namespace)::", "std::uint", "std::int", "std::size_t"}) {
    const std::string to = from.starts_with("std::") ? from.substr(5) : "";
    for (std::size_t at = 0; (at = name.find(from, at)) != std::string::npos;) name.replace(at, from.size(), to);
  }
  for (const auto& [from, to] : other_names) {
    for (std::size_t at = 0;;) {
      const auto [begin, end] = find_words(name, from, at);
      if (begin == std::string::npos) break;
      name.replace(begin, end - begin, to);
      at = begin + to.size();
    }
  }
  put_const_behind(name);
  std::string result;
  for (std::size_t at = 0; at < name.size(); ++at) {
    const char c = name[at];
    if (std::isspace(static_cast<unsigned char>(c)) != 0) continue;
    const bool suffix = (c == 'u' || c == 'l' || c == 'U' || c == 'L') && !result.empty() &&
                        std::isdigit(static_cast<unsigned char>(result.back())) != 0;
    if (suffix) {
      std::size_t digits = result.size();
      while (digits > 0 && std::isdigit(static_cast<unsigned char>(result[digits - 1])) != 0) --digits;
      const char before = digits > 0 ? result[digits - 1] : ' ';
      if (before == '<' || before == ',' || before == '-') continue;
    }
    result += c;
  }
  if (result.starts_with("::")) result.erase(0, 2);
  return result;
}

constexpr int kLevels = 7;

std::array<std::string, kLevels> spellings(const KernelEntry& entry) {
  const std::string qualified = without_parameters(entry.demangled);
  return {entry.symbol,
          normalised(entry.demangled),
          normalised(qualified),
          normalised(entry.written.empty() ? qualified : entry.written),
          normalised(without_template_arguments(qualified)),
          normalised(last_part(qualified)),
          entry.plain};
}

std::string list_of(const std::vector<const KernelEntry*>& entries) {
  constexpr std::size_t kMost = 20;  // libraries of templates have hundreds, each with a long name
  std::string text;
  for (std::size_t k = 0; k < std::min(entries.size(), kMost); ++k) text += "\n  " + entries[k]->demangled;
  return text + (entries.size() > kMost ? "\n  and " + std::to_string(entries.size() - kMost) + " more" : "");
}

std::vector<const KernelEntry*> nearest(std::span<const KernelEntry> kernels, const std::string& name) {
  constexpr std::size_t kMost = 5;
  std::vector<std::pair<std::size_t, const KernelEntry*>> ranked;
  const std::string plain = last_part(without_template_arguments(without_parameters(name)));
  for (const auto& entry : kernels) ranked.emplace_back(edit_distance(plain, entry.plain), &entry);
  std::stable_sort(ranked.begin(), ranked.end(), [](const auto& a, const auto& b) { return a.first < b.first; });
  std::vector<const KernelEntry*> result;
  for (const auto& [distance, entry] : ranked) {
    if (result.size() < kMost) result.push_back(entry);
  }
  return result;
}

KernelEntry entry_of(const llvm::Function& function) {
  KernelEntry entry;
  entry.symbol = function.getName().str();
  entry.demangled = llvm::demangle(entry.symbol);
  const std::string head = without_parameters(entry.demangled);
  if (const std::size_t blank = head.find("void "); blank == 0)
    entry.demangled.erase(0, 5);  // templates carry their return type
  entry.plain = last_part(without_template_arguments(without_parameters(entry.demangled)));
  if (const auto* program = function.getSubprogram()) entry.line = static_cast<int>(program->getLine());
  entry.written = function.getFnAttribute(written_name_key).getValueAsString().str();
  return entry;
}

bool has_kernel_convention(const llvm::Function& function) {
  switch (function.getCallingConv()) {
    case llvm::CallingConv::PTX_Kernel:
    case llvm::CallingConv::AMDGPU_KERNEL:
    case llvm::CallingConv::SPIR_KERNEL:
      return true;
    default:
      return false;
  }
}

std::set<const llvm::Function*> annotated_kernels(const llvm::Module& module) {
  std::set<const llvm::Function*> kernels;
  const auto* annotations = module.getNamedMetadata("nvvm.annotations");
  if (annotations == nullptr) return kernels;
  for (const llvm::MDNode* node : annotations->operands()) {
    if (node->getNumOperands() < 3) continue;
    const auto* function = llvm::mdconst::dyn_extract_or_null<llvm::Function>(node->getOperand(0));
    for (unsigned i = 1; i + 1 < node->getNumOperands(); i += 2) {
      const auto* key = llvm::dyn_cast_or_null<llvm::MDString>(node->getOperand(i).get());
      if (function != nullptr && key != nullptr && key->getString() == "kernel") kernels.insert(function);
    }
  }
  return kernels;
}

bool has_loop(const llvm::Function& function) {
  llvm::DominatorTree tree(const_cast<llvm::Function&>(function));
  return !llvm::LoopInfo(tree).empty();
}

bool in_main_file(const llvm::Function& function) {
  const auto* program = function.getSubprogram();
  if (program == nullptr || program->getUnit() == nullptr || program->getFile() == program->getUnit()->getFile())
    return true;
  return whole_path(*program->getFile()) == whole_path(*program->getUnit()->getFile());
}

}  // namespace

std::filesystem::path whole_path(const llvm::DIFile& file) {
  return (std::filesystem::path(file.getDirectory().str()) / file.getFilename().str()).lexically_normal();
}

std::string without_parameters(const std::string& name) { return name.substr(0, parameters_start(name)); }

std::vector<KernelEntry> list_kernels(const llvm::Module& module, Language language) {
  const auto annotated = annotated_kernels(module);
  std::vector<KernelEntry> kernels;
  for (const llvm::Function& function : module) {
    if (function.isDeclaration()) continue;
    if (has_kernel_convention(function) || annotated.contains(&function)) kernels.push_back(entry_of(function));
  }
  const bool plain_code = is_loop_nest(language) || language == Language::llvm_ir;
  if (kernels.empty() && plain_code) {
    for (const llvm::Function& function : module) {
      if (!function.isDeclaration() && in_main_file(function) && has_loop(function))
        kernels.push_back(entry_of(function));
    }
  }
  std::stable_sort(kernels.begin(), kernels.end(), [](const auto& a, const auto& b) { return a.line < b.line; });
  return kernels;
}

std::string spoken_name(const std::string& name) { return name.starts_with("_Z") ? llvm::demangle(name) : name; }

bool means_kernel(const KernelEntry& entry, const std::string& name) {
  if (name == entry.symbol) return true;
  const auto all = spellings(entry);
  const std::string wanted = normalised(spoken_name(name));
  return std::ranges::find(all, wanted) != all.end();
}

const KernelEntry& pick_kernel(std::span<const KernelEntry> kernels, const std::string& name) {
  if (kernels.empty())
    throw UserError("the source has no kernel" + (name.empty() ? std::string() : ", so none named '" + name + "'"));
  std::vector<const KernelEntry*> all;
  for (const auto& entry : kernels) all.push_back(&entry);
  if (name.empty()) {
    if (kernels.size() == 1) return kernels.front();
    throw UserError("the source has " + std::to_string(kernels.size()) + " kernels: name one by " KC_SETTING(kernel) +
                    list_of(all));
  }
  for (const auto& entry : kernels)
    if (entry.symbol == name) return entry;
  const std::string wanted = normalised(spoken_name(name));
  for (int level = 0; level < kLevels; ++level) {
    std::vector<const KernelEntry*> found;
    for (const auto* entry : all) {
      if (spellings(*entry)[static_cast<std::size_t>(level)] == wanted) found.push_back(entry);
    }
    if (found.size() == 1) return *found.front();
    if (found.size() > 1) throw UsageError(KC_SETTING(kernel) " " + name + " is ambiguous:" + list_of(found));
  }
  std::string near;  // in the same line: some show only the first of a message
  for (const KernelEntry* entry : nearest(kernels, name)) near += (near.empty() ? " " : "; ") + entry->demangled;
  throw UsageError(KC_SETTING(kernel) " " + name + ": no kernel is named '" + name + "'; the nearest are:" + near);
}

}  // namespace kernelcast::frontend
