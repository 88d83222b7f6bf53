#include "ptx/names.h"

#include <charconv>

namespace kernelcast::ptx {
namespace {

bool ends_number(char c) { return c >= '0' && c <= '9'; }

}  // namespace

void Names::enter() { starts_.push_back(undo_.size()); }

void Names::leave() {
  for (; undo_.size() > starts_.back(); undo_.pop_back()) {
    const Undo& undo = undo_.back();
    if (undo.numbered) {
      if (undo.group.count == 0)
        numbered_.erase(undo.name);
      else
        numbered_[undo.name] = undo.group;
    } else if (undo.meaning.kind == NameKind::none) {
      names_.erase(undo.name);
    } else {
      names_[undo.name] = undo.meaning;
    }
  }
  starts_.pop_back();
}

std::string_view Names::unique(std::string_view name, bool numbered) {
  // In inner scopes a numbered name covers many others: it always gets a suffix, which ends in no digit for its sake.
  const bool inner = depth() > 1;
  bool taken = used_.contains(name) || (inner && (numbered || find(name).kind != NameKind::none));
  while (taken) {
    std::uint32_t& suffix = next_suffix_[name];
    texts_->push_back(std::string(name) + "_s" + std::to_string(suffix++) + "_");
    const std::string_view other = texts_->back();
    taken = used_.contains(other) || find(other).kind != NameKind::none;
    if (!taken) {
      used_.insert(other);
      return other;
    }
    texts_->pop_back();
  }
  used_.insert(name);
  return name;
}

bool Names::declare(std::string_view name, Meaning meaning) {
  meaning.depth = depth();
  const auto [place, added] = names_.try_emplace(name, meaning);
  if (added) {
    if (!starts_.empty()) undo_.push_back({false, name, {}, {}});
    return true;
  }
  if (place->second.depth == meaning.depth) return false;
  undo_.push_back({false, name, place->second, {}});
  place->second = meaning;
  return true;
}

bool Names::declare_numbered(std::string_view name, std::uint32_t first, std::uint32_t count) {
  const Numbered group{depth(), first, count};
  const auto [place, added] = numbered_.try_emplace(name, group);
  if (added) {
    if (!starts_.empty()) undo_.push_back({true, name, {}, {}});
    return true;
  }
  if (place->second.depth == group.depth) return false;
  undo_.push_back({true, name, {}, place->second});
  place->second = group;
  return true;
}

Meaning Names::find_numbered(std::string_view name) const {
  Meaning best;
  std::size_t begin = name.size();
  while (begin > 1 && ends_number(name[begin - 1]) && name.size() - begin < 9) {
    --begin;
    if (name[begin] == '0' && begin + 1 < name.size()) continue;  // %r01 is not of %r<10>
    const auto found = numbered_.find(name.substr(0, begin));
    if (found == numbered_.end() || (best.kind != NameKind::none && found->second.depth <= best.depth)) continue;
    std::uint32_t number = 0;
    std::from_chars(name.data() + begin, name.data() + name.size(), number);
    if (number < found->second.count)
      best = {NameKind::reg, found->second.depth, static_cast<std::int32_t>(found->second.first + number)};
  }
  return best;
}

Meaning Names::find(std::string_view name) const {
  Meaning numbered;
  if (!name.empty() && ends_number(name.back())) numbered = find_numbered(name);
  if (numbered.kind != NameKind::none && numbered.depth == depth()) return numbered;
  const auto found = names_.find(name);
  if (found == names_.end() || (numbered.kind != NameKind::none && numbered.depth > found->second.depth))
    return numbered;
  return found->second;
}

Meaning Names::find_here(std::string_view name) const {
  const Meaning meaning = find(name);
  return meaning.depth == depth() ? meaning : Meaning{};
}

}  // namespace kernelcast::ptx
