// Opaque operations, one object for equal ones. A process-wide table of weak references finds an existing node, so that
// expressions stay graphs rather than trees: two equal operands are compared by address, never by walking both.
#include <algorithm>
#include <mutex>
#include <unordered_map>

#include "core/expr_node.h"
#include "core/expr_range.h"
#include "core/op_semantics.h"
#include "kernelcast/error.h"

namespace kernelcast {
namespace {

class OpTable {
 public:
  OpRef intern(std::unique_ptr<OpNode> node) {
    const std::lock_guard lock(mutex_);
    auto [it, end] = nodes_.equal_range(node->hash);
    for (; it != end; ++it) {
      // A node whose last reference is just going away cannot be revived: lock() fails and a new one is made.
      if (OpRef existing = it->second.reference.lock();
          existing != nullptr && existing->op == node->op && existing->args == node->args) {
        return existing;
      }
    }
    const OpNode* raw = node.get();
    OpRef fresh(node.release(), [this](const OpNode* dead) {
      forget(dead);
      delete dead;  // outside the lock: it may release further nodes
    });
    nodes_.emplace(raw->hash, Entry{raw, fresh});
    return fresh;
  }

 private:
  struct Entry {
    const OpNode* address;
    std::weak_ptr<const OpNode> reference;
  };
  void forget(const OpNode* dead) {
    const std::lock_guard lock(mutex_);
    auto [it, end] = nodes_.equal_range(dead->hash);
    for (; it != end; ++it) {
      if (it->second.address == dead) {
        nodes_.erase(it);
        return;
      }
    }
  }
  std::mutex mutex_;
  std::unordered_multimap<std::size_t, Entry> nodes_;
};

// Never destroyed: expressions in static storage may outlive every other object.
OpTable& table() {
  static OpTable& instance = *new OpTable;
  return instance;
}

bool may_be_undefined(Op op, const std::vector<Expr>& args) {
  switch (op) {
    case Op::floor_div:
    case Op::ceil_div:
    case Op::mod:
      return static_bounds(args[1]).contains(0);
    case Op::shift_left:
      return !static_bounds(args[1]).within(0, 62);
    case Op::shift_right:
      return static_bounds(args[1]).lo < 0;
    default:
      return false;
  }
}

}  // namespace

std::uint32_t depth_of(const Expr& e) {
  std::uint32_t d = 0;
  for (const Term& t : terms_of(e)) {
    for (const Factor& f : t.factors) {
      if (f.atom.op() != nullptr) d = std::max(d, f.atom.op()->depth);
    }
  }
  return d;
}

bool is_total(const Expr& e) {
  for (const Term& t : terms_of(e)) {
    for (const Factor& f : t.factors) {
      if (f.atom.op() != nullptr && !f.atom.op()->total) return false;
    }
  }
  return true;
}

std::vector<Symbol> symbols_of(const std::vector<Expr>& expressions) {
  std::vector<Symbol> all;
  for (const Expr& e : expressions) {
    for (const Term& t : terms_of(e)) {
      for (const Factor& f : t.factors) {
        if (const Symbol* s = f.atom.symbol()) {
          all.push_back(*s);
        } else {
          const std::vector<Symbol>& inner = f.atom.operation().symbols;
          all.insert(all.end(), inner.begin(), inner.end());
        }
      }
    }
  }
  std::sort(all.begin(), all.end());
  all.erase(std::unique(all.begin(), all.end()), all.end());
  return all;
}

Expr make_op(Op op, std::vector<Expr> args) {
  auto node = std::make_unique<OpNode>();
  node->op = op;
  std::size_t h = 0x51ed270b0a1f7d3dULL + static_cast<std::size_t>(op);
  for (const Expr& a : args) {
    h = (h ^ a.node().hash()) * 0xff51afd7ed558ccdULL;
    h ^= h >> 32U;
    node->depth = std::max(node->depth, 1 + depth_of(a));
    node->total = node->total && is_total(a);
  }
  if (node->depth > max_depth) throw LimitError("a symbolic expression nests more than 256 operations");
  node->hash = h;
  node->total = node->total && !may_be_undefined(op, args);
  node->symbols = symbols_of(args);
  node->bounds = operation_bounds(op, args, static_bounds);
  node->args = std::move(args);
  return ExprNode::wrap({Term{{{Atom(table().intern(std::move(node))), 1}}, 1}});
}

}  // namespace kernelcast
