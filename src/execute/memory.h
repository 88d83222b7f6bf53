// The buffers of an interpreted launch: global, constant and texture memory of the host process, page by page on
// demand.
//
// A buffer is an address range reserved at once; a page of it gets memory and its first contents when it is first
// touched. First contents are a pure function of seed, buffer and place (fill.h), so neither the order of touching nor
// the number of threads matters. A buffer that nobody gave a size has room for 64 GiB, and what was touched tells how
// large it must be.
#pragma once

#include <atomic>
#include <cstdint>
#include <memory>
#include <mutex>
#include <string>
#include <vector>

#include "execute/fill.h"
#include "kernelcast/execute.h"

namespace kernelcast::interpreter {

/// Thrown inside when a limit strikes; execute() makes a finding of it.
struct LimitReached {
  std::string what;
};

inline constexpr int page_bits = 12;
inline constexpr std::int64_t page_bytes = std::int64_t{1} << page_bits;

/// One buffer of the profile. Shared and private ones live elsewhere: `data` null, `bytes` 0.
struct MemoryBuffer {
  std::string name;
  unsigned char* data = nullptr;     // host address of byte 0
  std::int64_t bytes = 0;            // that may be accessed; of a buffer without a declared size: the room reserved
  bool declared = false;             // size from --buffer, from given contents or from the source
  int element_bytes = 4;             // of one element of COUNT in --buffer NAME=COUNT
  ElementType element;               // what the fill writes
  std::int64_t elements = 0;         // declared ones, else 0
  std::string fill;                  // in force, as --buffer takes it; empty: contents from source or caller
  BoundRole role = BoundRole::none;  // what its default fill follows
  bool fill_given = false;           // by the user; false: a default
  bool read = true;                  // false: the profile has no load and no atomic of it
  bool decides = true;               // false: no count depends on what it holds
};

class Memory {
 public:
  /// Reserves every buffer. `profile`, `program` and `options` must outlive this. Throws UserError for bad fills, sizes
  /// and files, naming --buffer; LimitError when the system refuses the address space.
  Memory(const KernelProfile& profile, const Program& program, const Launch& launch, const ExecuteOptions& options);
  ~Memory();
  Memory(const Memory&) = delete;
  Memory& operator=(const Memory&) = delete;

  /// Host address of bytes [offset, offset + n) of a buffer, n >= 1, with their first contents in place; nullptr when
  /// they are not all inside or there is no such buffer here. Any thread may call it. Throws LimitError, naming
  /// --max-memory, when the pages touched outgrow the limit.
  [[nodiscard]] unsigned char* at(int buffer, std::int64_t offset, std::int64_t n) {
    if (static_cast<unsigned>(buffer) >= slots_.size()) return nullptr;
    Slot& s = *slots_[static_cast<unsigned>(buffer)];
    if (offset < 0 || offset > s.bytes - n) return nullptr;
    const std::int64_t past = offset + n;
    const auto present = s.pages[offset >> page_bits].load(std::memory_order_acquire) &
                         s.pages[(past - 1) >> page_bits].load(std::memory_order_acquire);
    if (present == 0 || n > page_bytes) bring_in(s, offset, past);
    if (past > s.touched_end.load(std::memory_order_relaxed)) raise_end(s, past);
    return s.data + offset;
  }

  /// True for buffers with fill `none`: reading what was not written is a mistake there.
  [[nodiscard]] bool tracked(int buffer) const {
    return static_cast<unsigned>(buffer) < slots_.size() && slots_[static_cast<unsigned>(buffer)]->written != nullptr;
  }
  /// Of a tracked buffer, for a range that is inside: whether every byte was written; and the note that it was.
  [[nodiscard]] bool written(int buffer, std::int64_t offset, std::int64_t n) const {
    const std::atomic<std::uint64_t>* words = slots_[static_cast<unsigned>(buffer)]->written;
    for (std::int64_t past = offset + n; offset < past;) {
      const std::uint64_t mask = bits_of_word(offset, past);
      if ((words[offset >> 6].load(std::memory_order_relaxed) & mask) != mask) return false;
      offset = (offset | 63) + 1;
    }
    return true;
  }
  void mark_written(int buffer, std::int64_t offset, std::int64_t n) {
    std::atomic<std::uint64_t>* words = slots_[static_cast<unsigned>(buffer)]->written;
    for (std::int64_t past = offset + n; offset < past;) {
      const std::uint64_t mask = bits_of_word(offset, past);
      std::atomic<std::uint64_t>& word = words[offset >> 6];
      if ((word.load(std::memory_order_relaxed) & mask) != mask) word.fetch_or(mask, std::memory_order_relaxed);
      offset = (offset | 63) + 1;
    }
  }

