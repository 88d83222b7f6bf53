// Requests of a warp or block in order, packed: the sectors of each as variable-length differences.
#pragma once

#include <cstdint>
#include <span>
#include <vector>

namespace kernelcast::interpreter {

/// Keys below 2^62. A neighbour of the sector before takes one byte, a request one more.
class Trace {
 public:
  void append(std::span<const std::uint64_t> sectors);
  [[nodiscard]] std::int64_t bytes() const { return static_cast<std::int64_t>(bytes_.size()); }
  [[nodiscard]] std::int64_t requests() const { return requests_; }
  [[nodiscard]] std::int64_t touches() const { return touches_; }
  void clear();
  /// Gives back what the packing reserved and did not need.
  void shrink() { bytes_.shrink_to_fit(); }

  class Reader {
   public:
    explicit Reader(const Trace& trace) : trace_(&trace) {}
    /// Appends the next request's sectors to `out`; false at the end.
    bool next(std::vector<std::uint64_t>& out);

   private:
    std::uint64_t number();
    const Trace* trace_;
    std::size_t at_ = 0;
    std::uint64_t key_ = 0, empty_ = 0;
    bool tail_ = false;
  };

 private:
  void put(std::uint64_t number);
  void flush_empty();
  std::vector<unsigned char> bytes_;
  std::uint64_t key_ = 0;
  std::uint64_t empty_ = 0;  // requests without a sector at the end, not packed yet
  std::int64_t requests_ = 0, touches_ = 0;
};

/// One request of each in turn until all are at their end: how warps of a block and blocks of an SM are interleaved.
/// `take` is called with the sectors of one request at a time.
template <class Take>
void interleave(std::span<const Trace* const> traces, Take&& take) {
  std::vector<Trace::Reader> readers;
  readers.reserve(traces.size());
  for (const Trace* t : traces) readers.emplace_back(*t);
  std::vector<std::uint64_t> request;
  while (!readers.empty()) {
    std::size_t kept = 0;
    for (std::size_t i = 0; i < readers.size(); ++i) {
      request.clear();
      if (!readers[i].next(request)) continue;
      take(std::span<const std::uint64_t>(request));
      readers[kept++] = readers[i];
    }
    readers.erase(readers.begin() + static_cast<std::ptrdiff_t>(kept), readers.end());
  }
}

}  // namespace kernelcast::interpreter
