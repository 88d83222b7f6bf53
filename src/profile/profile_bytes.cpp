// One description of the fields serves both directions: fields() names the members of each struct by a structured
// binding, so that a member added to a struct does not compile until it is added here. Integers are zigzag varints,
// reals their eight bytes. Expressions share operations: each is written where it is first used and has a number from
// then on, so bytes grow with the graph, not with the tree. Reading builds the same canonical form by the functions of
// core/expr_node.h; operations are made as they stand, without simplification. A checksum comes first: whatever passes
// it was written by us, and further checks only keep a bug from reading wild memory.
#include "profile/profile_bytes.h"

#include <bit>
#include <concepts>
#include <cstring>
#include <map>
#include <unordered_map>

#include "core/expr_node.h"
#include "core/op_semantics.h"
#include "kernelcast/error.h"

namespace kernelcast {
namespace {

constexpr std::string_view magic = "KCPROF10";

[[noreturn]] void damaged() { throw UserError("the kept analysis is damaged"); }

/// FNV-1a (http://www.isthe.com/chongo/tech/comp/fnv): against damage, not against malice.
std::uint64_t checksum(std::string_view bytes) {
  std::uint64_t h = 0xcbf29ce484222325ULL;
  for (char c : bytes) h = (h ^ static_cast<unsigned char>(c)) * 0x100000001b3ULL;
  return h;
}

template <class T, class U>
concept Like = std::same_as<std::remove_const_t<T>, U>;

template <class A, Like<SourceLine> T>
void fields(A& a, T& x) {
  auto& [file, line] = x;
  a(file, line);
}
template <class A, Like<Dim3> T>
void fields(A& a, T& d) {
  auto& [x, y, z] = d;
  a(x, y, z);
}
template <class A, Like<TensorOps> T>
void fields(A& a, T& x) {
  auto& [warp, async, shared_bytes, idle, passes] = x;
  for (auto& v : warp) a(v);
  for (auto& v : async) a(v);
  a(shared_bytes, idle, passes);
}
template <class A, Like<OpCounts> T>
void fields(A& a, T& x) {
  auto& [n, tensor] = x;
  for (auto& v : n) a(v);
  fields(a, tensor);
}
template <class A, Like<Stalls> T>
void fields(A& a, T& x) {
  auto& [waits, hidden, loads, text_order_spills, fills, products, cluster_barriers] = x;
  for (auto& v : waits) a(v);
  for (auto& v : hidden) a(v);
  a(loads, text_order_spills, fills, products, cluster_barriers);
}
template <class A, Like<BarrierPhase> T>
void fields(A& a, T& x) {
  auto& [id, instructions, branches, barriers, arithmetic, shared, global, products, waits, hidden] = x;
  a(id, instructions, branches, barriers, arithmetic, shared, global, products);
  for (auto& v : waits) a(v);
  for (auto& v : hidden) a(v);
}
template <class A, Like<Unknown> T>
void fields(A& a, T& x) {
  auto& [kind, key, line, default_value, uniform, reason] = x;
  a(kind, key, line, default_value, uniform, reason);
}
template <class A, Like<Path::Factor> T>
void fields(A& a, T& x) {
  auto& [unknown, taken] = x;
  a(unknown, taken);
}
template <class A, Like<Path> T>
void fields(A& a, T& x) {
  auto& [condition, factors] = x;
  a(condition, factors);
}
template <class A, Like<Guard> T>
void fields(A& a, T& x) {
  auto& [paths] = x;
  a(paths);
}
template <class A, Like<Access> T>
void fields(A& a, T& x) {
  auto& [space, kind, bytes, buffer, offset, also, unknown, read_only, async, past_l1, in_cluster, bulk, row_bytes,
         by_coordinates, atomic, joined, retried, line] = x;
  a(space, kind, bytes, buffer, offset, also, unknown, read_only, async, past_l1, in_cluster, bulk, row_bytes,
    by_coordinates, atomic, joined, retried, line);
}
template <class A, Like<AsyncEvent> T>
void fields(A& a, T& x) {
  auto& [kind, open, count, first, last] = x;
  a(kind, open, count, first, last);
}
template <class A, Like<LineOps> T>
void fields(A& a, T& x) {
  auto& [line, ops] = x;
  a(line, ops);
}
template <class A, Like<Block> T>
void fields(A& a, T& x) {
  auto& [name, loop, guard, ops, issued_elsewhere, lines, stalls, phases, events, accesses, barriers, flat_barriers,
         line] = x;
  a(name, loop, guard, ops, issued_elsewhere, lines, stalls, phases, events, accesses, barriers, flat_barriers, line);
}
template <class A, Like<Loop> T>
void fields(A& a, T& x) {
  auto& [parent, counter, trips, unknown, guard, line, wait] = x;
  a(parent, counter, trips, unknown, guard, line, wait);
}
template <class A, Like<Branch> T>
void fields(A& a, T& x) {
  auto& [verdict, reason, block, condition, unknown, loop_exit, predicated, line] = x;
  a(verdict, reason, block, condition, unknown, loop_exit, predicated, line);
}
template <class A, Like<Parameter> T>
void fields(A& a, T& x) {
  auto& [name, type, pointer, integer, used, bytes, structure] = x;
  a(name, type, pointer, integer, used, bytes, structure);
}
template <class A, Like<Buffer> T>
void fields(A& a, T& x) {
  auto& [name, space, bytes, alignment, parameter] = x;
  a(name, space, bytes, alignment, parameter);
}
template <class A, Like<Registers> T>
void fields(A& a, T& x) {
  auto& [per_thread, low, high, method, spill_bytes, in_text_order, text_order_spill_bytes] = x;
  a(per_thread, low, high, method, spill_bytes, in_text_order, text_order_spill_bytes);
}
template <class A, Like<Assumption> T>
void fields(A& a, T& x) {
  auto& [what, value, replace, kind, subject] = x;
  a(what, value, replace, kind, subject);
}
template <class A, Like<Unmodeled> T>
void fields(A& a, T& x) {
  auto& [what, count, line] = x;
  a(what, count, line);
}
template <class A, Like<SetRegisters> T>
void fields(A& a, T& x) {
  auto& [block, registers, line] = x;
  a(block, registers, line);
}
template <class A, Like<KernelProfile> T>
void fields(A& a, T& x) {
  auto& [kernel, symbol, target, files, parameters, buffers, loops, blocks, branches, unknowns, registers,
         static_shared_bytes, uses_dynamic_shared, stack_bytes, max_threads_per_block, cluster, set_registers,
         required_block, mapped_axes, mapped_extent, assumptions, unmodeled, notes] = x;
  a(kernel, symbol, target, files, parameters, buffers, loops, blocks, branches, unknowns, registers,
    static_shared_bytes, uses_dynamic_shared, stack_bytes, max_threads_per_block, cluster, set_registers,
    required_block, mapped_axes, mapped_extent, assumptions, unmodeled, notes);
}

class Writer {
 public:
  template <class... T>
  void operator()(const T&... items) {
    (item(items), ...);
  }
  std::string bytes;

