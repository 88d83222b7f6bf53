// A request is its number of sectors and then, for each, the difference to the sector before (of the request before,
// for the first), folded so that small ones of either sign are small numbers: 7 bits a byte, low ones first. Requests
// of no sector, which a sample leaves behind, are a zero and how many of them.
#include "execute/trace.h"

namespace kernelcast::interpreter {

void Trace::put(std::uint64_t number) {
  while (number >= 0x80) {
    bytes_.push_back(static_cast<unsigned char>(number | 0x80));
    number >>= 7;
  }
  bytes_.push_back(static_cast<unsigned char>(number));
}

void Trace::flush_empty() {
  if (empty_ == 0) return;
  put(0);
  put(empty_);
  empty_ = 0;
}

void Trace::append(std::span<const std::uint64_t> sectors) {
  ++requests_;
  touches_ += static_cast<std::int64_t>(sectors.size());
  if (sectors.empty()) {
    ++empty_;
    return;
  }
  flush_empty();
  put(sectors.size());
  for (const std::uint64_t s : sectors) {
    const auto step = static_cast<std::int64_t>(s - key_);
    put((static_cast<std::uint64_t>(step) << 1) ^ static_cast<std::uint64_t>(step >> 63));
    key_ = s;
  }
}

void Trace::clear() {
  bytes_.clear();
  key_ = empty_ = 0;
  requests_ = touches_ = 0;
}

inline std::uint64_t Trace::Reader::number() {
  std::uint64_t value = 0;
  for (int shift = 0;; shift += 7) {
    const std::uint64_t byte = trace_->bytes_[at_++];
    value |= (byte & 0x7f) << shift;
    if (byte < 0x80) return value;
  }
}

bool Trace::Reader::next(std::vector<std::uint64_t>& out) {
  if (empty_ > 0) {
    --empty_;
    return true;
  }
  if (at_ == trace_->bytes_.size()) {
    // The last requests of no sector may not be packed yet.
    if (trace_->empty_ == 0 || tail_) return false;
    tail_ = true;
    empty_ = trace_->empty_ - 1;
    return true;
  }
  const std::uint64_t count = number();
  if (count == 0) {
    empty_ = number() - 1;
    return true;
  }
  for (std::uint64_t i = 0; i < count; ++i) {
    const std::uint64_t folded = number();
    key_ += (folded >> 1) ^ (~(folded & 1) + 1);
    out.push_back(key_);
  }
  return true;
}

}  // namespace kernelcast::interpreter
