// What the user names must be there: a misspelt flag that is passed over makes a forecast of something else.
#include <algorithm>

#include "kernelcast/error.h"
#include "kernelcast/setting.h"
#include "offload/region_parts.h"

namespace kernelcast::offload {
namespace {

using Names = std::vector<std::string>;

bool has(const Names& names, const std::string& name) {
  return std::find(names.begin(), names.end(), name) != names.end();
}

std::string list(const Names& names) {
  if (names.empty()) return "; there are none";
  std::string text;
  for (const std::string& n : names) text += (text.empty() ? "; there are " : ", ") + n;
  return text;
}

}  // namespace

void Evaluator::Impl::check_roles() const {
  Names buffers;
  for (const Known& b : buffers_) buffers.push_back(b.name);
  for (const auto& [name, role] : region.roles)
    if (!has(buffers, name)) throw UsageError(KC_SETTING(role) " " + name + ": no such buffer" + list(buffers));
  for (const std::string& name : region.resident)
    if (!has(buffers, name)) throw UsageError(KC_SETTING(resident) " " + name + ": no such buffer" + list(buffers));
}

void Evaluator::Impl::check_launch(const Launch& launch) const {
  Names scalars, pointers;
  const auto add = [&](const KernelProfile& profile) {
    for (const Parameter& p : profile.parameters)
      if (Names& names = p.pointer ? pointers : scalars; !has(names, p.name)) names.push_back(p.name);
  };
  for (const RegionKernel& k : region.kernels) {
    add(k.cpu.profile);
    add(*k.gpu);
  }
  for (const auto& [name, value] : launch.args)
    if (!has(scalars, name)) {
      throw UsageError(
          KC_SETTING(arg) " " + name + ": no such parameter" +
          (has(pointers, name) ? "; it is a pointer: " KC_SETTING(buffer) " " + name + "=COUNT" : list(scalars)));
    }
  for (const auto& [name, spec] : launch.buffers)
    if (!has(pointers, name))
      throw UsageError(KC_SETTING(buffer) " " + name + ": no such pointer parameter" + list(pointers));
}

}  // namespace kernelcast::offload
