// What a device says about itself: required numbers and the geometry that counting depends on.
#include "kernelcast/device.h"

#include "device/field_table.h"
#include "kernelcast/error.h"

namespace kernelcast {

double Device::require(Field f) const {
  const FieldValue& v = values[static_cast<std::size_t>(f)];
  if (v.value) return *v.value;
  std::string reason = v.source.empty() ? "not given" : v.source;
  std::string place = file.empty() ? "a device file" : file;
  throw UserError(id + ": " + full_name(f) + " is unknown (" + reason + "); set it in " + place);
}

MemoryGeometry Device::geometry() const {
  MemoryGeometry g;  // its member initialisers are the defaults
  auto whole = [this](Field f, int fallback) { return static_cast<int>(get_or(f, fallback)); };
  g.warp_size = whole(Field::compute_warp_size, g.warp_size);
  g.sector_bytes = whole(Field::memory_sector_bytes, g.sector_bytes);
  g.segment_bytes = whole(Field::memory_segment_bytes, g.segment_bytes);
  g.shared_banks = whole(Field::memory_shared_banks, g.shared_banks);
  g.shared_pairs = whole(Field::memory_shared_pairs, g.shared_pairs);
  g.bank_bytes = whole(Field::memory_shared_bank_bytes, g.bank_bytes);
  g.l1_banks = whole(Field::memory_l1_banks, g.l1_banks);
  g.l1_tags = whole(Field::memory_l1_tags, g.l1_tags);
  g.l1_tag_banks = whole(Field::memory_l1_tag_banks, g.l1_tag_banks);
  g.l1_group = whole(Field::memory_l1_group_lanes, g.l1_group);
  return g;
}

std::string capability_of(const Device& device) {
  std::string number;
  for (const char c : device.compute_capability)
    if (c >= '0' && c <= '9') number += c;
  return device.codegen_target.starts_with("sm_") && !number.empty() ? "sm_" + number : "";
}

std::string code_key(const Device& device) {
  const std::string capability = capability_of(device);
  if (capability.empty() || capability == device.codegen_target) return device.codegen_target;
  return device.codegen_target + " for " + capability;
}

}  // namespace kernelcast
