// From a device to the SM that models it: the file whose `architectures` has the device's, over what it inherits, with
// clock, caches and latencies of memory from the device. What the file says of memory wins (it says why).
#include <algorithm>
#include <cmath>
#include <filesystem>
#include <limits>

#include "io/text_file.h"
#include "kernelcast/error.h"
#include "machine/sm/spec_file.h"

namespace kernelcast::sm {
namespace {

namespace fs = std::filesystem;

DataNode read_root(const std::string& file) { return read_data(file, read_text_file(file)); }

/// The file's own keys last, its oldest ancestor's first.
std::vector<std::pair<std::string, DataNode>> read_chain(const std::string& path) {
  std::vector<std::pair<std::string, DataNode>> chain{{path, read_root(path)}};
  while (const DataNode* parent = chain.front().second.find("inherits")) {
    const auto& [child, node] = chain.front();
    const fs::path file = fs::path(child).parent_path() / (parent->text + ".toml");
    std::error_code ignored;
    if (!fs::is_regular_file(file, ignored) || chain.size() > 8)
      throw UserError(child + ":" + std::to_string(parent->line) + ": inherits = \"" + parent->text + "\", but " +
                      (chain.size() > 8 ? "that closes a circle" : "there is no " + file.string()));
    chain.insert(chain.begin(), {file.string(), read_root(file.string())});
  }
  return chain;
}

bool given(const Spec& spec, std::string_view key) {
  return std::ranges::any_of(spec.numbers, [&](const SpecNumber& n) { return n.key == key; });
}

void take(const Device& device, Spec& spec, Field field, std::string_view key, int Spec::* member) {
  const std::optional<double> value = device.get(field);
  if (!given(spec, key) && value) spec.*member = static_cast<int>(std::lround(*value));
}

void memory_of(const Device& device, Spec& spec) {
  take(device, spec, Field::memory_shared_banks, "memory.shared_banks", &Spec::shared_banks);
  take(device, spec, Field::memory_shared_bank_bytes, "memory.shared_bank_bytes", &Spec::shared_bank_bytes);
  take(device, spec, Field::memory_shared_pairs, "memory.shared_pairs", &Spec::shared_pairs);
  take(device, spec, Field::memory_shared_latency_cycles, "memory.shared_latency", &Spec::shared_latency);
  take(device, spec, Field::memory_l1_latency_cycles, "memory.l1_latency", &Spec::l1_latency);
  take(device, spec, Field::memory_l2_latency_cycles, "memory.l2_latency", &Spec::l2_latency);
  take(device, spec, Field::memory_dram_latency_cycles, "memory.dram_latency", &Spec::dram_latency);
  take(device, spec, Field::memory_sector_bytes, "memory.sector_bytes", &Spec::sector_bytes);
  take(device, spec, Field::memory_l1_line_bytes, "memory.l1_line_bytes", &Spec::line_bytes_l1);
  spec.shared_bytes_per_cycle = device.get_or(Field::memory_shared_bandwidth_bytes_per_unit,
                                              static_cast<double>(spec.shared_banks) * spec.shared_bank_bytes);
  const bool cached = device.get_or(Field::memory_l1_caches_global_loads, 0) != 0;
  spec.l1_bytes = cached ? device.get_or(Field::memory_l1_bytes, 0) : 0;
  if (cached) spec.l1 = device.geometry();
  if (cached) spec.l1_bytes_per_cycle = device.get_or(Field::memory_l1_bandwidth_bytes_per_unit, 0);
  spec.l2_bytes = device.get_or(Field::memory_l2_bytes, 0);
  const double units = device.get_or(Field::compute_units, 1);
  if (spec.clock_hz > 0) {
    const double dram = device.get_or(Field::memory_dram_bandwidth_bytes_per_s, 0);
    const double l2 = device.get_or(Field::memory_l2_bandwidth_bytes_per_s, 0);
    if (dram > 0) spec.dram_bytes_per_cycle = dram / units / spec.clock_hz;
    if (l2 > 0) spec.l2_bytes_per_cycle = l2 / units / spec.clock_hz;
  }
  // A level that nobody measured costs what the next one does.
  if (spec.l2_latency == 0) spec.l2_latency = spec.dram_latency;
  if (spec.l1_latency == 0) spec.l1_latency = spec.l2_latency;
}

/// Rates of matrix pipes are the device's, and so is their latency where it is known.
void tensor_of(const Device& device, Spec& spec) {
  for (std::size_t t = 0; t < tensor_type_count; ++t)
    spec.tensor_fma[t] =
        device.get_or(tensor_rate_field(static_cast<TensorType>(t)), std::numeric_limits<double>::quiet_NaN());
  spec.tensor_warp_share = device.get_or(Field::compute_tensor_warp_share, 1);
  spec.tensor_warp_f8_share = device.get_or(Field::compute_tensor_warp_f8_share, spec.tensor_warp_share);
  if (const std::optional<double> latency = device.get(Field::latency_tensor_cycles))
    spec.latency[static_cast<std::size_t>(Op::matrix)] = static_cast<int>(std::lround(*latency));
}

std::vector<fs::path> spec_files(const fs::path& folder) {
  std::vector<fs::path> files;
  std::error_code ignored;
  for (const auto& entry : fs::directory_iterator(folder, ignored))
    if (entry.path().extension() == ".toml") files.push_back(entry.path());
  std::ranges::sort(files);
  return files;
}

}  // namespace

Spec load_spec(const std::string& path) {
  Spec spec;
  for (const auto& [file, root] : read_chain(path)) {
    spec.architectures.clear();
    apply_spec_file(spec, file, root);
  }
  spec.file = path;
  if (spec.id != fs::path(path).stem().string())
    throw UserError(path + ":1: id = \"" + spec.id + "\" is not the name of the file");
  check_spec(spec, path);
  return spec;
}

Spec spec_of(const Device& device, const std::string& device_folder) {
  const fs::path folder = fs::path(device_folder.empty() ? default_device_folder() : device_folder) / "sm";
  std::string known;
  for (const fs::path& file : spec_files(folder)) {
    const DataNode root = read_root(file.string());
    const DataNode* architectures = root.find("architectures");
    if (architectures == nullptr) continue;
    for (const DataNode& item : architectures->items) {
      known += (known.empty() ? "" : ", ") + item.text;
      if (item.text != device.architecture) continue;
      Spec spec = load_spec(file.string());
      spec.clock_hz =
          device.get_or(Field::clock_sustained_clock_hz,
                        device.get_or(Field::clock_boost_clock_hz, device.get_or(Field::clock_base_clock_hz, 0)));
      memory_of(device, spec);
      tensor_of(device, spec);
      take(device, spec, Field::compute_warp_size, "issue.warp_size", &Spec::warp_size);
      take(device, spec, Field::limits_max_warps_per_unit, "limits.max_warps", &Spec::max_warps);
      take(device, spec, Field::limits_max_blocks_per_unit, "limits.max_blocks", &Spec::max_blocks);
      return spec;
    }
  }
  throw UserError("there is no cycle-level model of " + device.name + " (architecture \"" + device.architecture +
                  "\") in " + folder.string() + "; there is one of: " + (known.empty() ? "none" : known));
}

}  // namespace kernelcast::sm
