// The search is greedy: a change that runs faster stays. Two things make it work on a machine of which only banks and
// the code for dual issue are known: beginnings that differ in the path through the tile and in the banks of its
// operands, and programs that a third of the instruction cache holds, so that hundreds of them can be tried.
#include "probe/ffma_search.h"

#include <algorithm>
#include <cmath>
#include <functional>
#include <numeric>

namespace kernelcast::probe {
namespace {

constexpr int most_tried = 700;
constexpr double enough = 0.995;  // of peak: the rule of step 2
constexpr double better = 1.001;  // a smaller gain is the loop around the body

struct Place {
  int row = 0, column = 0;
};

/// A program: the order of a tile, the registers of its operands, what goes together.
struct Way {
  std::vector<Place> order;
  std::vector<int> a, b, c;  // c by rows
  bool reuse = false;        // operands that the next instruction reads, too, carry a flag
  GroupPattern pattern;
};

struct Tile {
  int rows = 3, columns = 4;
};

std::vector<Place> by_rows(const Tile& t, bool back_and_forth) {
  std::vector<Place> out;
  for (int r = 0; r < t.rows; ++r)
    for (int c = 0; c < t.columns; ++c) out.push_back({r, back_and_forth && r % 2 == 1 ? t.columns - 1 - c : c});
  return out;
}

/// Two columns at a time, neighbours in a row or a column one behind the other.
std::vector<Place> by_strips(const Tile& t) {
  std::vector<Place> out;
  for (int c = 0; c < t.columns; c += 2)
    for (int r = 0; r < t.rows; ++r)
      for (int k = 0; k < std::min(2, t.columns - c); ++k) out.push_back({r, c + (r % 2 == 0 ? k : 1 - k)});
  return out;
}

/// The order of the published matrix product (zhang-2017, figure 7) for tiles of three rows: in each six neighbours
/// share a factor, those of a pair the other one.
std::vector<Place> by_sixes(const Tile& t) {
  std::vector<Place> out;
  for (int c = 0; c + 1 < t.columns; c += 2) {
    const bool back = c % 4 == 2;
    const int first = back ? 2 : 0, last = back ? 0 : 2, one = back ? c + 1 : c, other = back ? c : c + 1;
    for (const Place p : {Place{first, one}, {first, other}, {1, other}, {last, one}, {1, one}, {last, other}})
      out.push_back(p);
  }
  return out;
}

/// Which class of registers each operand of a tile is from.
struct Layout {
  std::vector<int> of_a, of_b;  // in turn
  std::function<int(int row, int column)> of_sum;
};

/// Accumulators from `classes`; neighbours in a row and in a column differ.
Layout layout_of(const std::vector<int>& of_a, const std::vector<int>& of_b, const std::vector<int>& classes) {
  return {of_a, of_b, [classes](int row, int column) {
            return classes[static_cast<std::size_t>(row + column + 1) % classes.size()];
          }};
}

/// Each accumulator in a class that neither of its factors is from, of four, and that no factor of a pair in by_sixes()
/// is read from: the pairs of these columns are those of 1 and 2, 5 and 6, ... first.
Layout crossed() {
  return {{2, 3}, {0, 1}, [](int row, int column) {
            const bool first_pair = (column + 1) % 4 >= 2;
            return (row % 2 == 0) == first_pair ? 1 - column % 2 : 3 - row % 2;
          }};
}

/// Takes registers of classes, each once.
class Registers {
 public:
  Registers(const std::vector<std::vector<int>>& classes, int registers) : left_(classes) {
    if (!left_.empty()) return;
    left_.emplace_back(static_cast<std::size_t>(registers));
    std::iota(left_.front().begin(), left_.front().end(), 0);
  }
  /// The next of a class; false where there is none.
  bool take(int of_class, std::vector<int>& to) {
    std::vector<int>& pool = left_[static_cast<std::size_t>(of_class)];
    if (pool.empty()) return false;
    to.push_back(pool.front());
    pool.erase(pool.begin());
    return true;
  }

