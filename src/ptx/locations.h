// .loc directives to the list of locations that instructions refer to, each once, in the order of first use.
#pragma once

#include <cstdint>
#include <string_view>
#include <unordered_map>
#include <vector>

#include "ptx/module.h"

namespace kernelcast::ptx {

struct SourcePoint {
  std::uint32_t file = 0, line = 0, column = 0;
  bool operator==(const SourcePoint&) const = default;
};

/// A .loc as written: the call that it was inlined at is a point, whose own .loc stands before.
struct WrittenLocation {
  SourcePoint point, caller;
  bool is_inlined = false;
  std::string_view function;
  std::int64_t function_offset = 0;
};

class Locations {
 public:
  explicit Locations(std::vector<Location>& into) : into_(&into) {}

  void add(const WrittenLocation& location);
  void forget_current() { has_current_ = false; }
  /// Of the last add(); -1: none since forget_current().
  std::int32_t current();

 private:
  struct Hash {
    std::size_t operator()(const SourcePoint& point) const {
      return (std::size_t{point.file} * 1000003 + point.line) * 1000003 + point.column;
    }
    std::size_t operator()(const Location& location) const {
      return ((*this)(SourcePoint{location.file, location.line, location.column}) * 1000003 +
              static_cast<std::size_t>(location.inlined_at)) *
                 1000003 +
             std::hash<std::string_view>{}(location.function);
    }
  };

  std::int32_t index_of(const WrittenLocation& location, int depth);

  std::vector<Location>* into_;
  bool has_current_ = false;
  std::int32_t current_index_ = -1;  // -1: not looked up yet
  WrittenLocation current_;
  std::unordered_map<SourcePoint, WrittenLocation, Hash> last_;
  std::unordered_map<Location, std::int32_t, Hash> indices_;
};

}  // namespace kernelcast::ptx
