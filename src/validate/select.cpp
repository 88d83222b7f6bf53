// A limit takes rows at even distances: files of tuning spaces are in the order of the parameters, so the first rows
// would all be alike.
#include "validate/measurement.h"

#include <algorithm>
#include <map>
#include <set>

#include "kernelcast/error.h"
#include "kernelcast/setting.h"

namespace kernelcast::validate {
namespace {

void keep_kernels(std::vector<Measurement>& rows, const std::vector<std::string>& patterns) {
  for (const std::string& pattern : patterns) {
    if (std::none_of(rows.begin(), rows.end(), [&](const Measurement& m) { return matches(pattern, m.kernel_id); })) {
      throw UsageError(KC_SETTING(kernel) " " + pattern + ": no row is of such a kernel");
    }
  }
  std::erase_if(rows, [&](const Measurement& m) {
    return std::none_of(patterns.begin(), patterns.end(),
                        [&](const std::string& pattern) { return matches(pattern, m.kernel_id); });
  });
}

std::string id_of(const DeviceCatalog& catalog, const std::string& gpu) {
  try {
    return catalog.find(gpu).id;
  } catch (const UserError&) {
    return "";  // such rows fail later, with the reason
  }
}

void keep_devices(std::vector<Measurement>& rows, const std::vector<std::string>& names, const DeviceCatalog& catalog) {
  std::map<std::string, std::string> id_of_gpu;
  for (const Measurement& m : rows) {
    if (id_of_gpu.find(m.gpu) == id_of_gpu.end()) id_of_gpu[m.gpu] = id_of(catalog, m.gpu);
  }
  std::set<std::string> wanted;
  for (const std::string& name : names) {
    const std::string id = catalog.find(name).id;
    wanted.insert(id);
    if (std::none_of(id_of_gpu.begin(), id_of_gpu.end(), [&](const auto& g) { return g.second == id; })) {
      throw UsageError(KC_SETTING(device) " " + name + ": no row was measured on it");
    }
  }
  std::erase_if(rows, [&](const Measurement& m) { return wanted.find(id_of_gpu[m.gpu]) == wanted.end(); });
}

void keep_few(std::vector<Measurement>& rows, std::size_t limit) {
  using Pair = std::pair<std::string, std::string>;
  std::map<Pair, std::size_t> size, seen;
  for (const Measurement& m : rows) ++size[{m.kernel_id, m.gpu}];
  std::erase_if(rows, [&](const Measurement& m) {
    const Pair pair{m.kernel_id, m.gpu};
    const std::size_t n = size[pair], i = seen[pair]++;
    // Row i is kept when the multiples of limit/n pass a whole number at it.
    return n > limit && (i + 1) * limit / n == i * limit / n;
  });
}

}  // namespace

std::vector<Measurement> selected(std::vector<Measurement> rows, const Selection& selection,
                                  const DeviceCatalog& catalog) {
  if (!selection.kernels.empty()) keep_kernels(rows, selection.kernels);
  if (!selection.devices.empty()) keep_devices(rows, selection.devices, catalog);
  if (selection.limit > 0) keep_few(rows, selection.limit);
  return rows;
}

}  // namespace kernelcast::validate
