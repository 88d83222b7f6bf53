// Address ranges are reserved without a promise of memory (MAP_NORESERVE); the kernel hands out zero pages on first
// touch, and the fill then writes to them under a lock chosen by the page. Huge pages are off: one touched byte of a
// sparse buffer would cost 2 MiB. The tables (a byte a page, and with fill `none` a bit a byte) are reserved likewise.
#include "execute/memory.h"

#include <sys/mman.h>

#include <algorithm>
#include <cstring>
#include <limits>

#include "execute/buffer_roles.h"
#include "execute/element_type.h"
#include "io/clock.h"
#include "io/text.h"
#include "kernelcast/address.h"
#include "kernelcast/error.h"
#include "kernelcast/setting.h"

namespace kernelcast::interpreter {
namespace {

constexpr std::int64_t most_bytes = std::int64_t{1} << window_bits;  // addresses have room for no more
constexpr std::int64_t undeclared_bytes = std::int64_t{64} << 30;
constexpr std::int64_t fewest_undeclared_bytes = std::int64_t{16} << 20;

/// A byte's share of the munmap of touched pages: 90 ms for the 1.5 GiB of a buffer of 512 MiB and what checks note
/// about it (an EPYC, Linux 6.18).
constexpr double seconds_to_release = 0.09 / 1.5e9;

std::int64_t pages_of(std::int64_t bytes) { return (bytes + page_bytes - 1) >> page_bits; }

/// Zero memory of which untouched pages cost nothing; null when the system refuses.
void* reserve(std::int64_t bytes) {
  const auto size = static_cast<std::size_t>(std::max<std::int64_t>(bytes, 1));
  void* at = ::mmap(nullptr, size, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE, -1, 0);
  if (at == MAP_FAILED) return nullptr;
  ::madvise(at, size, MADV_NOHUGEPAGE);  // older systems refuse: no harm
  return at;
}

void release(void* at, std::int64_t bytes) {
  if (at != nullptr) ::munmap(at, static_cast<std::size_t>(std::max<std::int64_t>(bytes, 1)));
}

/// Bytes from elsewhere; what lies behind them is zero.
class BytesFill final : public Fill {
 public:
  explicit BytesFill(const std::vector<unsigned char>& bytes) : bytes_(&bytes) {}
  explicit BytesFill(std::vector<unsigned char>&& bytes) : own_(std::move(bytes)), bytes_(&own_) {}
  void write(std::int64_t first, std::span<unsigned char> out) const override {
    const auto size = static_cast<std::int64_t>(bytes_->size());
    if (first >= size) return;
    std::memcpy(out.data(), bytes_->data() + first,
                std::min<std::size_t>(out.size(), static_cast<std::size_t>(size - first)));
  }

