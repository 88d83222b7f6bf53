// The symbol pool. Names live in segments that never move and never shrink, so reading a name needs no lock: segment k
// holds 64 * 2^k names, and 26 segments hold more names than fit in memory. Interning takes a lock.
#include <array>
#include <atomic>
#include <bit>
#include <memory>
#include <mutex>
#include <shared_mutex>
#include <unordered_map>

#include "kernelcast/error.h"
#include "kernelcast/expr.h"

namespace kernelcast {
namespace {

class SymbolPool {
 public:
  std::uint32_t intern(std::string_view name) {
    {
      const std::shared_lock lock(mutex_);
      if (const auto it = ids_.find(name); it != ids_.end()) return it->second;
    }
    const std::unique_lock lock(mutex_);
    if (const auto it = ids_.find(name); it != ids_.end()) return it->second;
    const std::uint32_t id = size_;
    const Place place = locate(id);
    if (place.segment >= segments_.size()) throw LimitError("too many distinct symbols in one process");
    if (place.index == 0) segments_[place.segment].store(new std::string[first_segment << place.segment]);
    std::string& slot = segments_[place.segment].load()[place.index];
    slot = name;
    ids_.emplace(slot, id);
    size_ = id + 1;
    return id;
  }

  const std::string& name(std::uint32_t id) const {
    const Place place = locate(id);
    return segments_[place.segment].load(std::memory_order_acquire)[place.index];
  }

 private:
  static constexpr std::uint32_t first_segment = 64;
  struct Place {
    std::size_t segment, index;
  };
  static Place locate(std::uint32_t id) {
    const std::uint64_t shifted = std::uint64_t{id} + first_segment;
    const auto segment = static_cast<std::size_t>(std::bit_width(shifted) - std::bit_width(first_segment));
    return {segment, static_cast<std::size_t>(shifted - (std::uint64_t{first_segment} << segment))};
  }

  mutable std::shared_mutex mutex_;
  std::unordered_map<std::string_view, std::uint32_t> ids_;
  std::array<std::atomic<std::string*>, 26> segments_{};
  std::uint32_t size_ = 0;
};

// Never destroyed: expressions in static storage may outlive every other object.
SymbolPool& pool() {
  static SymbolPool& instance = *new SymbolPool;
  return instance;
}

}  // namespace

Symbol::Symbol(std::string_view name) : id_(pool().intern(name)) {}
const std::string& Symbol::name() const { return pool().name(id_); }

}  // namespace kernelcast
