#include "frontend/host/host_value.h"

#include "frontend/host/random_state.h"

#include <algorithm>

namespace kernelcast::frontend::host {

Value Value::of(std::int64_t number) {
  Value v;
  v.kind = Kind::integer;
  v.integer = number;
  return v;
}

Value Value::of_wide(Wide number, bool is_signed) {
  Value v = of(static_cast<std::int64_t>(number));
  if (v.wide() == number && (is_signed || v.integer >= 0)) return v;
  v.kind = Kind::wide;
  v.high = static_cast<std::uint64_t>(number >> 64);
  return v;
}

Wide Value::wide() const {
  if (kind == Kind::integer) return static_cast<Wide>(SignedWide{integer});
  return (Wide{high} << 64) | static_cast<std::uint64_t>(integer);
}

Value Value::of_real(double number) {
  Value v;
  v.kind = Kind::real;
  v.real = number;
  return v;
}

Value Value::pointer_to(Place place) {
  Value v;
  v.kind = Kind::pointer;
  v.place = std::move(place);
  return v;
}

Value Value::object_of(MemoryRef memory) {
  Value v;
  v.kind = Kind::object;
  v.place.memory = std::move(memory);
  return v;
}

Value Value::not_known(std::string why, int line) {
  Value v;
  v.unknown = {"", std::move(why), line};
  return v;
}

std::optional<bool> Value::truth() const {
  switch (kind) {
    case Kind::integer:
      return integer != 0;
    case Kind::wide:
      return true;  // zero is no wide number
    case Kind::real:
      return real != 0;
    case Kind::pointer:
      return place.memory != nullptr;
    case Kind::function:
      return true;
    default:
      return std::nullopt;
  }
}

MemoryRef object_at(const Place& place) {
  if (!place.memory) return nullptr;
  const auto held = place.memory->slots.find(place.key);
  return held != place.memory->slots.end() ? held->second.place.memory : nullptr;
}

Value copied(const Value& value) {
  if (value.kind != Value::Kind::object || value.place.memory == nullptr) return value;
  auto memory = std::make_shared<Memory>(*value.place.memory);
  for (auto& [key, slot] : memory->slots) slot = copied(slot);
  if (memory->random) memory->random = std::make_shared<RandomState>(*memory->random);
  return Value::object_of(std::move(memory));
}

Value fresh(Value value) {
  value.never_written = !value.known();
  if (value.kind != Value::Kind::object || value.place.memory == nullptr) return value;
  Memory& memory = *value.place.memory;
  memory.rest.never_written = !memory.rest.known();
  for (auto& [key, slot] : memory.slots) slot = fresh(slot);
  return value;
}

}  // namespace kernelcast::frontend::host

namespace kernelcast {

std::string HostTensorMap::text() const {
  std::string text;
  for (const std::int64_t n : box) text += (text.empty() ? "" : "x") + std::to_string(n);
  return text + ":" + std::to_string(element_bytes);
}

std::vector<HostUnknown> HostLaunch::unknowns() const {
  std::vector<HostUnknown> found;
  const auto add = [&](const HostUnknown& u) {
    const bool listed = std::any_of(found.begin(), found.end(), [&](const HostUnknown& other) {
      return other.name == u.name && other.why == u.why && other.line == u.line;
    });
    if (!listed) found.push_back(u);
  };
  const auto add_number = [&](const HostNumber& n) {
    if (const auto* u = std::get_if<HostUnknown>(&n)) add(*u);
  };
  for (const HostNumber& n : grid) add_number(n);
  for (const HostNumber& n : block) add_number(n);
  for (const HostNumber& n : cluster) add_number(n);
  add_number(shared);
  for (const HostArgument& a : args)
    if (const auto* u = std::get_if<HostUnknown>(&a.value)) add(*u);
  return found;
}

}  // namespace kernelcast