 private:
  std::vector<unsigned char> own_;
  const std::vector<unsigned char>* bytes_;
};

bool lives_here(MemorySpace s) {
  return s == MemorySpace::global || s == MemorySpace::constant || s == MemorySpace::texture;
}

bool is_read(const KernelProfile& profile, int buffer) {
  for (const auto& block : profile.blocks)
    for (const auto& a : block.accesses)
      if (a.kind != AccessKind::store && (a.buffer == buffer || (a.buffer < 0 && lives_here(a.space)))) return true;
  return false;
}

/// What closed forms take for a loop whose bounds are data; 0: the kernel has none.
double usual_trips(const KernelProfile& profile) {
  for (const Unknown& u : profile.unknowns)
    if (u.kind == Unknown::Kind::trip_count) return u.default_value;
  return 0;
}

std::int64_t threads_of(const Launch& launch) {
  std::int64_t threads = 0;
  return __builtin_mul_overflow(launch.grid.count(), launch.block.count(), &threads)
             ? 1
             : std::max<std::int64_t>(threads, 1);
}

/// What integers without a range may index: every declared buffer of more than one element, else one element a thread.
std::int64_t index_range(const Launch& launch) {
  std::int64_t least = 0;
  for (const auto& [name, spec] : launch.buffers)
    if (spec.elements > 1 && (least == 0 || spec.elements < least)) least = spec.elements;
  if (least > 0) return least;
  return threads_of(launch);
}

/// What `count` offsets must stay below to index what they bound: of the buffers with a size, the smallest one with
/// more elements than there are offsets, else the smallest; 0: none has a size.
std::int64_t offset_range(const Launch& launch, const std::string& name, std::int64_t count) {
  std::int64_t above = 0, least = 0;
  const auto take = [](std::int64_t& best, std::int64_t n) { best = best == 0 ? n : std::min(best, n); };
  for (const auto& [other, spec] : launch.buffers) {
    if (other == name || spec.elements <= 1) continue;
    take(least, spec.elements);
    if (spec.elements > count) take(above, spec.elements);
  }
  return above > 0 ? above : least;
}

const BufferImage* image_of(const Program& program, int buffer) {
  for (const auto& image : program.images)
    if (image.buffer == buffer) {
      const bool any = std::any_of(image.bytes.begin(), image.bytes.end(), [](unsigned char c) { return c != 0; });
      return any || !image.pointers.empty() ? &image : nullptr;
    }
  return nullptr;
}

std::unique_ptr<const Fill> image_fill(const BufferImage& image) {
  std::vector<unsigned char> bytes = image.bytes;
  for (const auto& p : image.pointers) {
    const std::uint64_t address = global_address(p.buffer, p.offset);
    if (bytes.size() < static_cast<std::size_t>(p.at) + 8) bytes.resize(static_cast<std::size_t>(p.at) + 8);
    std::memcpy(bytes.data() + p.at, &address, 8);
  }
  return std::make_unique<BytesFill>(std::move(bytes));
}

/// Decides about one buffer: size, element, fill.
class Planner {
 public:
  Planner(const KernelProfile& profile, const Program& program, const Launch& launch, const ExecuteOptions& options)
      : profile_(profile),
        program_(program),
        launch_(launch),
        options_(options),
        elements_(elements_of(profile, program)),
        roles_(bound_roles(program, profile.buffers.size())),
        packed_(packed_buffers(program, profile.buffers.size())),
        searched_(searched_buffers(program, profile.buffers.size())),
        numbers_(number_roles(program, profile.buffers.size())),
        trips_(usual_trips(profile)),
        index_range_(index_range(launch)) {}

  std::unique_ptr<const Fill> plan(int index, MemoryBuffer& m) const {
    const Buffer& b = profile_.buffers[index];
    m.name = b.name;
    if (!lives_here(b.space)) return nullptr;
    const auto spec = launch_.buffers.find(b.name);
    const auto given = options_.contents.find(b.name);
    m.element = elements_[index].type;
    m.element_bytes = elements_[index].bytes;
    m.read = is_read(profile_, index);
    const bool in_source = b.parameter < 0 && b.bytes >= 0;
    const BufferSpec wanted = spec == launch_.buffers.end() ? BufferSpec{} : spec->second;
    if (in_source) {
      size_in_source(m, b, wanted);
    } else if (wanted.elements > 0) {
      size_declared(m, wanted);
    }
    if (given != options_.contents.end()) {
      size_of_contents(m, static_cast<std::int64_t>(given->second.size()));
      return std::make_unique<BytesFill>(given->second);
    }
    const std::int64_t bytes = bytes_given(wanted.fill, wanted.elements).value_or(0);
    if (m.declared && bytes > m.bytes && bytes % wanted.elements == 0) {  // COUNT is that of structures
      m.elements = std::max(m.elements, (bytes + m.element_bytes - 1) / m.element_bytes);
      m.bytes = m.elements * m.element_bytes;
    }
    FillTarget target{m.name, m.elements, m.element_bytes, m.element, index_range_, options_.seed};
    target.role = m.role =
        wanted.fill.empty() && trips_ > 0 ? roles_[static_cast<std::size_t>(index)] : BoundRole::none;
    target.packed = packed_[static_cast<std::size_t>(index)];
    target.searched = searched_[static_cast<std::size_t>(index)];
    target.bound_trips = trips_;
    target.bound_count = m.declared ? scalars_of(m) : threads_of(launch_) + 1;
    target.bound_range = offset_range(launch_, m.name, target.bound_count);
    m.fill = wanted.fill;
    m.fill_given = !wanted.fill.empty();
    const BufferImage* image = image_of(program_, index);
    if (!m.fill_given && image != nullptr) return image_fill(*image);
    if (!m.fill_given) m.fill = in_source || !m.read ? "zero" : usual_fill(target, index);
    if (m.fill == "zero" || numbers_[static_cast<std::size_t>(index)].size_of_launch) m.role = BoundRole::none;
    return make_fill(m.fill, target);
  }

