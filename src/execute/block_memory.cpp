// Loads, stores and atomics of a warp: where each lane's address points, whether it may, and what the request costs.
#include <algorithm>
#include <bit>
#include <cmath>
#include <cstring>
#include <mutex>

#include "execute/block_runner.h"
#include "execute/for_lanes.h"
#include "execute/half.h"
#include "kernelcast/address.h"

namespace kernelcast::interpreter {
namespace {

constexpr std::size_t most_updated_words = 1 << 20;

template <class T>
void gather(T* to, unsigned char* const* from, std::ptrdiff_t at, std::uint64_t lanes) {
  for_lanes(lanes, [&](int l) { std::memcpy(to + l, from[l] + at, sizeof(T)); });
}
template <class T>
void scatter(const T* from, unsigned char* const* to, std::ptrdiff_t at, std::uint64_t lanes) {
  for_lanes(lanes, [&](int l) { std::memcpy(to[l] + at, from + l, sizeof(T)); });
}

struct Sixteen {
  std::uint64_t low, high;
};

template <class F>
void with_size(int size, F f) {
  switch (size) {
    case 1:
      return f(std::uint8_t{});
    case 2:
      return f(std::uint16_t{});
    case 4:
      return f(std::uint32_t{});
    case 8:
      return f(std::uint64_t{});
    default:
      return f(Sixteen{});
  }
}

std::mutex& lock_for(const unsigned char* place) {
  static std::mutex locks[64];
  return locks[(reinterpret_cast<std::uintptr_t>(place) >> 3) % 64];
}

template <class T>
T combined(AtomicOp op, T old, T v, T compare) {
  using S = std::make_signed_t<T>;
  switch (op) {
    case AtomicOp::exchange:
      return v;
    case AtomicOp::add:
      return static_cast<T>(old + v);
    case AtomicOp::sub:
      return static_cast<T>(old - v);
    case AtomicOp::and_:
      return old & v;
    case AtomicOp::or_:
      return old | v;
    case AtomicOp::xor_:
      return old ^ v;
    case AtomicOp::nand:
      return static_cast<T>(~(old & v));
    case AtomicOp::smin:
      return static_cast<S>(old) < static_cast<S>(v) ? old : v;
    case AtomicOp::smax:
      return static_cast<S>(old) > static_cast<S>(v) ? old : v;
    case AtomicOp::umin:
      return std::min(old, v);
    case AtomicOp::umax:
      return std::max(old, v);
    case AtomicOp::wrap_inc:
      return old >= v ? T{0} : static_cast<T>(old + 1);
    case AtomicOp::wrap_dec:
      return old == 0 || old > v ? v : static_cast<T>(old - 1);
    case AtomicOp::compare_exchange:
      return old == compare ? v : old;
    default:
      return old;
  }
}

template <class F, class U>
U combined_real(AtomicOp op, U old_bits, U bits) {
  F a, b;
  if constexpr (sizeof(U) == 2) {
    a = Half::to_float(old_bits);
    b = Half::to_float(bits);
  } else {
    a = std::bit_cast<F>(old_bits);
    b = std::bit_cast<F>(bits);
  }
  F r = a;
  if (op == AtomicOp::fadd) r = a + b;
  if (op == AtomicOp::fsub) r = a - b;
  if (op == AtomicOp::fmin) r = std::fmin(a, b);
  if (op == AtomicOp::fmax) r = std::fmax(a, b);
  if constexpr (sizeof(U) == 2)
    return Half::from_float(r);
  else
    return std::bit_cast<U>(r);
}

/// Sum of two bfloat16, to the nearest, ties to even.
std::uint32_t bfloat_sum(std::uint32_t a, std::uint32_t b) {
  const float sum = std::bit_cast<float>(a << 16) + std::bit_cast<float>(b << 16);
  const auto bits = std::bit_cast<std::uint32_t>(sum);
  return std::isnan(sum) ? 0x7fff : (bits + 0x7fff + (bits >> 16 & 1)) >> 16;
}

std::uint64_t new_value(AtomicOp op, ValueType t, std::uint64_t old, std::uint64_t v, std::uint64_t compare) {
  const bool real = op == AtomicOp::fadd || op == AtomicOp::fsub || op == AtomicOp::fmin || op == AtomicOp::fmax;
  if (real && t == ValueType::f16)
    return combined_real<float>(op, static_cast<std::uint16_t>(old), static_cast<std::uint16_t>(v));
  if (real && t == ValueType::i16)  // bfloat16
    return static_cast<std::uint16_t>(bfloat_sum(static_cast<std::uint16_t>(old), static_cast<std::uint16_t>(v)));
  if (real && t == ValueType::f32)
    return combined_real<float>(op, static_cast<std::uint32_t>(old), static_cast<std::uint32_t>(v));
  if (real) return combined_real<double>(op, old, v);
  switch (size_of(t)) {
    case 1:
      return combined(op, static_cast<std::uint8_t>(old), static_cast<std::uint8_t>(v),
                      static_cast<std::uint8_t>(compare));
    case 2:
      return combined(op, static_cast<std::uint16_t>(old), static_cast<std::uint16_t>(v),
                      static_cast<std::uint16_t>(compare));
    case 4:
      return combined(op, static_cast<std::uint32_t>(old), static_cast<std::uint32_t>(v),
                      static_cast<std::uint32_t>(compare));
    default:
      return combined(op, old, v, compare);
  }
}

int alignment_of(const SimtInstruction& i) { return i.alignment > 0 ? i.alignment : size_of(i.type); }

const char* verb(AccessKind kind) {
  return kind == AccessKind::load ? "reads" : kind == AccessKind::store ? "writes" : "updates";
}

}  // namespace

void BlockRunner::report_access(Finding::Kind kind, const SimtInstruction& i, int number, int lane,
                                const std::string& text) {
  report(kind, i.line, text, number, lane);
}

/// The usual case: all lanes inside of one buffer, or of shared memory, and aligned. False: look at each lane.
bool BlockRunner::translate_together(const std::uint64_t* a, std::uint64_t lanes, std::uint64_t displacement,
                                     const SimtInstruction& i, int bytes) {
  if (i.pointing == Pointing::stack) return false;
  const auto step = static_cast<std::uint64_t>(bytes);
  const AddressScan s = scan_(a, lanes, rows_, displacement, step, address_);
  if (!s.near) return false;
  const std::uint64_t from_first = lanes >> std::countr_zero(lanes);
  const bool unbroken = (from_first & (from_first + 1)) == 0;
  pattern_ = s.least == s.most ? Pattern::same : s.in_row && unbroken ? Pattern::consecutive : Pattern::any;
  span_ = s.most - s.least + step;
  if ((s.bits & static_cast<std::uint64_t>(alignment_of(i) - 1)) != 0) return false;
  if ((s.bits & static_cast<std::uint64_t>(size_of(i.type) - 1)) != 0) {  // elements may straddle words
    pattern_ = Pattern::any;
    span_ = ~std::uint64_t{0};
  }
  // Also of lanes that are off, whose places nobody uses: numbers, until they are pointers.
  const auto place_from = [&](unsigned char* base, std::uint64_t origin) {
    const std::uint64_t shift = reinterpret_cast<std::uintptr_t>(base) - origin;
    for (int l = 0; l < rows_ * lanes_at_once; ++l) host_[l] = reinterpret_cast<unsigned char*>(address_[l] + shift);
  };
  if (i.pointing == Pointing::shared) {
    const auto size = static_cast<std::uint64_t>(shared_.bytes());
    if (s.least > s.most || s.most > size || s.most + step > size) return false;  // some below 0, some beyond the end
    place_from(shared_.data(), 0);
    space_ = MemorySpace::shared;
    shared_lanes_ = lanes;
    return true;
  }
  constexpr std::uint64_t most_span = 2 * page_bytes;
  const std::uint64_t window = window_of(s.least);
  const int buffer = static_cast<int>(window) - 1;
  if (window != window_of(s.most) || s.most - s.least > most_span || window == 0 || buffer >= plan_.memory->size() ||
      plan_.memory->tracked(buffer) || i.site < 0)
    return false;
  unsigned char* base =
      plan_.memory->at(buffer, offset_of(s.least), static_cast<std::int64_t>(s.most - s.least) + bytes);
  if (base == nullptr) return false;
  place_from(base, s.least);
  const MemorySpace known = program_.sites[static_cast<std::size_t>(i.site)].space;
  space_ = known == MemorySpace::constant || known == MemorySpace::texture ? known : MemorySpace::global;
  return true;
}

std::uint64_t BlockRunner::translate(Warp& w, std::uint64_t lanes, const PreparedOp& op, int number, int bytes,
                                     AccessKind kind) {
  const SimtInstruction& i = program_.code[op.source];
  const auto* a = row<std::uint64_t>(w, op.a);
  const std::uint64_t displacement =
      i.op == Opcode::load || i.op == Opcode::store ? static_cast<std::uint64_t>(op.imm) : 0;
  const int alignment = alignment_of(i);
  shared_lanes_ = 0;
  if (translate_together(a, lanes, displacement, i, bytes)) return lanes;
  pattern_ = Pattern::any;
  span_ = ~std::uint64_t{0};
  std::uint64_t good = lanes;
  const auto outside = [&](int l, std::string_view what, std::int64_t offset, std::int64_t size,
                           std::string_view quote = {}) {
    good &= ~(std::uint64_t{1} << l);
    if (Finding* f = count(Finding::Kind::out_of_bounds, i.line, number, l))
      f->text = std::string(verb(kind)) + " " + std::to_string(bytes) + " bytes at byte " + std::to_string(offset) +
                " of " + std::string(quote).append(what).append(quote) +
                (size >= 0 ? ", which has " + std::to_string(size) + " bytes" : "");
  };
  bool first = true;
  for_lanes(lanes, [&](int l) {
    const std::uint64_t address = a[l] + displacement;
    std::uint64_t window = i.pointing == Pointing::shared  ? shared_window
                           : i.pointing == Pointing::stack ? private_window
                                                           : window_of(address);
    std::int64_t offset = i.pointing == Pointing::generic ? offset_of(address) : static_cast<std::int64_t>(address);
    if (i.pointing == Pointing::generic && offset >= std::int64_t{1} << (window_bits - 1)) {  // just below a buffer
      offset -= std::int64_t{1} << window_bits;
      window += 1;
    }
    address_[l] = address;
    if (address % static_cast<std::uint64_t>(alignment) != 0) {
      good &= ~(std::uint64_t{1} << l);
      if (Finding* f = count(Finding::Kind::misaligned, i.line, number, l))
        f->text = std::string(verb(kind)) + " " + std::to_string(size_of(i.type)) +
                  "-byte elements at an address that is no multiple of " + std::to_string(alignment);
      return;
    }
    MemorySpace space = MemorySpace::global;
    if (window == shared_window) {
      space = MemorySpace::shared;
      shared_lanes_ |= std::uint64_t{1} << l;
      address_[l] = static_cast<std::uint64_t>(offset);
      if (offset < 0 || offset > shared_.bytes() - bytes)
        outside(l, "shared memory", offset, shared_.bytes());
      else
        host_[l] = shared_.data() + offset;
    } else if (window == private_window) {
      space = MemorySpace::local;
      address_[l] = static_cast<std::uint64_t>(offset);
      if (offset < 0 || offset > stack_bytes_ - bytes)
        outside(l, "the thread's private memory", offset, stack_bytes_);
      else
        host_[l] = stack_of(number * width_ + l) + offset;
      if ((good >> l & 1U) != 0) check_private(i, number, l, offset, bytes, kind);
    } else if (window == parameter_window) {
      space = MemorySpace::constant;
      if (offset < 0 || offset > static_cast<std::int64_t>(plan_.parameters.size()) - bytes || kind != AccessKind::load)
        outside(l, "the kernel's parameters", offset, static_cast<std::int64_t>(plan_.parameters.size()));
      else
        host_[l] = const_cast<unsigned char*>(plan_.parameters.data()) + offset;
    } else {
      const int buffer = static_cast<int>(window) - 1;
      host_[l] = window == 0 || buffer >= plan_.memory->size() ? nullptr : plan_.memory->at(buffer, offset, bytes);
      if (host_[l] == nullptr) {
        if (window == 0 || buffer >= plan_.memory->size() || plan_.memory->buffer(buffer).data == nullptr)
          outside(l, window == 0 ? "the null pointer" : "no buffer", offset, -1);
        else
          outside(l, plan_.memory->buffer(buffer).name, offset, plan_.memory->buffer(buffer).bytes, "'");
      } else if (plan_.memory->tracked(buffer)) {
        if (kind == AccessKind::load && !plan_.memory->written(buffer, offset, bytes))
          if (Finding* f = count(Finding::Kind::uninitialised, i.line, number, l))
            f->text = "reads byte " + std::to_string(offset) + " of '" + plan_.memory->buffer(buffer).name +
                      "', which nothing has written";
        if (kind != AccessKind::load) plan_.memory->mark_written(buffer, offset, bytes);
      }
      if (i.site >= 0 && program_.sites[static_cast<std::size_t>(i.site)].space == MemorySpace::constant)
        space = MemorySpace::constant;
      if (i.site >= 0 && program_.sites[static_cast<std::size_t>(i.site)].space == MemorySpace::texture)
        space = MemorySpace::texture;
    }
    if (first) space_ = space;
    first = false;
  });
  return good;
}

/// Elements of private memory of which no byte was written; what is written is noted.
void BlockRunner::check_private(const SimtInstruction& i, int number, int lane, std::int64_t offset, int bytes,
                                AccessKind kind) {
  if (stack_written_.empty()) return;
  unsigned char* written = stack_written_.data() + (number * width_ + lane) * stack_bytes_ + offset;
  if (kind != AccessKind::load) {
    std::memset(written, 1, static_cast<std::size_t>(bytes));
    return;
  }
  if (!i.checked) return;
  const int element = size_of(i.type);
  for (int at = 0; at < bytes; at += element)
    if (std::all_of(written + at, written + at + element, [](unsigned char w) { return w == 0; })) {
      report(Finding::Kind::uninitialised, i.line, "reads an element of a private array that nothing has written",
             number, lane);
      return;
    }
}

void BlockRunner::count_request(const SimtInstruction& i, std::uint64_t lanes) {
  if (i.site < 0) return;
  const AccessSite& site = program_.sites[static_cast<std::size_t>(i.site)];
  std::uint64_t shifted[64];
  for (const AccessSite::Piece& p : site.pieces) {
    const std::uint64_t* at = address_;
    if (p.at != 0) {
      for_lanes(lanes, [&](int l) { shifted[l] = address_[l] + static_cast<std::uint64_t>(p.at); });
      at = shifted;
    }
    AccessCount& out = counts_.accesses[static_cast<std::size_t>(p.access)];
    const bool regular = pattern_ != Pattern::any && site.kind != AccessKind::atomic && site.pieces.size() == 1;
    // Within one row of the banks no two words share a bank.
    const bool one_row = span_ <= static_cast<std::uint64_t>(plan_.geometry.shared_banks * plan_.geometry.bank_bytes);
    if (space_ == MemorySpace::shared && !requests_.returns_pairs(p.bytes, site.kind) &&
        (regular || (one_row && site.kind != AccessKind::atomic))) {
      requests_.shared_regular(lanes, p.bytes, out);
      continue;
    }
    if (regular && p.bytes <= 4 && plan_.geometry.l1_group == 0 &&
        (space_ == MemorySpace::global || space_ == MemorySpace::texture)) {
      const std::uint64_t first = address_[std::countr_zero(lanes)];
      const std::uint64_t past = address_[63 - std::countl_zero(lanes)] + static_cast<std::uint64_t>(p.bytes);
      requests_.global_range(first, past, lane_count(lanes), p.bytes, out);
      if (recorder != nullptr) recorder->touch(running_, requests_.sectors());
      continue;
    }
    switch (space_) {
      case MemorySpace::shared:
        requests_.shared(at, lanes, p.bytes, site.kind, out);
        break;
      case MemorySpace::local:
        requests_.local(at, lanes, p.bytes, out);
        break;
      case MemorySpace::constant:
        requests_.constant(at, lanes, p.bytes, out);
        break;
      default:
        requests_.global(at, lanes, p.bytes, out);
        if (recorder != nullptr) recorder->touch(running_, requests_.sectors());
    }
  }
}

void BlockRunner::check_shared_load(const SimtInstruction& i, std::uint64_t lanes, int bytes, int number) {
  shared_.instruction();
  std::uint64_t asked = lanes;
  if (pattern_ == Pattern::same && (lanes & (lanes - 1)) != 0) {  // two lanes are as good as all
    const std::uint64_t rest = lanes & (lanes - 1);
    asked = (lanes & ~rest) | (rest & ~(rest - 1));
  }
  if (!shared_.load_lanes(address_, asked, bytes, number * width_, number)) return;
  for_lanes(lanes, [&](int l) {
    int other = -1;
    const SharedTrouble t =
        shared_.load(static_cast<std::int64_t>(address_[l]), bytes, number * width_ + l, number, other);
    report_shared(t, AccessKind::load, i.line, number, l, other);
  });
}

void BlockRunner::load(Warp& w, std::uint64_t lanes, const PreparedOp& op, int number) {
  const SimtInstruction& i = program_.code[op.source];
  const int element = size_of(i.type), bytes = element * i.extra;
  const std::uint64_t good = translate(w, lanes, op, number, bytes, AccessKind::load);
  count_request(i, lanes);
  if (!plan_.options.independent_threads) ++w.order;
  if ((good & shared_lanes_) != 0) check_shared_load(i, good & shared_lanes_, bytes, number);
  if (plan_.watches_global && (good & ~shared_lanes_) != 0) {
    if (i.synchronises)
      looked_at_a_flag_ = true;
    else
      for_lanes(good & ~shared_lanes_, [&](int l) { check_global(i, number, l, bytes, 0, false); });
  }
  for (int k = 0; k < i.extra; ++k)
    with_size(element, [&](auto unit) {
      using T = decltype(unit);
      T* to = row<T>(w, prepared_.place[i.dst + static_cast<std::uint32_t>(k)]);
      if (good != lanes) for_lanes(lanes & ~good, [&](int l) { to[l] = T{}; });
      if (pattern_ == Pattern::same && good == lanes) {
        T v;
        std::memcpy(&v, host_[std::countr_zero(good)] + static_cast<std::ptrdiff_t>(k) * element, sizeof(T));
        for_lanes(good, [&](int l) { to[l] = v; });
      } else if (pattern_ == Pattern::consecutive && good == lanes && i.extra == 1) {
        const int first = std::countr_zero(good);
        std::memcpy(to + first, host_[first], sizeof(T) * static_cast<std::size_t>(lane_count(good)));
      } else {
        gather(to, host_, static_cast<std::ptrdiff_t>(k) * element, good);
      }
      if (i.type == ValueType::i1)
        for_lanes(good, [&](int l) {
          auto* b = reinterpret_cast<unsigned char*>(to + l);
          *b &= 1U;
        });
    });
}

/// Lane after lane: what one of them writes is there when the next one asks whether its value is new.
template <class T>
void BlockRunner::store_shared(Warp& w, std::uint64_t lanes, const PreparedOp& op, int number) {
  const SimtInstruction& i = program_.code[op.source];
  const int bytes = static_cast<int>(sizeof(T)) * i.extra;
  shared_.instruction();
  for_lanes(lanes, [&](int l) {
    const auto value = [&](int k) { return row<T>(w, prepared_.place[i.b + static_cast<std::uint32_t>(k)]) + l; };
    bool changes = false;
    for (int k = 0; k < i.extra; ++k)
      changes = changes || std::memcmp(host_[l] + static_cast<std::size_t>(k) * sizeof(T), value(k), sizeof(T)) != 0;
    int other = -1;
    const auto at = static_cast<std::int64_t>(address_[l]);
    const int thread = number * width_ + l;
    const SharedTrouble t = i.asynchronous ? shared_.copy(at, bytes, thread, number, changes, other)
                                           : shared_.store(at, bytes, thread, number, changes, other);
    if (t != SharedTrouble::none) report_shared(t, AccessKind::store, i.line, number, l, other);
    for (int k = 0; k < i.extra; ++k)
      std::memcpy(host_[l] + static_cast<std::size_t>(k) * sizeof(T), value(k), sizeof(T));
  });
}

/// Lane after lane, as store_shared().
void BlockRunner::store_watched(Warp& w, std::uint64_t lanes, const PreparedOp& op, int number) {
  const SimtInstruction& i = program_.code[op.source];
  const int element = size_of(i.type);
  const auto size = static_cast<std::size_t>(element);
  for_lanes(lanes, [&](int l) {
    const auto value = [&](int k) {
      return w.file + prepared_.place[i.b + static_cast<std::uint32_t>(k)] + static_cast<std::ptrdiff_t>(element) * l;
    };
    bool changes = false;
    for (int k = 0; k < i.extra; ++k)
      changes = changes || std::memcmp(host_[l] + static_cast<std::size_t>(k) * size, value(k), size) != 0;
    check_global(i, number, l, element * i.extra, 1, changes);
    for (int k = 0; k < i.extra; ++k) std::memcpy(host_[l] + static_cast<std::size_t>(k) * size, value(k), size);
  });
}

void BlockRunner::store(Warp& w, std::uint64_t lanes, const PreparedOp& op, int number) {
  const SimtInstruction& i = program_.code[op.source];
  const int element = size_of(i.type), bytes = element * i.extra;
  const std::uint64_t good = translate(w, lanes, op, number, bytes, AccessKind::store);
  count_request(i, lanes);
  if (!plan_.options.independent_threads) ++w.order;
  if ((good & shared_lanes_) != 0) {
    with_size(element, [&](auto unit) { store_shared<decltype(unit)>(w, good & shared_lanes_, op, number); });
    if ((good & ~shared_lanes_) == 0) return;
  }
  if (plan_.watches_global) return store_watched(w, good & ~shared_lanes_, op, number);
  for (int k = 0; k < i.extra; ++k)
    with_size(element, [&](auto unit) {
      using T = decltype(unit);
      const T* from = row<T>(w, prepared_.place[i.b + static_cast<std::uint32_t>(k)]);
      if (pattern_ == Pattern::consecutive && good == lanes && i.extra == 1) {
        const int first = std::countr_zero(good);
        std::memcpy(host_[first], from + first, sizeof(T) * static_cast<std::size_t>(lane_count(good)));
      } else {
        scatter(from, host_, static_cast<std::ptrdiff_t>(k) * element, good & ~shared_lanes_);
      }
    });
}

/// Element by element: to[k] op from[k].
void BlockRunner::combine_bulk(AtomicOp op, ValueType type, unsigned char* to, const unsigned char* from, int bytes) {
  const int size = size_of(type);
  for (int at = 0; at + size <= bytes; at += size) {
    std::uint64_t old = 0, v = 0;
    std::memcpy(&old, to + at, static_cast<std::size_t>(size));
    std::memcpy(&v, from + at, static_cast<std::size_t>(size));
    const std::uint64_t next = new_value(op, type, old, v, 0);
    std::memcpy(to + at, &next, static_cast<std::size_t>(size));
  }
}

void BlockRunner::atomic(Warp& w, std::uint64_t lanes, const PreparedOp& op, int number) {
  const SimtInstruction& i = program_.code[op.source];
  const int size = size_of(i.type);
  const std::uint64_t good = translate(w, lanes, op, number, size, AccessKind::atomic);
  count_request(i, lanes);
  if (!plan_.options.independent_threads) ++w.order;
  shared_.instruction();
  if (space_ == MemorySpace::global && updates_.size() < most_updated_words)
    for_lanes(good, [&](int l) { ++updates_[address_[l]]; });
  if (good != 0 && !plan_.work_counters.empty() && plan_.work_counters[op.source]) {
    take_work(w, good, op);
    for_lanes(lanes & ~good, [&](int l) { set_bits(w, op.dst, size, l, 0); });
    return;
  }
  for_lanes(good, [&](int l) {
    const bool in_shared = (shared_lanes_ >> l & 1U) != 0;
    if (in_shared) {
      int other = -1;
      const SharedTrouble t =
          shared_.atomic(static_cast<std::int64_t>(address_[l]), size, number * width_ + l, number, other);
      if (t != SharedTrouble::none) report_shared(t, AccessKind::atomic, i.line, number, l, other);
    }
    if (!in_shared && plan_.watches_global) {
      if (i.synchronises) looked_at_a_flag_ = true;
      check_global(i, number, l, size, 2, true);
    }
    std::unique_lock<std::mutex> lock;
    if (!alone && !in_shared) lock = std::unique_lock(lock_for(host_[l]));
    std::uint64_t old = 0;
    std::memcpy(&old, host_[l], static_cast<std::size_t>(size));
    const std::uint64_t v = bits_at(w, op.b, size, l), compare = bits_at(w, op.c, size, l);
    const std::uint64_t next = new_value(static_cast<AtomicOp>(i.imm), i.type, old, v, compare);
    std::memcpy(host_[l], &next, static_cast<std::size_t>(size));
    set_bits(w, op.dst, size, l, old);
  });
  for_lanes(lanes & ~good, [&](int l) { set_bits(w, op.dst, size, l, 0); });
}

/// Lanes take one after the other, as the hardware serves them.
void BlockRunner::take_work(Warp& w, std::uint64_t lanes, const PreparedOp& op) {
  const SimtInstruction& i = program_.code[op.source];
  const int size = size_of(i.type);
  const auto kind = static_cast<AtomicOp>(i.imm);
  const bool wraps = kind == AtomicOp::wrap_inc;
  std::uint64_t amount = 0;
  int first = -1;
  std::uint64_t before[64] = {};
  for_lanes(lanes, [&](int l) {
    if (first < 0) first = l;
    before[l] = amount;
    const std::uint64_t v = wraps ? 1 : bits_at(w, op.b, size, l);
    amount += kind == AtomicOp::sub ? 0 - v : v;
  });
  const std::uint64_t begin = shares_.take(host_[first], size, amount, block_, plan_.launch.grid.count());
  for_lanes(lanes, [&](int l) {
    std::uint64_t old = begin + before[l];
    if (const std::uint64_t limit = wraps ? bits_at(w, op.b, size, l) : 0; wraps && limit + 1 != 0) old %= limit + 1;
    set_bits(w, op.dst, size, l, old);
  });
}

}  // namespace kernelcast::interpreter