  [[nodiscard]] const MemoryBuffer& buffer(int index) const { return slots_[static_cast<unsigned>(index)]->about; }
  [[nodiscard]] int size() const { return static_cast<int>(slots_.size()); }

  /// Sizes and contents of touched buffers that were taken for granted, in the order of the profile, each with the flag
  /// that replaces it.
  [[nodiscard]] std::vector<Assumption> assumptions() const;
  /// Whether contents that nobody gave were read, here or before.
  [[nodiscard]] bool generated() const;
  /// No count depends on what the buffer holds.
  void decides_nothing(int buffer) { slots_[static_cast<std::size_t>(buffer)]->about.decides = false; }
  /// Highest byte touched + 1 of a buffer without a declared size; `bytes` of the others.
  [[nodiscard]] std::int64_t touched_end(int buffer) const;
  /// The whole buffer (up to touched_end), pages that were never touched with their first contents. Allocates as much.
  [[nodiscard]] std::vector<unsigned char> contents(int buffer) const;
  /// Gives back the memory of the contents, which are lost: no access may follow. What is known about sizes stays.
  void drop_contents();
  /// From now on each 2^shift bytes of the buffers have a word for who touched them (global_watch.h). Before the first
  /// access. A buffer for which the system has no room is left out.
  void watch(const std::vector<int>& buffers, int shift);
  [[nodiscard]] bool watched(int buffer) const { return slots_[static_cast<unsigned>(buffer)]->watch != nullptr; }
  [[nodiscard]] int watch_shift() const { return watch_shift_; }
  [[nodiscard]] std::atomic<std::uint64_t>& watch_word(int buffer, std::int64_t unit) {
    return slots_[static_cast<unsigned>(buffer)]->watch[unit];
  }

  /// In seconds of the steady clock; 0: none. From then on, less the time to give back the memory touched, check_time()
  /// throws LimitReached. So does at() where it gives a page its contents: one access of a warp may ask for a page a
  /// lane, each of which costs as much as hundreds of instructions.
  void set_deadline(double seconds) { deadline_ = seconds; }
  void check_time() const;

  /// Counts memory of the execution that is no buffer's: shared and private arrays, registers. Throws LimitError that
  /// says what wants it where the limit does not allow so much; give_back() takes it off again.
  void hold(std::int64_t bytes, const std::string& what);
  void give_back(std::int64_t bytes) { resident_.fetch_sub(bytes); }
  /// Bytes that the limit still allows.
  [[nodiscard]] std::int64_t room() const { return limit_bytes_ - resident_bytes(); }
  /// Memory held: pages touched and the tables about them, and what hold() counts.
  [[nodiscard]] std::int64_t resident_bytes() const { return resident_.load(std::memory_order_relaxed); }
  /// Pages touched, without what checks note about them: how much of a sample fits must not depend on the checks.
  [[nodiscard]] std::int64_t touched_bytes() const { return touched_bytes_.load(std::memory_order_relaxed); }

 private:
  /// What at() reads comes first.
  struct Slot {
    unsigned char* data = nullptr;
    std::int64_t bytes = 0;
    std::atomic<unsigned char>* pages = nullptr;    // 1: has its contents
    std::atomic<std::int64_t> touched_end = 0;      // declared buffers: at the top from the start
    std::atomic<std::uint64_t>* written = nullptr;  // a bit a byte; only with fill `none`
    std::atomic<std::uint64_t>* watch = nullptr;    // a word a unit; of watched buffers
    std::atomic<bool> touched = false;
    std::int64_t room = 0;  // reserved bytes
    std::int64_t watch_bytes = 0;
    std::unique_ptr<const Fill> fill;
    MemoryBuffer about;
    Slot() = default;
    ~Slot();
    Slot(const Slot&) = delete;
    Slot& operator=(const Slot&) = delete;
  };

  /// Bits [offset, past) that lie in the word of `offset`.
  static std::uint64_t bits_of_word(std::int64_t offset, std::int64_t past) {
    const auto low = static_cast<unsigned>(offset & 63);
    const std::int64_t room = past - (offset - low);  // bits from the word's first on
    const std::uint64_t below = room >= 64 ? ~std::uint64_t{0} : (std::uint64_t{1} << room) - 1;
    return below & (~std::uint64_t{0} << low);
  }
  void bring_in(Slot& slot, std::int64_t offset, std::int64_t past);
  static void raise_end(Slot& slot, std::int64_t past);
  static void reserve_slot(Slot& slot);
  [[noreturn]] void throw_limit(const Slot& slot) const;

  std::vector<std::unique_ptr<Slot>> slots_;
  std::atomic<std::int64_t> resident_ = 0, touched_bytes_ = 0;
  std::int64_t limit_bytes_ = 0;
  double deadline_ = 0;
  int watch_shift_ = 2;
  std::mutex filling_[16];
};

}  // namespace kernelcast::interpreter