 private:
  /// What the program compares integers with says more about them than what they bound.
  std::string usual_fill(FillTarget& target, int index) const {
    const NumberRole& numbers = numbers_[static_cast<std::size_t>(index)];
    if (is_float(target.type.scalar)) return default_fill(target);
    if (numbers.size_of_launch) return "constant(" + std::to_string(largest_of(target, threads_of(launch_))) + ")";
    for (const std::string& name : numbers.below) {
      const auto bound = launch_.args.find(name);
      const auto* value = bound == launch_.args.end() ? nullptr : std::get_if<std::int64_t>(&bound->second);
      if (value != nullptr && *value > 1) target.index_range = std::min(target.index_range, *value);
    }
    return default_fill(target);
  }

  static std::int64_t largest_of(const FillTarget& target, std::int64_t wanted) {
    return size_of(target.type.scalar) >= 8 ? wanted : std::min(wanted, std::int64_t{0x7fffffff});
  }

  static std::int64_t scalars_of(const MemoryBuffer& m) { return m.bytes / size_of(m.element.scalar); }

  /// The source has the last word on the size; COUNT then says how large an element is.
  static void size_in_source(MemoryBuffer& m, const Buffer& b, const BufferSpec& wanted) {
    m.declared = true;
    m.bytes = b.bytes;
    if (wanted.elements > 0) {
      if (b.bytes % wanted.elements != 0)
        throw UserError(KC_SETTING(buffer) " " + m.name + "=" + std::to_string(wanted.elements) +
                        ": the source declares " + std::to_string(b.bytes) + " bytes, which are not so many elements");
      m.element_bytes = static_cast<int>(std::min<std::int64_t>(b.bytes / wanted.elements, 1 << 30));
      if (m.element_bytes % size_of(m.element.scalar) != 0)
        m.element = {ValueType::i8, ElementType::Sign::unknown, false};
    } else if (b.bytes % m.element_bytes != 0) {
      m.element_bytes = size_of(m.element.scalar);
    }
    m.elements = b.bytes / m.element_bytes;
  }

  static void size_declared(MemoryBuffer& m, const BufferSpec& wanted) {
    if (wanted.elements > most_bytes / m.element_bytes)
      throw UserError(KC_SETTING(buffer) " " + m.name + "=" + std::to_string(wanted.elements) +
                      ": a buffer has at most " + format_bytes(static_cast<double>(most_bytes)) + ", here " +
                      std::to_string(most_bytes / m.element_bytes) + " elements of " + std::to_string(m.element_bytes) +
                      " bytes");
    m.declared = true;
    m.elements = wanted.elements;
    m.bytes = m.elements * m.element_bytes;
  }

  static void size_of_contents(MemoryBuffer& m, std::int64_t bytes) {
    if (m.declared && m.bytes != bytes)
      throw UserError("the contents given for buffer " + m.name + " have " + std::to_string(bytes) +
                      " bytes, the buffer has " + std::to_string(m.bytes) + " (" KC_SETTING(buffer) " " + m.name +
                      "=COUNT)");
    m.declared = true;
    m.bytes = bytes;
    m.elements = bytes / m.element_bytes;
    m.fill_given = true;
  }

