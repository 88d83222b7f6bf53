// With -fopenmp Clang puts the loop into a function. It gets the addresses of the variables around it, and asks the
// runtime library for its share of the iterations (OpenMP runtime library interface of LLVM, __kmpc_fork_call and
// __kmpc_for_static_init). That is other code than the loop in place: without optimisation every use of a variable
// loads its address first, and with it the compiler must keep apart what those addresses could mean.
//
// The code is scheduled as it is. Its structure comes from a copy in which the function's blocks stand where it was
// forked, and the share is everything: the library's call stores what it was given, so leaving it out leaves the bounds
// of the whole loop.
#include "frontend/cpu/cpu_openmp.h"

#include <algorithm>
#include <set>

#include "llvm/IR/Constants.h"
#include "llvm/IR/IRBuilder.h"
#include "llvm/IR/InstIterator.h"
#include "llvm/IR/Instructions.h"
#include "llvm/IR/Module.h"
#include "llvm/Support/Regex.h"

namespace kernelcast::frontend {
namespace {

using namespace llvm;

constexpr unsigned first_captured = 3;  // of __kmpc_fork_call: location, number of addresses, function, addresses
constexpr unsigned own_parameters = 2;  // of the function: addresses of two thread numbers

const CallInst* call_of(const Instruction& i, StringRef prefix) {
  const auto* call = dyn_cast<CallInst>(&i);
  const Function* callee = call ? call->getCalledFunction() : nullptr;
  return callee && callee->getName().starts_with(prefix) ? call : nullptr;
}

Function* forked_by(const CallInst& call) {
  if (call.arg_size() < first_captured) return nullptr;
  auto* f = dyn_cast<Function>(call.getArgOperand(first_captured - 1)->stripPointerCasts());
  return f && !f->isDeclaration() ? f : nullptr;
}

/// The blocks of `body` in place of the call.
void join(Function& into, CallInst& call, Function& body) {
  BasicBlock* before = call.getParent();
  BasicBlock* after = before->splitBasicBlock(call.getIterator(), before->getName() + ".joined");
  IRBuilder<> at(&*into.getEntryBlock().getFirstInsertionPt());
  Value* number = at.CreateAlloca(at.getInt32Ty());
  at.CreateStore(at.getInt32(0), number);
  for (Argument& a : body.args()) {
    const unsigned n = a.getArgNo();
    Value* given = n < own_parameters ? number : call.getArgOperand(n - own_parameters + first_captured);
    if (given->getType() != a.getType()) given = PoisonValue::get(a.getType());
    a.replaceAllUsesWith(given);
  }
  BasicBlock* entry = &body.getEntryBlock();
  for (Instruction& i : make_early_inc_range(*entry))
    if (isa<AllocaInst>(i)) i.moveBefore(into.getEntryBlock(), into.getEntryBlock().begin());
  for (BasicBlock& block : body)
    if (auto* end = dyn_cast<ReturnInst>(block.getTerminator())) {
      BranchInst::Create(after, end->getIterator());
      end->eraseFromParent();
    }
  into.splice(after->getIterator(), &body);
  before->getTerminator()->setSuccessor(0, entry);
  call.eraseFromParent();
}

/// Whether the call only shares iterations out evenly; it is taken off then.
bool takes_off(CallInst& call) {
  const StringRef name = call.getCalledFunction()->getName();
  const bool share = name.starts_with("__kmpc_for_static_init") || name == "__kmpc_for_static_fini";
  if (name == "__kmpc_global_thread_num") call.replaceAllUsesWith(ConstantInt::get(call.getType(), 0));
  if (!share && name != "__kmpc_global_thread_num") return false;
  call.eraseFromParent();
  return true;
}

/// Clauses "name(...)" of a directive, by the name before the parenthesis; commas and nested parentheses included.
std::optional<std::string> kept_clauses(const std::string& directive) {
  static const std::set<std::string> kept{"private", "firstprivate", "shared"};
  static const std::set<std::string> counted_otherwise{"reduction", "lastprivate", "linear", "schedule", "ordered"};
  static const Regex clause("([A-Za-z0-9_]+)[[:space:]]*[(]");
  std::string out;
  SmallVector<StringRef, 2> found;
  for (StringRef rest = directive; clause.match(rest, &found); rest = rest.drop_front(found[0].end() - rest.begin())) {
    const std::string name = found[1].str();
    if (counted_otherwise.contains(name)) return std::nullopt;
    if (!kept.contains(name)) continue;
    const auto from = static_cast<std::size_t>(found[0].data() - directive.data());
    const std::size_t end = directive.find(')', from);
    if (end == std::string::npos) return std::nullopt;
    out += " " + directive.substr(from, end + 1 - from);
  }
  return out;
}

/// The pragma that is nearest before the line, if one of the others has no loop in between.
const LoopPragma* before_line(const std::vector<LoopPragma>& pragmas, int line) {
  const LoopPragma* nearest = nullptr;
  for (const LoopPragma& p : pragmas)
    if (p.line < line && (!nearest || p.line > nearest->line)) nearest = &p;
  return nearest;
}

std::optional<std::size_t> place_in(const std::string& text, const LoopPlace& place) {
  std::size_t at = 0;
  for (int line = 1; line < place.line; ++line) {
    at = text.find('\n', at);
    if (at == std::string::npos) return std::nullopt;
    ++at;
  }
  at += static_cast<std::size_t>(std::max(0, place.column - 1));
  if (at > text.size() || text.compare(at, 3, "for") != 0) return std::nullopt;
  return at;
}

}  // namespace

std::optional<std::string> share_loops(const std::string& text, const std::vector<LoopPlace>& loops,
                                       const std::vector<LoopPragma>& pragmas) {
  std::vector<std::pair<std::size_t, std::string>> inserted;
  for (const LoopPlace& loop : loops) {
    const std::optional<std::size_t> at = place_in(text, loop);
    const LoopPragma* directive = before_line(pragmas, loop.line);
    const bool omp = directive && directive->text.starts_with("omp");
    const std::optional<std::string> clauses = kept_clauses(omp ? directive->text : "");
    if (!at || !clauses) return std::nullopt;
    inserted.emplace_back(*at, "_Pragma(\"omp parallel for" + *clauses + "\") ");
  }
  std::sort(inserted.rbegin(), inserted.rend());
  std::string out = text;
  for (const auto& [at, directive] : inserted) out.insert(at, directive);
  return out;
}

std::vector<Function*> forked_functions(const Function& f) {
  std::vector<Function*> found;
  for (const Instruction& i : instructions(f))
    if (const CallInst* call = call_of(i, "__kmpc_fork_call"))
      if (Function* body = forked_by(*call)) found.push_back(body);
  return found;
}

bool join_forked_functions(Function& f) {
  std::vector<CallInst*> forks;
  for (Instruction& i : instructions(f))
    if (const CallInst* call = call_of(i, "__kmpc_fork_call")) forks.push_back(const_cast<CallInst*>(call));
  for (CallInst* call : forks) {
    Function* body = forked_by(*call);
    if (!body || !body->hasOneUse() || body->arg_size() - own_parameters != call->arg_size() - first_captured)
      return false;
    join(f, *call, *body);
  }
  std::vector<CallInst*> others;
  for (Instruction& i : instructions(f))
    if (const CallInst* call = call_of(i, "__kmpc_")) others.push_back(const_cast<CallInst*>(call));
  return std::all_of(others.begin(), others.end(), [](CallInst* call) { return takes_off(*call); });
}

}  // namespace kernelcast::frontend