 private:
  template <class T>
  void item(const T& x) {
    if constexpr (std::is_enum_v<T> || std::is_integral_v<T>) {
      whole(static_cast<std::int64_t>(x));
    } else {
      fields(*this, x);
    }
  }
  template <class T>
  void item(const std::vector<T>& list) {
    whole(static_cast<std::int64_t>(list.size()));
    for (const T& x : list) item(x);
  }
  void item(const double& x) {
    const auto bits = std::bit_cast<std::array<char, sizeof x>>(x);
    bytes.append(bits.data(), bits.size());
  }
  void item(const std::string& x) {
    whole(static_cast<std::int64_t>(x.size()));
    bytes += x;
  }
  void item(const Symbol& s) {
    const auto [known, fresh] = symbols_.try_emplace(s, static_cast<std::int64_t>(symbols_.size()));
    whole(known->second);
    if (fresh) item(s.name());
  }
  void item(const Expr& e) {
    const std::vector<Term>& terms = terms_of(e);
    whole(static_cast<std::int64_t>(terms.size()));
    for (const Term& t : terms) {
      whole(t.coefficient);
      whole(static_cast<std::int64_t>(t.factors.size()));
      for (const Factor& f : t.factors) {
        atom(f.atom);
        whole(f.exponent);
      }
    }
  }
  /// 0: a symbol; 1: a new operation; n + 2: operation n.
  void atom(const Atom& a) {
    if (const Symbol* s = a.symbol()) {
      whole(0);
      item(*s);
      return;
    }
    const OpNode* op = a.op();
    if (const auto known = operations_.find(op); known != operations_.end()) {
      whole(known->second + 2);
      return;
    }
    whole(1);
    item(op->op);
    item(op->args);
    operations_.emplace(op, static_cast<std::int64_t>(operations_.size()));
  }
  void whole(std::int64_t v) {
    auto u = (static_cast<std::uint64_t>(v) << 1U) ^ static_cast<std::uint64_t>(v >> 63);
    for (; u >= 0x80; u >>= 7U) bytes += static_cast<char>(u | 0x80U);
    bytes += static_cast<char>(u);
  }

