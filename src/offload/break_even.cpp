// From where on the other side wins: repetitions in closed form, sizes by bisection where neighbours a factor of
// sqrt(2) apart differ, up to what fits in the smaller memory of the two devices.
#include <cmath>
#include <functional>
#include <limits>

#include "device/describe.h"
#include "kernelcast/error.h"
#include "kernelcast/setting.h"
#include "offload/region_parts.h"

namespace kernelcast::offload {
namespace {

// A break-even is searched with some forty sizes.
constexpr double break_even_work = 3e7;

constexpr std::int64_t smallest = 8, largest = std::numeric_limits<std::int32_t>::max();

Decision faster(const OffloadDecision& a) {
  return *a.gpu.cost.value < *a.cpu.cost.value ? Decision::gpu : Decision::cpu;
}

/// Where the search ends: at the smaller memory of the two, of those that are known.
struct Room {
  double bytes = 0;
  std::string what;  // "8.59 GB of NVIDIA GeForce GTX 1080"
};

constexpr double without_a_known_memory = 16.0 * (1U << 30U);  // more than GPUs whose memory differs by notebook have

Room room_of(const Device& cpu, const Device& gpu) {
  std::optional<Room> room;
  for (const Device* d : {&gpu, &cpu})
    if (const auto bytes = d->get(Field::memory_dram_bytes); bytes && (!room || *bytes < room->bytes))
      room = {*bytes, "the " + describe::si(*bytes, "B") + " of " + d->name};
  if (room) return *room;
  return {without_a_known_memory, describe::si(without_a_known_memory, "B") +
                                      ", taken since neither memory is known [" +
                                      describe::where_to_set(gpu, "memory.dram_bytes") + "]"};
}

/// Sizes of one argument, all else as asked.
class SizeSearch {
 public:
  using Buffers = std::function<std::vector<BufferUse>(const OffloadRequest&)>;
  SizeSearch(Evaluator& evaluator, Buffers buffers, Room room, const OffloadRequest& question,
             const std::string& parameter)
      : evaluator_(evaluator),
        buffers_(std::move(buffers)),
        room_(std::move(room)),
        question_(question),
        parameter_(parameter) {}

  /// Fills in the range and its crossings, or why there are none.
  void run(BreakEven& b) {
    b.highest_reason = parameter_ + " is not taken further";
    for (int step = 0;; ++step) {
      std::int64_t n = size_of(step);
      if (n > largest) break;
      const bool fits = bytes_at(n).value_or(0) <= room_.bytes;
      if (!fits) {
        n = largest_that_fits(b.highest, n);
        error_ = b.highest_reason = why_no_more(n);
        if (n <= b.highest || n < smallest) break;
      }
      if (!add(b, n) && last_) break;
      if (!fits) break;
    }
    if (last_) return;
    b.size_reason = "no size of " + parameter_ + " could be evaluated";
    if (!error_.empty()) b.size_reason += ": " + error_;
  }

 private:
  Evaluator& evaluator_;
  Buffers buffers_;
  Room room_;
  const OffloadRequest& question_;
  const std::string& parameter_;
  std::optional<Decision> last_;  // at BreakEven::highest
  std::string error_;             // of the last size without an answer

  /// 8, 11, 16, 22, ...
  static std::int64_t size_of(int step) {
    const std::int64_t even = smallest << (step / 2);
    return step % 2 == 0 ? even : static_cast<std::int64_t>(static_cast<double>(even) * std::sqrt(2.0));
  }

  OffloadRequest with(std::int64_t n) const {
    OffloadRequest q = question_;
    q.sample_work = break_even_work;
    q.launch.args[parameter_] = n;
    return q;
  }

  std::optional<Decision> at(std::int64_t n) {
    try {
      return faster(evaluator_.answer(with(n)));
    } catch (const Error& e) {
      error_ = parameter_ + " = " + std::to_string(n) + ": " + message_of(e);
      return std::nullopt;  // no such size
    }
  }

  std::optional<double> bytes_at(std::int64_t n) {
    try {
      double bytes = 0;
      for (const BufferUse& b : buffers_(with(n))) bytes += b.bytes;
      return bytes;
    } catch (const Error&) {
      return std::nullopt;
    }
  }