 private:
  std::vector<std::vector<int>> left_;
};

/// False where a class has too few registers.
bool give_registers(Way& way, const Tile& t, Registers pool, const Layout& layout) {
  way.a.clear();
  way.b.clear();
  way.c.clear();
  bool enough_left = true;
  for (int r = 0; r < t.rows; ++r)
    enough_left = enough_left && pool.take(layout.of_a[static_cast<std::size_t>(r) % layout.of_a.size()], way.a);
  for (int c = 0; c < t.columns; ++c)
    enough_left = enough_left && pool.take(layout.of_b[static_cast<std::size_t>(c) % layout.of_b.size()], way.b);
  for (int r = 0; r < t.rows; ++r)
    for (int c = 0; c < t.columns; ++c) enough_left = enough_left && pool.take(layout.of_sum(r, c), way.c);
  return enough_left;
}

class Search {
 public:
  Search(const TestedSm& m, const FfmaKnown& known) : m_(m), known_(known), slots_(known.dual ? m.encoding.group : 1) {
    if (known.registers < 19) tile_ = {2, 2};  // 19: the larger tile and its factors
    const double accumulators = tile_.rows * tile_.columns;
    stall_ = std::max(1, static_cast<int>(std::ceil(known.latency / accumulators)));
  }

  FfmaSearch run() {
    begin();
    for (bool faster = true; faster && !over();) {
      faster = change_pattern();
      faster = change_order() || faster;
      faster = change_registers() || faster;
    }
    FfmaSearch out;
    found_ = tile_of(best_);
    pattern_ = best_.pattern;
    out.fraction = measured(found_, pattern_, m_.body);
    out.first_fraction = measured(tile_of(first_), first_.pattern, m_.body);
    try_order(out);
    out.tile = found_;
    out.pattern = pattern_;
    out.tried = tried_;
    if (!known_.dual) return out;
    out.by_filler = by_filler();
    for (int slots = 0; slots < slots_; ++slots) out.by_displacement.push_back(displaced(slots));
    return out;
  }

 private:
  [[nodiscard]] bool over() const { return tried_ >= most_tried || best_fraction_ >= enough; }

  [[nodiscard]] std::vector<Ffma> tile_of(const Way& way) const {
    std::vector<Ffma> out;
    for (std::size_t i = 0; i < way.order.size(); ++i) {
      const Place p = way.order[i], next = way.order[(i + 1) % way.order.size()];
      Ffma f{way.a[static_cast<std::size_t>(p.row)],
             way.b[static_cast<std::size_t>(p.column)],
             way.c[static_cast<std::size_t>(p.row * tile_.columns + p.column)],
             {}};
      if (way.reuse)
        f.control = m_.reuse(
            stall_, static_cast<std::uint8_t>((next.row == p.row ? 1U : 0U) | (next.column == p.column ? 2U : 0U)));
      out.push_back(f);
    }
    return out;
  }

  [[nodiscard]] double fraction_of(const std::vector<sm::Instruction>& body) const {
    const auto counted = std::ranges::count(body, sm::Op::ffma, &sm::Instruction::op);
    return throughput(m_, body, static_cast<int>(counted)) / m_.lanes;
  }

  [[nodiscard]] double measured(const std::vector<Ffma>& tile, const GroupPattern& pattern, int instructions) const {
    return fraction_of(ffma_groups(tile, slots_, instructions / slots_, pattern, known_.dual, m_.encoding.neutral));
  }
  [[nodiscard]] double measured(const Way& way, int instructions) const {
    return measured(tile_of(way), way.pattern, instructions);
  }

  /// The fastest of the six orders, which no tile of factors and sums may reach: it multiplies two registers only.
  void try_order(FfmaSearch& out) {
    if (!known_.dual || known_.order_tile.empty()) return;
    ++tried_;
    const double fraction = measured(known_.order_tile, known_.order, m_.body);
    if (fraction <= out.fraction) return;
    out.fraction = fraction;
    found_ = known_.order_tile;
    pattern_ = known_.order;
  }

  /// The best program with fillers before it.
  [[nodiscard]] double displaced(int slots) const {
    std::vector<sm::Instruction> body(static_cast<std::size_t>(slots));
    for (sm::Instruction& filler : body) filler.control = m_.encoding.neutral;
    const auto rest = ffma_groups(found_, slots_, m_.body / slots_ - 1, pattern_, known_.dual, m_.encoding.neutral);
    body.insert(body.end(), rest.begin(), rest.end());
    return fraction_of(body);
  }

