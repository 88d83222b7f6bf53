#include "settings.h"

#include <map>

#include "kernelcast/error.h"
#include "kernelcast/frontend.h"

namespace kernelcast::python {
namespace {

Language language_named(const std::string& name, const std::string& path) {
  if (name.empty()) return language_of(path);
  static const std::map<std::string, Language> names{
      {"opencl", Language::opencl}, {"cuda", Language::cuda},       {"hip", Language::hip}, {"c", Language::c},
      {"cxx", Language::cxx},       {"llvm-ir", Language::llvm_ir}, {"ptx", Language::ptx}};
  const auto found = names.find(name);
  if (found == names.end()) throw UsageError("lang '" + name + "': expected opencl, cuda, hip, c, cxx, llvm-ir or ptx");
  return found->second;
}

}  // namespace

Source source_of(const Settings& s) {
  std::vector<TensorBox> maps;
  for (const std::string& map : s.tensor_maps) maps.push_back(tensor_box(map));
  return {.path = s.path,
          .text = s.text,
          .language = language_named(s.language, s.path),
          .defines = s.defines,
          .undefines = {},
          .include_dirs = s.include_dirs,
          .readable_dirs = {},
          .headers = {},
          .standard = s.standard,
          .fast_math = s.fast_math,
          .tensor_maps = std::move(maps),
          .capability = {}};
}

}  // namespace kernelcast::python
