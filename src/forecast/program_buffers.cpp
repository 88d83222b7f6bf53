// An array counts as touched where any launch may touch it, as far as closed forms bound that (buffer_reach.h). One
// launch of which this is not known, or that gets a pointer of which it is not known where it leads, and nothing is
// said.
#include "forecast/program_buffers.h"

#include <algorithm>
#include <map>
#include <optional>
#include <set>
#include <utility>

namespace kernelcast {
namespace {

struct Array {
  std::int64_t bytes = 0;
  std::optional<Interval> touched;
  bool known = true, by_thread = false;
  std::size_t last_launch = 0;
  std::string name;  // in that launch
};

class Arrays {
 public:
  /// False: the launch may reach any array.
  bool add(std::size_t number, const HostLaunch& launch, const std::vector<BufferReach>& reaches,
           const KernelProfile* profile) {
    const auto add_buffer = [&](const std::string& name, const HostBuffer& buffer) {
      if (buffer.array < 0) return;
      Array& array = arrays_[buffer.array];
      array.last_launch = number;
      array.name = name;
      touch(array, buffer, reach_of(name, reaches, profile));
    };
    for (const HostArgument& a : launch.args) {
      if (const auto* other = std::get_if<HostOther>(&a.value); other != nullptr && other->what != "null pointer")
        return false;
      if (const auto* buffer = std::get_if<HostBuffer>(&a.value)) {
        if (buffer->array == 0) return false;
        add_buffer(a.name, *buffer);
      }
      if (const auto* structure = std::get_if<HostStructure>(&a.value)) {
        if (!structure->unknown.empty()) return false;  // it may hold other pointers
        for (const auto& [offset, buffer] : structure->pointers) {
          if (buffer.array == 0) return false;
          add_buffer(a.name + "+" + std::to_string(offset), buffer);
        }
      }
    }
    return true;
  }

  [[nodiscard]] const std::map<std::int64_t, Array>& all() const { return arrays_; }

 private:
  static const BufferReach* reach_of(const std::string& name, const std::vector<BufferReach>& reaches,
                                     const KernelProfile* profile) {
    const auto is = [&](const BufferReach& r) {
      return profile->buffers[static_cast<std::size_t>(r.buffer)].name == name;
    };
    const auto found = std::find_if(reaches.begin(), reaches.end(), is);
    return found == reaches.end() ? nullptr : &*found;
  }

  static void touch(Array& array, const HostBuffer& buffer, const BufferReach* reach) {
    if (reach == nullptr || (reach->accessed && !reach->touched)) {
      array.known = false;
      return;
    }
    array.bytes = std::max(array.bytes, buffer.offset_bytes + reach->bytes);
    if (!reach->accessed) return;
    array.by_thread = array.by_thread || reach->by_thread;
    const Interval here{reach->touched->lo + buffer.offset_bytes, reach->touched->hi + buffer.offset_bytes};
    array.touched =
        array.touched ? Interval{std::min(array.touched->lo, here.lo), std::max(array.touched->hi, here.hi)} : here;
  }

  std::map<std::int64_t, Array> arrays_;
};

/// What the execution saw.
std::vector<BeyondBuffer> executed_beyond(const DeviceResult& result) {
  if (!result.execution || !result.workload) return {};
  const auto& assumptions = result.workload->assumptions;
  if (std::any_of(assumptions.begin(), assumptions.end(),
                  [](const Assumption& a) { return a.kind == Assumption::Kind::contents; }))
    return {};
  std::vector<BeyondBuffer> found;
  for (const Finding& f : result.execution->findings)
    if (f.kind == Finding::Kind::out_of_bounds) found.push_back({f.line, "", f.text});
  return found;
}

}  // namespace

std::vector<BeyondBuffer> accesses_beyond(const DeviceResult& result, const std::vector<BufferReach>& reaches) {
  std::vector<BeyondBuffer> found = executed_beyond(result);
  std::set<SourceLine> seen;
  for (const BeyondBuffer& b : found) seen.insert(b.line);
  for (const BufferReach& r : reaches) {
    if (!r.beyond || seen.contains(r.beyond->line)) continue;
    const std::string& name = result.profile->buffers[static_cast<std::size_t>(r.buffer)].name;
    found.push_back({r.beyond->line, name, beyond_text(r, name)});
  }
  return found;
}

std::vector<std::vector<BufferFinding>> buffer_findings(const std::vector<LaunchOnDevice>& launches, bool whole) {
  std::vector<std::vector<BufferFinding>> all(launches.size());
  Arrays arrays;
  for (std::size_t k = 0; k < launches.size(); ++k) {
    const DeviceResult* result = launches[k].result;
    std::vector<BufferReach> reaches;
    if (result != nullptr && result->profile && result->workload) {
      reaches = buffer_reaches(*result->profile, result->launch);
      for (BeyondBuffer& b : accesses_beyond(*result, reaches))
        all[k].push_back({"beyond-buffer", std::move(b.buffer), std::move(b.text)});
    }
    const bool followed =
        arrays.add(k, *launches[k].launch, reaches, result == nullptr ? nullptr : result->profile.get());
    whole = whole && followed && !launches[k].launch->more && launches[k].launch->conditions.empty();
  }
  if (!whole) return all;
  for (const auto& [id, array] : arrays.all()) {
    const auto touched = array.known && array.by_thread ? mostly_untouched(array.touched, array.bytes) : std::nullopt;
    if (touched)
      all[array.last_launch].push_back(
          {"untouched-array", array.name, untouched_text(*touched, array.name, array.bytes)});
  }
  return all;
}

}  // namespace kernelcast
