#include "ptx/locations.h"

namespace kernelcast::ptx {

namespace {
constexpr int deepest_inlining = 64;  // a chain of calls that is longer is cut
}

void Locations::add(const WrittenLocation& location) {
  has_current_ = true;
  current_index_ = -1;
  current_ = location;
  last_.insert_or_assign(location.point, location);
}

std::int32_t Locations::current() {
  if (!has_current_) return -1;
  if (current_index_ < 0) current_index_ = index_of(current_, 0);
  return current_index_;
}

std::int32_t Locations::index_of(const WrittenLocation& location, int depth) {
  Location entry{location.point.file, location.point.line,     location.point.column, -1,
                 location.function,   location.function_offset};
  if (location.is_inlined && depth < deepest_inlining) {
    const auto caller = last_.find(location.caller);
    // A copy: the call below may not change what it is given.
    const WrittenLocation written =
        caller != last_.end() ? caller->second : WrittenLocation{location.caller, {}, false, {}, 0};
    entry.inlined_at = index_of(written, depth + 1);
  }
  const auto [found, added] = indices_.try_emplace(entry, static_cast<std::int32_t>(into_->size()));
  if (added) into_->push_back(entry);
  return found->second;
}

}  // namespace kernelcast::ptx
