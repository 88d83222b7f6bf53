// One line a launch: "grid block shared known time probability refusal reason". Numbers are written so that they are
// read back to the last bit.
#include "tune/kept_forecasts.h"

#include <fmt/format.h>

#include <charconv>
#include <optional>
#include <string_view>

#include "tune/digest.h"

namespace kernelcast::tune {
namespace {

constexpr std::string_view ending = ".forecasts";

/// Reads the fields of one line from the left.
class Fields {
 public:
  explicit Fields(std::string_view line) : rest_(line) {}
  template <class Number>
  void read(Number& n) {
    const auto [end, error] = std::from_chars(rest_.data(), rest_.data() + rest_.size(), n);
    good_ = good_ && error == std::errc() && end < rest_.data() + rest_.size() && *end == ' ';
    if (good_) rest_.remove_prefix(static_cast<std::size_t>(end - rest_.data()) + 1);
  }
  void read(Dim3& d) {
    read(d.x);
    read(d.y);
    read(d.z);
  }
  [[nodiscard]] bool good() const { return good_; }
  [[nodiscard]] std::string_view rest() const { return rest_; }

 private:
  std::string_view rest_;
  bool good_ = true;
};

std::string text_of(const Dim3& d) { return fmt::format("{} {} {}", d.x, d.y, d.z); }

std::string line_of(const LaunchShape& s, const TrialTime& a) {
  return fmt::format("{} {} {} {} {} {} {} {}\n", text_of(s.grid), text_of(s.block), s.dynamic_shared_bytes,
                     (s.grid_known ? 1 : 0) + (s.block_known ? 2 : 0), a.time_s, a.cannot_run,
                     static_cast<int>(a.refusal), a.reason);
}

std::optional<std::pair<LaunchShape, TrialTime>> read_line(std::string_view line) {
  LaunchShape s;
  TrialTime a;
  int known = 0, refusal = 0;
  Fields fields(line);
  fields.read(s.grid);
  fields.read(s.block);
  fields.read(s.dynamic_shared_bytes);
  fields.read(known);
  fields.read(a.time_s);
  fields.read(a.cannot_run);
  fields.read(refusal);
  if (!fields.good() || refusal < 0 || refusal >= static_cast<int>(Refusal::count_)) return std::nullopt;
  s.grid_known = (known & 1) != 0;
  s.block_known = (known & 2) != 0;
  a.refusal = static_cast<Refusal>(refusal);
  a.reason = fields.rest();
  return std::pair(s, std::move(a));
}

}  // namespace

std::string digest_of(const Device& device) {
  Digest digest;
  digest.add({device.id, device.name, device.vendor, device.architecture, device.kind, device.compute_capability,
              device.codegen_target});
  for (const FieldValue& v : device.values) digest.add(v.value ? fmt::format("{}", *v.value) : "unknown");
  return digest.str();
}

std::string digest_of(const Launch& launch) {
  Digest digest;
  for (const auto& [name, value] : launch.args)
    digest.add({name, std::visit([](auto v) { return fmt::format("{}", v); }, value), std::to_string(value.index())});
  digest.add("buffers");
  for (const auto& [name, buffer] : launch.buffers) digest.add({name, std::to_string(buffer.elements), buffer.fill});
  digest.add("assume");
  for (const auto& [name, value] : launch.assume) digest.add({name, fmt::format("{}", value)});
  digest.add({launch.cache == CacheState::warm ? "warm" : "cold", fmt::format("{}", launch.launch_overhead_s)});
  return digest.str();
}

KeptForecasts::KeptForecasts(AnalysisMemory& memory, std::string name)
    : memory_(memory), name_(std::move(name) + std::string(ending)) {
  const std::optional<std::string> text = memory_.kept(name_);
  if (!text) return;
  for (std::size_t at = 0; at < text->size();) {
    const std::size_t end = std::min(text->find('\n', at), text->size());
    if (auto line = read_line(std::string_view(*text).substr(at, end - at))) answers_.insert(std::move(*line));
    at = end + 1;
  }
}

const TrialTime* KeptForecasts::find(const LaunchShape& shape) const {
  const auto found = answers_.find(shape);
  return found == answers_.end() ? nullptr : &found->second;
}

void KeptForecasts::add(const LaunchShape& shape, const TrialTime& answer) {
  added_ = answers_.emplace(shape, answer).second || added_;
}

void KeptForecasts::flush() {
  if (!added_) return;
  std::string text;
  for (const auto& [shape, answer] : answers_) text += line_of(shape, answer);
  memory_.keep(name_, text);
  added_ = false;
}

}  // namespace kernelcast::tune
