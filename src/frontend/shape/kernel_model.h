// The symbolic reading of one optimised kernel: integer values, addresses, conditions, trip counts. LLVM inside.
#pragma once

#include <map>
#include <optional>
#include <set>
#include <string>
#include <unordered_map>
#include <vector>

#include "kernelcast/profile.h"
#include "llvm/ADT/DenseMap.h"
#include "llvm/Analysis/LoopInfo.h"
#include "llvm/Analysis/PostDominators.h"
#include "llvm/IR/Dominators.h"
#include "llvm/IR/Function.h"
#include "llvm/IR/Instructions.h"

namespace kernelcast::frontend {

/// Where a pointer points: a buffer of the profile (-1: unknown) and bytes from its base.
struct Address {
  int buffer = -1;
  Expr offset;
};

/// A value that only the data know, named by a symbol "data:N" inside expressions.
struct DataValue {
  Symbol symbol{"?"};
  const llvm::Value* value = nullptr;
  std::string reason;
  bool uniform = false;  // the same for all lanes of a block
};

/// How the trips of a loop were found.
struct TripCount {
  std::optional<Expr> trips;  // executions of the header per entry
  bool header_test = false;   // the only exit test stands in the header: the rest runs trips - 1 times
  bool other_exits = false;   // data may end it earlier
  std::string reason;         // why it is not known
};

/// Reads one function. All results are cached; nothing is changed in the function.
class KernelModel {
 public:
  KernelModel(llvm::Function& function, KernelProfile& profile);

  /// Integer value as an expression over ids, sizes, arguments, loop counters and data symbols.
  Expr integer(llvm::Value* value);
  Address address(llvm::Value* pointer);
  /// The address that is known to be unknown, for `reason`.
  /// Whether the value is that of one iteration of a loop around other blocks: where control flow was irreducible, what
  /// such a loop left behind may be looked at.
  bool counts_loop_elsewhere(const Expr& e, const llvm::BasicBlock* at) const;
  Address unknown_address(const llvm::Value* pointer, const std::string& reason);
  /// 0/1 value of a condition.
  Expr condition(llvm::Value* value) { return integer(value); }
  /// When `block` runs, relative to its innermost loop's header (or the entry).
  const Guard& guard(llvm::BasicBlock* block);
  /// When `loop` is entered, relative to its parent's header.
  const Guard& entry_guard(llvm::Loop* loop) {
    return guard_of_node(loop->getHeader(), loop->getParentLoop(), nullptr);
  }
  const TripCount& trips(llvm::Loop* loop);
  Symbol counter(llvm::Loop* loop);

  /// Data symbols that occur in an expression.
  [[nodiscard]] std::vector<const DataValue*> data_in(const Expr& e) const;
  /// Whether the value may differ between the lanes of a block (taint from local ids, atomics, private memory).
  [[nodiscard]] bool divergent(const llvm::Value* value) const { return divergent_.contains(value); }
  /// Index of the Unknown for a data-decided branch; made on first use.
  int branch_unknown(llvm::BasicBlock* block);

  /// The by-value parameter and the byte in it that a pointer stands for.
  std::optional<std::pair<const llvm::Argument*, std::int64_t>> parameter_place(const llvm::Value* pointer) const;
  [[nodiscard]] SourceLine line_of(const llvm::Instruction& instruction) const;
  [[nodiscard]] SourceLine line_of(const llvm::Loop& loop) const;
  [[nodiscard]] SourceLine line_of(const llvm::BasicBlock& block) const;
  [[nodiscard]] std::string text_of(SourceLine line) const;  // "file.cl:12"

  llvm::Function& function() { return function_; }
  llvm::LoopInfo& loops() { return loops_; }
  llvm::DominatorTree& dominators() { return dominators_; }