  [[nodiscard]] std::vector<double> by_filler() const {
    std::vector<double> out(static_cast<std::size_t>(slots_), 0);
    for (const GroupPattern& pattern : all_patterns(slots_)) {
      if (pattern.filler < 0) continue;
      double& best = out[static_cast<std::size_t>(pattern.filler)];
      best = std::max(best, measured(found_, pattern, m_.body / 3));
    }
    return out;
  }

  /// Measures a program, and keeps it when it is the fastest.
  bool try_way(Way way) {
    ++tried_;
    const double fraction = measured(way, m_.body / 3);
    if (fraction < best_fraction_ * better) return false;
    best_fraction_ = fraction;
    best_ = std::move(way);
    return true;
  }

  void begin() {
    first_.order = by_rows(tile_, false);
    give_registers(first_, tile_, Registers({}, known_.registers), layout_of({0}, {0}, {0}));
    std::vector<GroupPattern> patterns = {GroupPattern{}};
    if (known_.dual) patterns.push_back(known_.order);
    std::vector<std::vector<Place>> orders = {first_.order, by_rows(tile_, true), by_strips(tile_)};
    if (tile_.rows == 3) orders.push_back(by_sixes(tile_));
    for (const GroupPattern& pattern : patterns)
      for (const bool reuse : {false, true})
        for (const std::vector<Place>& order : orders) {
          if (reuse && !m_.reuse) continue;
          Way way = first_;
          way.order = order;
          way.reuse = reuse;
          way.pattern = pattern;
          try_way(way);
          try_layouts(way);
        }
  }

  /// Factors in banks of their own, in two each, or together; accumulators elsewhere or among the factors.
  void try_layouts(Way way) {
    const std::size_t classes = known_.banks.classes.size();
    if (classes < 2) return;
    std::vector<std::vector<int>> sets = {{0}, {1}, {0, 1}};
    if (classes >= 4) sets.push_back({2, 3});
    std::vector<Layout> layouts;
    for (const std::vector<int>& of_a : {sets[0], sets[2]})
      for (const std::vector<int>& of_b : sets)
        for (const std::vector<int>& of_c : sets) layouts.push_back(layout_of(of_a, of_b, of_c));
    if (classes == 4) layouts.push_back(crossed());
    for (const Layout& layout : layouts)
      if (!over() && give_registers(way, tile_, Registers(known_.banks.classes, known_.registers), layout))
        try_way(way);
  }

  bool change_pattern() {
    if (!known_.dual) return false;
    bool faster = false;
    for (const GroupPattern& pattern : all_patterns(slots_)) {
      if (over()) return faster;
      Way way = best_;
      way.pattern = pattern;
      faster = try_way(std::move(way)) || faster;
    }
    return faster;
  }

  bool change_order() {
    bool faster = false;
    for (std::size_t i = 0; i + 1 < best_.order.size(); ++i)
      for (std::size_t k = i + 1; k < best_.order.size(); ++k) {
        if (over()) return faster;
        Way way = best_;
        std::swap(way.order[i], way.order[k]);
        faster = try_way(std::move(way)) || faster;
      }
    return faster;
  }

  /// Exchanges the register of an operand for one of another bank, with the operand that has it, if any.
  bool change_registers() {
    bool faster = false;
    for (std::vector<int> Way::* kind : {&Way::a, &Way::b, &Way::c})
      for (std::size_t i = 0; i < (best_.*kind).size(); ++i)
        for (const std::vector<int>& members : known_.banks.classes) {
          const int old = (best_.*kind)[i];
          if (over()) return faster;
          if (std::ranges::find(members, old) != members.end()) continue;
          Way way = best_;
          exchange(way, old, members[i % members.size()]);
          faster = try_way(std::move(way)) || faster;
        }
    return faster;
  }

  static void exchange(Way& way, int one, int other) {
    for (std::vector<int> Way::* kind : {&Way::a, &Way::b, &Way::c})
      for (int& reg : way.*kind) {
        if (reg == one) {
          reg = other;
        } else if (reg == other) {
          reg = one;
        }
      }
  }

  const TestedSm& m_;
  const FfmaKnown& known_;
  int slots_, stall_ = 1, tried_ = 0;
  Tile tile_;
  Way first_, best_;
  double best_fraction_ = 0;
  std::vector<Ffma> found_;  // the answer's
  GroupPattern pattern_;
};

}  // namespace

FfmaSearch search_ffma(const TestedSm& m, const FfmaKnown& known) { return Search(m, known).run(); }

}  // namespace kernelcast::probe
