// Which name means what, scope by scope.
#pragma once

#include <cstdint>
#include <deque>
#include <optional>
#include <string>
#include <string_view>
#include <unordered_map>
#include <unordered_set>
#include <vector>

#include "ptx/module.h"

namespace kernelcast::ptx {

/// What a name is declared as.
enum class NameKind : std::uint8_t { none, reg, global, function, param, return_, local, label, table };

struct Meaning {
  NameKind kind = NameKind::none;
  std::uint32_t depth = 0;  // 0: module, 1: function, 2..: braces
  std::int32_t index = -1;  // reg: of the register
};

/// Declarations of the scopes around the place that is being read. Name spaces do not differ, as in PTX.
class Names {
 public:
  explicit Names(std::deque<std::string>& texts) : texts_(&texts) {}

  void enter();
  /// Forgets what the innermost scope declares.
  void leave();
  [[nodiscard]] std::uint32_t depth() const { return static_cast<std::uint32_t>(starts_.size()); }
  /// Between functions: the names that unique() has given out may be used again.
  void forget_used() {
    used_.clear();
    next_suffix_.clear();
  }

  /// `name` as it can stand at the function's beginning beside all that have been given out there.
  std::string_view unique(std::string_view name, bool numbered);

  /// False where the innermost scope has the name already.
  bool declare(std::string_view name, Meaning meaning);
  /// name0 .. name(count-1), registers from `first` on.
  bool declare_numbered(std::string_view name, std::uint32_t first, std::uint32_t count);
  [[nodiscard]] Meaning find(std::string_view name) const;
  /// Only what the innermost scope itself declares.
  [[nodiscard]] Meaning find_here(std::string_view name) const;

 private:
  struct Numbered {
    std::uint32_t depth = 0, first = 0, count = 0;
  };
  struct Undo {
    bool numbered = false;
    std::string_view name;
    Meaning meaning;  // before; none: absent
    Numbered group;
  };

  [[nodiscard]] Meaning find_numbered(std::string_view name) const;

  std::deque<std::string>* texts_;
  std::unordered_map<std::string_view, Meaning> names_;
  std::unordered_map<std::string_view, Numbered> numbered_;
  std::vector<Undo> undo_;
  std::vector<std::size_t> starts_;  // of scopes, in undo_
  std::unordered_set<std::string_view> used_;
  std::unordered_map<std::string_view, std::uint32_t> next_suffix_;
};

}  // namespace kernelcast::ptx
