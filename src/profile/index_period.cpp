// Index, part 2: periods. Quotients and remainders of linear expressions repeat: mod(a * v + r, d) has the same value d
// / gcd(a, d) steps of v later, floor((a * v + r) / d) has grown by a / gcd(a, d) then. Sums and products of such parts
// repeat after the least common multiple. So a variable that spoils an address need not be enumerated: one residue
// class after the other, an address is a progression.
#include <cmath>
#include <numeric>

#include "core/op_semantics.h"
#include "profile/index.h"

namespace kernelcast {
namespace {

constexpr std::int64_t longest_period = std::int64_t{1} << 24;

// The part's period is made a multiple of both. False when it grows too long.
bool join(Period& p, const Period& part, Int128 times) {
  const std::int64_t length = std::lcm(p.length, part.length);
  const Int128 step = static_cast<Int128>(p.step) * (length / p.length) +
                      times * (static_cast<Int128>(part.step) * (length / part.length));
  if (length > longest_period || !fits_int64(step)) return false;
  p.length = length;
  p.step = static_cast<std::int64_t>(step);
  p.turns += part.turns;
  return true;
}

// Of a remainder or quotient by d > 0 of something with period p.
std::optional<Period> divided(const Period& p, std::int64_t d, bool remainder) {
  if (p.step == int64_min) return std::nullopt;
  const std::int64_t times = d / std::gcd(p.step, d);
  if (times > longest_period / p.length) return std::nullopt;
  Period q{p.length * times, 0, p.turns};
  q.turns += std::abs(static_cast<double>(p.step)) / (static_cast<double>(p.length) * static_cast<double>(d));
  if (!remainder) q.step = static_cast<std::int64_t>(static_cast<Int128>(p.step) * times / d);
  return q;
}

}  // namespace

std::optional<Period> Index::sum_period(const Node& n, const ConstantPool& pool) const {
  Period all;
  for (const Product& p : n.products) {
    Period product;
    bool linear = p.factors.size() == 1 && p.factors[0].second == 1;
    for (const auto& [node, exponent] : p.factors) {
      const auto& part = periods_[static_cast<std::size_t>(node)];
      if (!part || (part->step != 0 && !linear) || !join(product, *part, 1)) return std::nullopt;
    }
    if (!join(all, product, pool[p.slot])) return std::nullopt;
  }
  return all;
}

std::optional<Period> Index::operation_period(const Node& n) const {
  const auto operand = [&](std::size_t i) -> const std::optional<Period>& {
    return periods_[static_cast<std::size_t>(n.operands[i])];
  };
  const auto known = [&](std::size_t i) -> std::optional<std::int64_t> {
    const Shape& s = values_[static_cast<std::size_t>(n.operands[i])];
    return s.mask() == 0 && s.rest.is_point() ? narrow(s.rest.lo) : std::nullopt;
  };
  if (!operand(0)) return std::nullopt;
  switch (n.op) {
    case Op::mod:
    case Op::floor_div:
    case Op::ceil_div:
      if (const auto d = known(1); d && *d > 0) return divided(*operand(0), *d, n.op == Op::mod);
      break;
    case Op::shift_right:
      if (const auto b = known(1); b && *b >= 0 && *b < 62) return divided(*operand(0), std::int64_t{1} << *b, false);
      break;
    case Op::bit_and:
      if (const auto m = known(1); m && *m >= 0 && *m < int64_max && is_power_of_two(*m + 1))
        return divided(*operand(0), *m + 1, true);
      break;
    default:
      break;
  }
  Period all;
  for (std::size_t i = 0; i < n.operands.size(); ++i)
    if (!operand(i) || operand(i)->step != 0 || !join(all, *operand(i), 1)) return std::nullopt;
  return all;
}

std::optional<Period> Index::period(int variable, const Shape& shape, const ConstantPool& pool) {
  periods_.resize(nodes_.size());
  for (std::size_t i = 0; i < nodes_.size(); ++i) {
    const Shape& s = i + 1 == nodes_.size() ? shape : values_[i];
    if ((s.rest_mask >> variable & 1) == 0) {
      periods_[i] =
          Period{1, (s.linear_mask >> variable & 1) != 0 ? s.linear[static_cast<std::size_t>(variable)] : 0, 0};
      continue;
    }
    const Node& n = nodes_[i];
    periods_[i] = n.kind == Node::Kind::sum         ? sum_period(n, pool)
                  : n.kind == Node::Kind::operation ? operation_period(n)
                                                    : std::nullopt;
  }
  return periods_.back();
}

}  // namespace kernelcast
