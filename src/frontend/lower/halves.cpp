// Pairs of phis of one block are taken to be the low and the high half of one register, as soon as one edge shows it.
// Pairs that an edge contradicts are dropped until no more are; what is left holds on every edge by induction.
#include "frontend/lower/halves.h"

#include <map>
#include <optional>
#include <utility>
#include <vector>

#include "llvm/IR/IRBuilder.h"
#include "llvm/IR/InstIterator.h"
#include "llvm/IR/Instructions.h"
#include "llvm/IR/PatternMatch.h"

namespace kernelcast::frontend {

using namespace llvm;

namespace {

using namespace PatternMatch;

using Pair = std::pair<PHINode*, PHINode*>;  // low, high

bool is_number(const Type* type) { return type->isIntegerTy(16) || type->isIntegerTy(32); }

/// The register whose high half `high` is; null: none that one sees.
Value* whole_of(Value* high) {
  Value* whole = nullptr;
  if (!match(high, m_Trunc(m_LShr(m_Value(whole), m_SpecificInt(16)))) &&
      !match(high, m_LShr(m_Value(whole), m_SpecificInt(16))))
    return nullptr;
  return whole->getType()->isIntegerTy(32) ? whole : nullptr;
}

bool is_low_of(Value* low, Value* whole) {
  return low == whole || match(low, m_Trunc(m_Specific(whole))) ||
         match(low, m_And(m_Specific(whole), m_SpecificInt(0xffff)));
}

/// Whether nobody reads more than 16 bits.
bool low_half_suffices(const PHINode& low, const std::map<Pair, PHINode*>& pairs) {
  if (low.getType()->isIntegerTy(16)) return true;
  return all_of(low.users(), [&](const User* user) {
    if (const auto* phi = dyn_cast<PHINode>(user))
      return any_of(pairs, [&](const auto& p) { return p.first.first == phi; });
    const APInt* mask = nullptr;
    const APInt* bits = nullptr;
    return (match(user, m_And(m_Value(), m_APInt(mask))) && mask->getActiveBits() <= 16) ||
           (isa<TruncInst>(user) && user->getType()->getIntegerBitWidth() <= 16) ||
           (match(user, m_Shl(m_Specific(&low), m_APInt(bits))) && bits->uge(16));
  });
}

class Joiner {
 public:
  explicit Joiner(Function& function) : function_(function) {}

  bool run() {
    find();
    drop_contradicted();
    if (pairs_.empty()) return false;
    for (auto& [pair, whole] : pairs_) {
      IRBuilder<> b(pair.first);
      whole = b.CreatePHI(b.getInt32Ty(), pair.first->getNumIncomingValues(), "whole");
    }
    for (auto& [pair, whole] : pairs_)
      for (unsigned n = 0; n < pair.first->getNumIncomingValues(); ++n)
        whole->addIncoming(*on_edge(pair, n), pair.first->getIncomingBlock(n));
    for (auto& [pair, whole] : pairs_) replace(pair, *whole);
    return true;
  }

 private:
  static constexpr int most_candidates = 4;

  void consider(PHINode* low, PHINode* high) {
    if (low == high || low->getParent() != high->getParent() || !is_number(low->getType()) ||
        !is_number(high->getType()) || candidates_[high] == most_candidates || !pairs_.try_emplace({low, high}).second)
      return;
    ++candidates_[high];
    work_.push_back({low, high});
  }

  void find() {
    for (Instruction& i : instructions(function_)) {
      auto* high = dyn_cast<PHINode>(&i);
      if (!high || !is_number(high->getType())) continue;
      for (unsigned n = 0; n < high->getNumIncomingValues(); ++n) {
        Value* whole = whole_of(high->getIncomingValue(n));
        if (!whole) continue;
        for (PHINode& low : high->getParent()->phis())
          if (is_low_of(low.getIncomingValueForBlock(high->getIncomingBlock(n)), whole)) consider(&low, high);
      }
    }
    while (!work_.empty()) {  // neighbours of pairs: what they are made of, and what is made of them
      const auto [low, high] = work_.back();
      work_.pop_back();
      for (unsigned n = 0; n < low->getNumIncomingValues(); ++n) {
        auto* l = dyn_cast<PHINode>(low->getIncomingValue(n));
        auto* h = dyn_cast<PHINode>(high->getIncomingValueForBlock(low->getIncomingBlock(n)));
        if (l && h) consider(l, h);
      }
      for (User* of_low : low->users())
        for (User* of_high : high->users()) {
          auto* l = dyn_cast<PHINode>(of_low);
          auto* h = dyn_cast<PHINode>(of_high);
          if (!l || !h || l->getParent() != h->getParent()) continue;
          for (unsigned n = 0; n < l->getNumIncomingValues(); ++n)
            if (l->getIncomingValue(n) == low && h->getIncomingValueForBlock(l->getIncomingBlock(n)) == high)
              consider(l, h);
        }
    }
  }

  /// What the register is on the n-th edge; nothing: the values are not its halves. Of a pair its phi, null as yet.
  std::optional<Value*> on_edge(const Pair& pair, unsigned n) const {
    Value* low = pair.first->getIncomingValue(n);
    Value* high = pair.second->getIncomingValueForBlock(pair.first->getIncomingBlock(n));
    if (Value* whole = whole_of(high); whole && is_low_of(low, whole)) return whole;
    const auto* l = dyn_cast<ConstantInt>(low);
    const auto* h = dyn_cast<ConstantInt>(high);
    if (l && h)
      return ConstantInt::get(Type::getInt32Ty(low->getContext()),
                              (l->getZExtValue() & 0xffff) | (h->getZExtValue() & 0xffff) << 16);
    auto* phi_low = dyn_cast<PHINode>(low);
    auto* phi_high = dyn_cast<PHINode>(high);
    if (phi_low && phi_high)
      if (const auto at = pairs_.find({phi_low, phi_high}); at != pairs_.end()) return at->second;
    return std::nullopt;
  }

  void drop_contradicted() {
    for (bool again = true; again;) {
      again = false;
      for (auto at = pairs_.begin(); at != pairs_.end();) {
        bool holds = low_half_suffices(*at->first.first, pairs_);
        for (unsigned n = 0; n < at->first.first->getNumIncomingValues() && holds; ++n)
          holds = on_edge(at->first, n).has_value();
        again = again || !holds;
        at = holds ? std::next(at) : pairs_.erase(at);
      }
    }
  }

  static void replace(const Pair& pair, PHINode& whole) {
    IRBuilder<> b(&*pair.first->getParent()->getFirstInsertionPt());
    const auto narrowed = [&](Value* v, Type* type) { return type->isIntegerTy(16) ? b.CreateTrunc(v, type) : v; };
    pair.first->replaceAllUsesWith(narrowed(&whole, pair.first->getType()));
    pair.second->replaceAllUsesWith(narrowed(b.CreateLShr(&whole, 16), pair.second->getType()));
  }

  Function& function_;
  std::map<Pair, PHINode*> pairs_;
  std::map<PHINode*, int> candidates_;  // for the low half, of each high one
  std::vector<Pair> work_;
};

}  // namespace

bool carry_whole_registers(Function& function) { return Joiner(function).run(); }

}  // namespace kernelcast::frontend
