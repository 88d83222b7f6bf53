#include "ptx/locations.h"

namespace kernelcast::ptx {
namespace {

constexpr int deepest_inlining = 64;  // a longer chain of calls is cut there

}  // namespace

std::int32_t Locations::push(Entry entry) {
  entries_.push_back(entry);
  const auto number = static_cast<std::int32_t>(entries_.size() - 1);
  const Location& at = entry.location;
  last_.insert_or_assign(SourcePoint{at.file, at.line, at.column}, number);
  return number;
}

void Locations::add(const WrittenLocation& written) {
  Entry entry;
  entry.location = {written.point.file, written.point.line, written.point.column, -1, {}, 0};
  if (written.is_inlined) {
    const auto found = last_.find(written.caller);
    const std::int32_t caller =
        found != last_.end()
            ? found->second
            : push({{written.caller.file, written.caller.line, written.caller.column, -1, {}, 0}, -1, -1, 0});
    entry.depth = entries_[caller].depth + 1;
    if (entry.depth <= deepest_inlining) {
      entry.caller = caller;
      entry.location.function = written.function;
      entry.location.function_offset = written.function_offset;
    }
  }
  current_ = push(entry);
}

std::int32_t Locations::current() {
  if (current_ < 0) return -1;
  if (entries_[current_].index >= 0) return entries_[current_].index;
  std::vector<std::int32_t> chain;
  for (std::int32_t at = current_; at >= 0 && entries_[at].index < 0; at = entries_[at].caller) chain.push_back(at);
  for (; !chain.empty(); chain.pop_back()) {
    Entry& entry = entries_[chain.back()];
    if (entry.caller >= 0) entry.location.inlined_at = entries_[entry.caller].index;
    const auto [found, added] = indices_.try_emplace(entry.location, static_cast<std::int32_t>(into_->size()));
    if (added) into_->push_back(entry.location);
    entry.index = found->second;
  }
  return entries_[current_].index;
}

}  // namespace kernelcast::ptx
