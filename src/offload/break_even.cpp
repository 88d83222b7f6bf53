// From where on the other side wins: repetitions in closed form, sizes by bisection where neighbours a factor of
// sqrt(2) apart differ.
#include <cmath>

#include "kernelcast/error.h"
#include "offload/region_parts.h"

namespace kernelcast::offload {
namespace {

constexpr std::int64_t smallest = 8, largest = 8192;

Decision faster(const Answer& a) { return *a.gpu.cost.value < *a.cpu.cost.value ? Decision::gpu : Decision::cpu; }

}  // namespace

std::vector<Change> Evaluator::changes(const Question& question, const Answer& now) {
  std::vector<Change> out;
  const auto add = [&](const char* what, const Answer& a) {
    if (std::abs(a.gpu.time.time_s / now.gpu.time.time_s - 1) > 1e-6)
      out.push_back({what, a.gpu.time.time_s, a.verdict});
  };
  if (question.memory == HostMemory::pageable) {
    Question q = question;
    q.memory = HostMemory::pinned;
    add("pinned host memory", answer(q));
  }
  if (!question.overlap) {
    Question q = question;
    q.overlap = true;
    add("transfers that overlap with execution, at best", answer(q));
  }
  Region all = impl_->region;
  for (const BufferUse& b : now.buffers) all.resident.insert(b.name);
  add("all data resident on the GPU", Evaluator(all, impl_->cpu, impl_->gpu).answer(question));
  return out;
}

BreakEven Evaluator::break_even(const Question& question, const std::string& parameter) {
  BreakEven b;
  // For one repetition more each side costs as much again; transfers stand once.
  Question once = question, twice = question;
  once.reps = 1;
  twice.reps = 2;
  const Answer first = answer(once), second = answer(twice);
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
    b.size_reason = "no argument to vary: name one with --scale";
    return b;
  }
  if (question.grid) {
    b.size_reason = "the number of blocks is fixed by --grid";
    return b;
  }
  const auto at = [&](std::int64_t n) -> std::optional<Decision> {
    Question q = question;
    q.launch.args[parameter] = n;
    try {
      return faster(answer(q));
    } catch (const Error&) {
      return std::nullopt;  // no such size
    }
  };
  std::int64_t before = 0;
  std::optional<Decision> last;
  for (double x = smallest; x <= largest; x *= std::sqrt(2.0)) {
    const auto n = static_cast<std::int64_t>(x);
    const auto here = at(n);
    if (!here) {
      if (last) break;
      continue;
    }
    if (!last) {
      b.lowest = n;
      b.at_smallest = *here;
    } else if (*here != *last) {
      std::int64_t lo = before, hi = n;  // `last` holds at lo, `here` at hi
      while (hi - lo > 1) {
        const std::int64_t middle = lo + (hi - lo) / 2;
        (at(middle).value_or(*here) == *last ? lo : hi) = middle;
      }
      b.crossings.push_back({hi, *here});
    }
    last = here;
    before = b.highest = n;
  }
  if (!last) b.size_reason = "no size of " + parameter + " could be evaluated";
  return b;
}

}  // namespace kernelcast::offload