  const KernelProfile& profile_;
  const Program& program_;
  const Launch& launch_;
  const ExecuteOptions& options_;
  std::vector<Element> elements_;
  std::vector<BoundRole> roles_;
  std::vector<bool> packed_, searched_;
  std::vector<NumberRole> numbers_;
  double trips_;
  std::int64_t index_range_;
};

/// Nobody said what it holds, the kernel reads it, and counts depend on it.
bool is_generated(const MemoryBuffer& m) { return !m.fill_given && !m.fill.empty() && m.read && m.decides; }

}  // namespace

Memory::Memory(const KernelProfile& profile, const Program& program, const Launch& launch,
               const ExecuteOptions& options)
    : limit_bytes_(options.max_memory_bytes) {
  const Planner planner(profile, program, launch, options);
  for (int i = 0; i < static_cast<int>(profile.buffers.size()); ++i) {
    slots_.push_back(std::make_unique<Slot>());
    Slot& s = *slots_.back();
    s.fill = planner.plan(i, s.about);
    if (s.fill != nullptr) reserve_slot(s);
  }
}

Memory::~Memory() = default;

Memory::Slot::~Slot() {
  release(data, room);
  release(pages, pages_of(room));
  release(written, room / 8 + 8);
  release(watch, watch_bytes);
}

void Memory::watch(const std::vector<int>& buffers, int shift) {
  watch_shift_ = shift;
  for (const int b : buffers) {
    Slot& s = *slots_[static_cast<std::size_t>(b)];
    if (s.data == nullptr || s.watch != nullptr) continue;
    s.watch_bytes = ((s.room >> shift) + 1) * static_cast<std::int64_t>(sizeof(std::uint64_t));
    s.watch = static_cast<std::atomic<std::uint64_t>*>(reserve(s.watch_bytes));
  }
}

void Memory::reserve_slot(Slot& s) {
  MemoryBuffer& m = s.about;
  s.room = m.declared ? m.bytes : undeclared_bytes;
  s.data = static_cast<unsigned char*>(reserve(s.room));
  while (s.data == nullptr && !m.declared && s.room > fewest_undeclared_bytes) {
    s.room /= 2;
    s.data = static_cast<unsigned char*>(reserve(s.room));
  }
  s.pages = static_cast<std::atomic<unsigned char>*>(reserve(pages_of(s.room)));
  if (s.fill->uninitialised()) s.written = static_cast<std::atomic<std::uint64_t>*>(reserve(s.room / 8 + 8));
  if (s.data == nullptr || s.pages == nullptr || (s.fill->uninitialised() && s.written == nullptr))
    throw LimitError(
        "the system has no " + format_bytes(static_cast<double>(s.room)) + " of address space for buffer " + m.name +
        "; give it a smaller size with " KC_SETTING(buffer) " " + m.name + "=COUNT, or raise the limit (ulimit -v)");
  s.bytes = m.bytes = s.room;
  m.data = s.data;
  if (m.declared) s.touched_end = std::numeric_limits<std::int64_t>::max();
}

void Memory::bring_in(Slot& s, std::int64_t offset, std::int64_t past) {
  const std::int64_t last = (past - 1) >> page_bits;
  // Of a page and of what is noted about it.
  const std::int64_t contents = page_bytes + 1 + (s.written != nullptr ? page_bytes / 8 : 0);
  const std::int64_t cost = contents + (s.watch != nullptr ? (page_bytes >> watch_shift_) * 8 : 0);
  for (std::int64_t page = offset >> page_bits; page <= last; ++page) {
    if (s.pages[page].load(std::memory_order_acquire) != 0) continue;
    check_time();
    const std::lock_guard lock(filling_[static_cast<std::size_t>(page) % std::size(filling_)]);
    if (s.pages[page].load(std::memory_order_relaxed) != 0) continue;
    if (resident_.fetch_add(cost) + cost > limit_bytes_) {
      resident_.fetch_sub(cost);
      throw_limit(s);
    }
    const std::int64_t first = page << page_bits;
    s.fill->write(first, {s.data + first, static_cast<std::size_t>(std::min(page_bytes, s.bytes - first))});
    touched_bytes_.fetch_add(contents, std::memory_order_relaxed);
    s.touched.store(true, std::memory_order_relaxed);
    s.pages[page].store(1, std::memory_order_release);
  }
}

void Memory::check_time() const {
  if (deadline_ > 0 && steady_seconds() + seconds_to_release * static_cast<double>(resident_bytes()) > deadline_)
    throw LimitReached{"the time of " KC_SETTING(max_seconds) " is over"};
}

void Memory::hold(std::int64_t bytes, const std::string& what) {
  if (bytes > room())
    throw LimitError(what + " need " + format_bytes(static_cast<double>(bytes)) +
                     ", " KC_SETTING(max_memory) " leaves " +
                     format_bytes(static_cast<double>(std::max<std::int64_t>(0, room()))) +
                     ": raise " KC_SETTING(max_memory) ", or take " KC_SETTING(counts) " symbolic");
  resident_.fetch_add(bytes);
}

void Memory::throw_limit(const Slot& s) const {
  std::int64_t declared = 0;
  bool all = true;
  for (const auto& slot : slots_) {
    if (slot->about.declared) declared += slot->bytes;
    if (slot->data != nullptr && !slot->about.declared && slot->touched_end > 0) all = false;
  }
  throw LimitError("the buffers touched need more than the " + format_bytes(static_cast<double>(limit_bytes_)) +
                   " of " KC_SETTING(max_memory) " (reached in buffer " + s.about.name + "); " +
                   (declared > 0 ? "those with a size are " + format_bytes(static_cast<double>(declared)) + " in all" +
                                       (all ? "" : ", others have no size")
                                 : std::string("none has a size")) +
                   ". Raise " KC_SETTING(max_memory) ", give sizes with " KC_SETTING(
                       buffer) ", or run fewer blocks with " KC_SETTING(sample));
}

void Memory::raise_end(Slot& s, std::int64_t past) {
  std::int64_t end = s.touched_end.load(std::memory_order_relaxed);
  while (past > end && !s.touched_end.compare_exchange_weak(end, past, std::memory_order_relaxed)) {
  }
}

std::int64_t Memory::touched_end(int buffer) const {
  const Slot& s = *slots_[static_cast<unsigned>(buffer)];
  return s.about.declared ? s.bytes : s.touched_end.load(std::memory_order_relaxed);
}

std::vector<unsigned char> Memory::contents(int buffer) const {
  const Slot& s = *slots_[static_cast<unsigned>(buffer)];
  const std::int64_t end = touched_end(buffer);
  std::vector<unsigned char> bytes(static_cast<std::size_t>(end));
  for (std::int64_t first = 0; first < end; first += page_bytes) {
    const std::span<unsigned char> out(bytes.data() + first,
                                       static_cast<std::size_t>(std::min(page_bytes, end - first)));
    if (s.pages[first >> page_bits].load(std::memory_order_acquire) != 0) {
      std::memcpy(out.data(), s.data + first, out.size());
    } else {
      s.fill->write(first, out);
    }
  }
  return bytes;
}

bool Memory::generated() const {
  return std::ranges::any_of(slots_, [](const auto& slot) {
    return slot->touched.load(std::memory_order_relaxed) && is_generated(slot->about);
  });
}

std::vector<Assumption> Memory::assumptions() const {
  std::vector<Assumption> list;
  for (const auto& slot : slots_) {
    const MemoryBuffer& m = slot->about;
    if (!slot->touched.load(std::memory_order_relaxed)) continue;
    const bool filled = is_generated(m);
    if (m.declared && !filled) continue;
    std::string count = "COUNT", value;
    if (m.declared) {
      count = std::to_string(m.elements);
    } else {
      const std::int64_t end = slot->touched_end.load(std::memory_order_relaxed);
      const std::int64_t elements = (end + m.element_bytes - 1) / m.element_bytes;
      value = format_count(static_cast<double>(elements)) + " elements of " + std::to_string(m.element_bytes) +
              (m.element_bytes == 1 ? " byte" : " bytes") + ", as far as touched";
    }
    if (filled) value += (value.empty() ? "" : "; ") + m.fill;
    if (filled && m.role != BoundRole::none) value += " for bounds of loops";
    if (filled && m.fill.starts_with("sorted")) value += " for a binary search";
    const std::string what = m.declared ? "contents" : filled ? "size and contents" : "size";
    list.push_back({what + " of buffer " + m.name, value,
                    KC_SETTING(buffer) " " + m.name + "=" + count + (filled ? ":FILL" : ""),
                    filled ? Assumption::Kind::contents : Assumption::Kind::other, filled ? m.name : ""});
  }
  return list;
}

void Memory::drop_contents() {
  for (const auto& slot : slots_)
    for (const auto& [data, bytes] :
         {std::pair<void*, std::int64_t>{slot->data, slot->room}, {slot->watch, slot->watch_bytes}})
      if (data != nullptr) ::madvise(data, static_cast<std::size_t>(bytes), MADV_DONTNEED);
}

}  // namespace kernelcast::interpreter