  std::int64_t largest_that_fits(std::int64_t fits, std::int64_t too_large) {
    while (too_large - fits > 1) {
      const std::int64_t middle = fits + (too_large - fits) / 2;
      (bytes_at(middle).value_or(0) <= room_.bytes ? fits : too_large) = middle;
    }
    return fits;
  }

  /// Sizes grow steadily with the argument; where they jump, the binder has bounds of the addresses and no more.
  std::string why_no_more(std::int64_t n) {
    constexpr double jump = 2;
    const double here = bytes_at(n).value_or(0), next = bytes_at(n + 1).value_or(0);
    if (n >= smallest && here > 0 && next > jump * here)
      return "with more, the sizes of buffers are known as upper bounds only (" + describe::si(next, "B") + " in all)";
    return "with more, the buffers exceed " + room_.what;
  }

  /// One size more, and where the faster side changed on the way to it. False: it has no answer.
  bool add(BreakEven& b, std::int64_t n) {
    const auto here = at(n);
    if (!here) {
      if (last_) b.highest_reason = error_;
      return false;
    }
    if (!last_) {
      b.lowest = n;
      b.at_smallest = *here;
    } else if (*here != *last_) {
      std::int64_t lo = b.highest, hi = n;  // `last_` holds at lo, `here` at hi
      while (hi - lo > 1) {
        const std::int64_t middle = lo + (hi - lo) / 2;
        (at(middle).value_or(*here) == *last_ ? lo : hi) = middle;
      }
      b.crossings.push_back({hi, *here});
    }
    last_ = here;
    b.highest = n;
    b.highest_bytes = bytes_at(n).value_or(0);
    return true;
  }
};

}  // namespace

std::vector<Change> Evaluator::changes(const OffloadRequest& question, const OffloadDecision& now) {
  std::vector<Change> out;
  const auto add = [&](const char* what, const OffloadDecision& a) {
    if (std::abs(a.gpu.time.time_s / now.gpu.time.time_s - 1) > 1e-6)
      out.push_back({what, a.gpu.time.time_s, a.verdict});
  };
  if (question.memory == HostMemory::pageable) {
    OffloadRequest q = question;
    q.memory = HostMemory::pinned;
    add("pinned host memory", answer(q));
  }
  if (!question.overlap && question.model == DecisionModel::kernelcast) {
    OffloadRequest q = question;
    q.overlap = true;
    add("transfers that overlap with execution, at best", answer(q));
  }
  Region all = impl_->region;
  for (const BufferUse& b : now.buffers) all.resident.insert(b.name);
  add("all data resident on the GPU", Evaluator(all, impl_->cpu, impl_->gpu).answer(question));
  return out;
}

BreakEven Evaluator::break_even(const OffloadRequest& question, const std::string& parameter) {
  BreakEven b;
  // For one repetition more each side costs as much again; transfers stand once.
  OffloadRequest once = question, twice = question;
  once.reps = 1;
  twice.reps = 2;
  const OffloadDecision first = answer(once), second = answer(twice);
  const double cpu = *second.cpu.cost.value - *first.cpu.cost.value;
  const double gpu = *second.gpu.cost.value - *first.gpu.cost.value;
  if (faster(first) == Decision::gpu) {
    b.reps = 1;
  } else if (gpu >= cpu) {
    b.reps_reason = "a repetition takes the GPU as long as the CPU or longer";
  } else {
    b.reps = std::floor((*first.gpu.cost.value - *first.cpu.cost.value) / (cpu - gpu)) + 2;
  }
  b.parameter = parameter;
  if (parameter.empty()) {
    b.size_reason = "no argument to vary: name one with " KC_SETTING(scale);
    return b;
  }
  if (question.grid) {
    b.size_reason = "the number of blocks is fixed by " KC_SETTING(grid);
    return b;
  }
  SizeSearch(
      *this, [this](const OffloadRequest& q) { return impl_->buffers(q); }, room_of(impl_->cpu, impl_->gpu), question,
      parameter)
      .run(b);
  return b;
}

}  // namespace kernelcast::offload
