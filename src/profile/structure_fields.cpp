#include "profile/structure_fields.h"

#include <algorithm>
#include <bit>
#include <charconv>
#include <cstring>
#include <optional>
#include <string_view>
#include <utility>

namespace kernelcast {
namespace {

/// The structure and the offset in it of a field's name, "p+8"; nothing: it is no field of one that is given.
std::optional<std::pair<const StructureSpec*, std::int64_t>> field_place(const Launch& launch,
                                                                         const std::string& name) {
  const std::size_t plus = name.rfind('+');
  if (plus == std::string::npos) return std::nullopt;
  const auto owner = launch.structures.find(name.substr(0, plus));
  std::int64_t offset = -1;
  std::from_chars(name.data() + plus + 1, name.data() + name.size(), offset);
  if (owner == launch.structures.end() || offset < 0) return std::nullopt;
  return std::pair(&owner->second, offset);
}

/// The number at a place of a structure, little-endian as the devices are; nothing: a byte of it is not known.
std::optional<ArgValue> number_at(const StructureSpec& structure, std::int64_t offset, const Parameter& p) {
  const auto size = static_cast<std::size_t>(p.bytes), at = static_cast<std::size_t>(offset);
  if (p.bytes < 1 || p.bytes > 8 || at + size > structure.bytes.size()) return std::nullopt;
  const std::string_view known = std::string_view(structure.known).substr(at, size);
  if (std::any_of(known.begin(), known.end(), [](char c) { return c == 0; })) return std::nullopt;
  std::uint64_t bits = 0;
  std::memcpy(&bits, structure.bytes.data() + at, size);
  if (p.integer) {
    const std::size_t spare = 64 - 8 * size;
    return static_cast<std::int64_t>(bits << spare) >> spare;
  }
  if (size == sizeof(double)) return std::bit_cast<double>(bits);
  if (size == sizeof(float)) return static_cast<double>(std::bit_cast<float>(static_cast<std::uint32_t>(bits)));
  return std::nullopt;
}

}  // namespace

void name_fields(const KernelProfile& profile, Launch& launch) {
  for (const Parameter& p : profile.parameters) {
    const auto place = p.pointer ? std::nullopt : field_place(launch, p.name);
    const auto value = place ? number_at(*place->first, place->second, p) : std::nullopt;
    if (value) launch.args.emplace(p.name, *value);
  }
  for (const auto& b : profile.buffers) {
    const auto global = b.parameter >= 0 ? launch.globals.end() : launch.globals.find(b.name);
    if (global != launch.globals.end()) launch.buffers.emplace(b.name, global->second);
    const auto place = b.parameter >= 0 ? std::nullopt : field_place(launch, b.name);
    if (!place) continue;
    const auto pointer = place->first->pointers.find(place->second);
    if (pointer != place->first->pointers.end()) launch.buffers.emplace(b.name, pointer->second);
  }
}

}  // namespace kernelcast