 private:
  // values.cpp
  Expr compute_integer(llvm::Value* value);
  Expr compute_instruction(llvm::Instruction* instruction);
  std::optional<Expr> value_of_lane(llvm::CallInst& call);
  std::optional<Expr> part_of_warp_operation(llvm::ExtractValueInst& part);
  Expr compute_intrinsic(llvm::CallInst* call);
  std::optional<Expr> real_order(llvm::Value* value) const;
  Expr compare_real(llvm::FCmpInst* comparison);
  Expr compare(llvm::CmpInst* comparison);
  void assume(const Assumption& assumption);
  Expr compare_exprs(llvm::CmpInst::Predicate predicate, const Expr& a, const Expr& b) const;
  static Expr apply_shift(const Expr& a, const Expr& b, bool left);
  Expr data(const llvm::Value* value, std::string reason);
  std::string reason_in(const Expr& e, const std::string& otherwise) const;
  Address choose(const llvm::Value* pointer, const Expr& c, const Address& a, const Address& b);
  Address compute_address(llvm::Value* pointer);
  bool non_negative(const Expr& e) const;
  Expr divide(const Expr& a, const Expr& b) const;     // C's, rounding towards zero
  Expr remainder(const Expr& a, const Expr& b) const;  // C's
  // fields.cpp
  Expr field(const llvm::Argument* parameter, std::int64_t byte, llvm::Type* type);
  std::optional<Expr> parameter_field(llvm::Value* pointer, llvm::Type* type, std::int64_t further);
  std::optional<Expr> parameter_member(llvm::ExtractValueInst* member);
  Expr vector_element(llvm::ExtractElementInst* element);
  std::optional<Address> pointer_field(llvm::Value* pointer);
  std::optional<Address> pointer_in_table(llvm::LoadInst& load);
  // recurrences.cpp
  Expr header_phi(llvm::PHINode* phi, llvm::Loop* loop);
  const Symbol* placeholder_of(const llvm::PHINode* phi) const;
  bool varies_in(const Expr& e, llvm::Loop* loop) const;
  std::optional<Expr> solve_saturating(const Expr& next, Symbol previous, const Expr& start, llvm::Loop* loop);
  Address header_phi_address(llvm::PHINode* phi, llvm::Loop* loop);
  std::optional<Expr> solve_recurrence(const Expr& next, Symbol previous, const Expr& start, llvm::Loop* loop);
  Expr merge_phi(llvm::PHINode* phi);
  Address merge_phi_address(llvm::PHINode* phi);
  template <class Value, class Choose>
  std::optional<Value> choose_by_path(llvm::PHINode* phi, const std::vector<Value>& values, std::string& reason,
                                      Choose choose);
  Expr exit_value(llvm::PHINode* phi, llvm::Loop* loop, const Expr& inside);
  // guards.cpp
  // `top`: the block, at the same level, that the guard is relative to; null: the level's header or the entry.
  const Guard& guard_of_node(llvm::BasicBlock* node, llvm::Loop* level, llvm::BasicBlock* top);
  Guard compute_guard(llvm::BasicBlock* node, llvm::Loop* level, llvm::BasicBlock* top);
  Guard edge_guard(llvm::BasicBlock* from, llvm::BasicBlock* to, llvm::Loop* level, llvm::BasicBlock* top);
  static bool goes_round(llvm::BasicBlock* from, llvm::BasicBlock* avoided, llvm::Loop* loop);
  Guard exit_guard(llvm::BasicBlock* from, llvm::Loop* loop, Guard entered);
  llvm::BasicBlock* node_at(llvm::BasicBlock* block, llvm::Loop* level);
  Path branch_path(llvm::BasicBlock* from, llvm::BasicBlock* to);
  std::optional<Expr> known_edge_condition(llvm::BasicBlock* from, llvm::BasicBlock* to);
  // trips.cpp
  TripCount compute_trips(llvm::Loop* loop);
  bool always(llvm::Value* test, bool expected);
  std::optional<Expr> iterations_while(llvm::Value* condition, bool stay_if, llvm::Loop* loop);
  std::optional<Expr> count_while(llvm::CmpInst::Predicate predicate, const Expr& a, const Expr& b, llvm::Loop* loop,
                                  unsigned bits);
  std::optional<Expr> count_geometric(llvm::CmpInst::Predicate predicate, const Expr& a, const Expr& b,
                                      llvm::Loop* loop);
  std::optional<Expr> count_by_trying(const Expr& test, bool stay_if, llvm::Loop* loop);
  std::optional<Expr> count_affine(llvm::CmpInst::Predicate predicate, const Expr& d0, const Expr& k,
                                   unsigned bits) const;
  // divergence.cpp
  void find_divergence();

  llvm::Function& function_;
  KernelProfile& profile_;
  llvm::DominatorTree dominators_;
  llvm::PostDominatorTree post_dominators_;
  llvm::LoopInfo loops_;
  llvm::DenseMap<const llvm::Value*, int> buffer_of_;
  llvm::DenseMap<const llvm::Value*, Symbol> argument_symbol_;
  /// A recurrence solved as start << (k*c) or start >> (k*c): trips.cpp counts with them.
  struct Geometric {
    Expr value, start;
    std::int64_t k;
    bool left;
  };
  using Branching = std::pair<const llvm::BasicBlock*, const llvm::BasicBlock*>;  // node and top
  /// What is known under the placeholders of the recurrences being solved: layer 0 holds what is true without any, the
  /// n-th layer what depends on the n-th placeholder or on a failure that its solution may lift.
  struct Layer {
    std::unordered_map<const llvm::Value*, Expr> integers;
    std::unordered_map<const llvm::Value*, Address> addresses;
    std::map<const llvm::Loop*, TripCount> trips;
    std::set<const llvm::Loop*> counting;
    std::map<Branching, Guard> guards;
    std::map<const llvm::Loop*, std::vector<Geometric>> geometric;
  };
  Layer& layer_for(std::initializer_list<const Expr*> results);
  Layer& layer_for(const Guard& guard);
  Layer& layer_for(const TripCount& count);
  std::vector<Layer> layers_{1};
  std::vector<std::pair<const llvm::PHINode*, Symbol>> placeholders_;  // the n-th with layer n + 1
  std::set<Symbol> tentative_;  // data symbols made while a recurrence was being solved: may be found better later
  int nested_recurrences_ = 0;
  std::map<const llvm::Loop*, Symbol> counters_;
  std::map<const llvm::Value*, Expr> data_exprs_;
  std::map<std::pair<const llvm::Value*, std::int64_t>, int> field_buffers_;  // pointers in by-value structures
  std::map<Symbol, DataValue> data_;
  std::map<const llvm::BasicBlock*, int> branch_unknowns_;
  std::set<const llvm::Value*> divergent_;
  SymbolRanges ranges_;
  int depth_ = 0;
};

}  // namespace kernelcast::frontend