  std::map<Symbol, std::int64_t> symbols_;
  std::unordered_map<const OpNode*, std::int64_t> operations_;
};

class Reader {
 public:
  explicit Reader(std::string_view bytes) : rest_(bytes) {}
  template <class... T>
  void operator()(T&... items) {
    (item(items), ...);
  }
  [[nodiscard]] bool at_end() const { return rest_.empty(); }

 private:
  template <class T>
  void item(T& x) {
    if constexpr (std::is_enum_v<T> || std::is_integral_v<T>) {
      x = static_cast<T>(whole());
    } else {
      fields(*this, x);
    }
  }
  template <class T>
  void item(std::vector<T>& list) {
    list.clear();
    for (std::size_t n = count(); n > 0; --n) item(list.emplace_back());
  }
  void item(double& x) {
    if (rest_.size() < sizeof x) damaged();
    std::memcpy(&x, rest_.data(), sizeof x);
    rest_.remove_prefix(sizeof x);
  }
  void item(std::string& x) {
    const std::size_t n = count();
    x = rest_.substr(0, n);
    rest_.remove_prefix(n);
  }
  void item(Symbol& s) {
    const auto index = static_cast<std::uint64_t>(whole());
    if (index > symbols_.size()) damaged();
    if (index == symbols_.size()) {
      std::string name;
      item(name);
      symbols_.emplace_back(name);
    }
    s = symbols_[index];
  }
  void item(Expr& e) {
    std::vector<WideTerm> terms;
    for (std::size_t n = count(); n > 0; --n) {
      WideTerm t{{}, whole()};
      for (std::size_t f = count(); f > 0; --f) {
        Atom a = atom();
        const std::int64_t power = whole();
        if (power < 1 || power > max_degree) damaged();
        t.factors.push_back({std::move(a), static_cast<std::uint32_t>(power)});
      }
      terms.push_back(std::move(t));
    }
    e = gather(std::move(terms));
  }
  Atom atom() {
    const std::int64_t kind = whole();
    if (kind == 0) {
      Symbol s("?");
      item(s);
      return Atom(s);
    }
    if (kind > 1) {
      if (static_cast<std::uint64_t>(kind - 2) >= operations_.size()) damaged();
      return operations_[static_cast<std::size_t>(kind - 2)];
    }
    if (kind < 0 || ++depth_ > max_depth) damaged();
    Op op{};
    std::vector<Expr> args;
    item(op);
    item(args);
    --depth_;
    if (op > Op::bit_width) damaged();
    const auto wanted = static_cast<std::size_t>(arity(op));
    const bool many = op == Op::min || op == Op::max;
    if (many ? args.size() < wanted : args.size() != wanted) damaged();
    const Expr made = make_op(op, std::move(args));
    const Atom* single = single_atom(made);
    if (single == nullptr) damaged();
    operations_.push_back(*single);
    return operations_.back();
  }
  /// A length; every element takes a byte at least.
  std::size_t count() {
    const std::int64_t n = whole();
    if (n < 0 || static_cast<std::uint64_t>(n) > rest_.size()) damaged();
    return static_cast<std::size_t>(n);
  }
  std::int64_t whole() {
    std::uint64_t u = 0;
    for (unsigned shift = 0; shift < 70; shift += 7) {
      if (rest_.empty()) damaged();
      const auto byte = static_cast<unsigned char>(rest_.front());
      rest_.remove_prefix(1);
      u |= static_cast<std::uint64_t>(byte & 0x7fU) << shift;
      if (byte < 0x80) return static_cast<std::int64_t>((u >> 1U) ^ (0 - (u & 1U)));
    }
    damaged();
  }

  std::string_view rest_;
  std::vector<Symbol> symbols_;
  std::vector<Atom> operations_;
  std::uint32_t depth_ = 0;
};

}  // namespace

std::string bytes_of(const KernelProfile& profile) {
  Writer writer;
  writer(profile);
  const auto sum = std::bit_cast<std::array<char, 8>>(checksum(writer.bytes));
  return std::string(magic) + std::string(sum.data(), sum.size()) + writer.bytes;
}

KernelProfile profile_of(std::string_view bytes) {
  if (bytes.size() < magic.size() + 8 || !bytes.starts_with(magic)) damaged();
  std::uint64_t sum = 0;
  std::memcpy(&sum, bytes.data() + magic.size(), sizeof sum);
  bytes.remove_prefix(magic.size() + sizeof sum);
  if (checksum(bytes) != sum) damaged();
  Reader reader(bytes);
  KernelProfile profile;
  reader(profile);
  if (!reader.at_end()) damaged();
  return profile;
}

}  // namespace kernelcast
