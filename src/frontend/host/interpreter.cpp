// Statements of the host program.
#include "frontend/host/interpreter.h"

#include <algorithm>
#include <ctime>

#include "clang/AST/Stmt.h"
#include "frontend/host/random_state.h"
#include "llvm/Support/SaveAndRestore.h"

namespace kernelcast::frontend::host {
namespace {

constexpr std::int64_t kStepsPerClock = 1 << 12;
constexpr std::int64_t kLoopShare = 20;  // a loop without a launch may take 1/20 of all steps

template <class T>
const T* as(const clang::Stmt* s) {
  return llvm::dyn_cast_or_null<T>(s);
}

/// Of a chain of reasons, which a loop would make longer each time, the first, without the lines of the others.
std::string first_reason(const std::string& why) {
  const std::size_t begin = why.rfind("it depends on the ");
  if (begin == std::string::npos) return why;
  const std::size_t line = why.find(" (line ", begin);
  return why.substr(begin, line == std::string::npos ? line : why.find(')', line) + 1 - begin);
}

}  // namespace

Interpreter::Interpreter(clang::ASTContext& context, const HostOptions& options, std::vector<std::string> readable)
    : context_(context),
      options_(options),
      readable_(std::move(readable)),
      mangle_(context.createMangleContext()),
      c_random_(std::make_unique<CRandom>()),
      random48_(std::make_unique<Random48>()) {}

Interpreter::~Interpreter() = default;

int Interpreter::line_of(const clang::Stmt* statement) const { return line_of(statement->getBeginLoc()); }

/// As the file has it: declarations of missing names may stand before its text (inspect_host()).
int Interpreter::line_of(clang::SourceLocation at) const {
  const clang::SourceManager& sources = context_.getSourceManager();
  const clang::PresumedLoc place = sources.getPresumedLoc(sources.getExpansionLoc(at));
  return place.isValid() ? static_cast<int>(place.getLine()) : 0;
}

ProcessorClock::ProcessorClock() : begin_(now()) {}

double ProcessorClock::now() {
  timespec t{};
  clock_gettime(CLOCK_THREAD_CPUTIME_ID, &t);
  return static_cast<double>(t.tv_sec) + 1e-9 * static_cast<double>(t.tv_nsec);
}

void Interpreter::note(const std::string& text) {
  if (std::find(program_.notes.begin(), program_.notes.end(), text) == program_.notes.end())
    program_.notes.push_back(text);
}

void Interpreter::assume(const std::string& text) {
  if (std::find(program_.assumed.begin(), program_.assumed.end(), text) == program_.assumed.end())
    program_.assumed.push_back(text);
}

void Interpreter::step(const clang::Stmt* statement) {
  if (++steps_ % kStepsPerClock == 0 && clock_.seconds() > options_.time_limit_s / 2)
    throw ProgramEnd{"the limit of processor time is reached", line_of(statement)};
  if (steps_ <= options_.max_steps) return;
  throw ProgramEnd{"the limit of " + std::to_string(options_.max_steps) + " evaluated steps is reached",
                   line_of(statement)};
}

Interpreter::Flow Interpreter::execute(const clang::Stmt* s) {
  if (s == nullptr) return Flow::next;
  step(s);
  if (const auto* e = as<clang::Expr>(s)) {
    evaluate(e);
    return Flow::next;
  }
  if (const auto* c = as<clang::CompoundStmt>(s)) return execute_compound(c);
  if (const auto* d = as<clang::DeclStmt>(s)) {
    for (const clang::Decl* part : d->decls())
      if (const auto* v = llvm::dyn_cast<clang::VarDecl>(part)) declare(v);
    return Flow::next;
  }
  if (const auto* r = as<clang::ReturnStmt>(s)) {
    Frame& frame = *frames_.back();
    if (const clang::Expr* value = r->getRetValue()) {
      if (frame.function != nullptr && frame.function->getReturnType()->isReferenceType())
        frame.result = Value::pointer_to(place_of(value));
      else
        frame.result = copied(evaluate(value));
    }
    if (program_.launches.empty() && callbacks_.empty() && frames_.size() == 1 && frame.function != nullptr &&
        frame.function->isMain())
      throw ProgramEnd{"main returns before any launch", line_of(s)};
    return Flow::leave_function;
  }
  if (const auto* i = as<clang::IfStmt>(s)) return execute_if(i);
  if (const auto* f = as<clang::ForStmt>(s)) {
    if (f->getInit() != nullptr) execute(f->getInit());
    return execute_loop(f, f->getCond(), f->getInc(), f->getBody(), false);
  }
  if (const auto* w = as<clang::WhileStmt>(s)) return execute_loop(w, w->getCond(), nullptr, w->getBody(), false);
  if (const auto* d = as<clang::DoStmt>(s)) return execute_loop(d, d->getCond(), nullptr, d->getBody(), true);
  if (const auto* r = as<clang::CXXForRangeStmt>(s)) return execute_range(r);
  if (const auto* w = as<clang::SwitchStmt>(s)) return execute_switch(w);
  if (const auto* c = as<clang::SwitchCase>(s)) return execute(c->getSubStmt());
  if (as<clang::BreakStmt>(s)) return Flow::leave_loop;
  if (as<clang::ContinueStmt>(s)) return Flow::next_iteration;
  if (const auto* l = as<clang::LabelStmt>(s)) return execute(l->getSubStmt());
  if (const auto* a = as<clang::AttributedStmt>(s)) return execute(a->getSubStmt());
  if (const auto* t = as<clang::CXXTryStmt>(s)) return execute(t->getTryBlock());
  if (const auto* g = as<clang::GotoStmt>(s)) {
    target_ = g->getLabel();
    return Flow::go_to;
  }
  // Directives such as OpenMP's: the statement below, once.
  for (const clang::Stmt* child : s->children())
    if (child != nullptr && !as<clang::Expr>(child)) return execute(child);
  return Flow::next;
}

bool Interpreter::returns(const clang::Stmt* branch) {
  if (const auto* c = as<clang::CompoundStmt>(branch)) return !c->body_empty() && returns(c->body_back());
  return as<clang::ReturnStmt>(branch) != nullptr;
}

/// Whether nothing of a part of a block is evaluated behind what its only call does.
bool Interpreter::ends_with_its_call(const clang::Stmt* part) {
  if (as<clang::CompoundStmt>(part) != nullptr) return true;
  int calls = 0;
  AstVisit visit;
  visit.statement = [&calls](clang::Stmt* s) {
    if (llvm::isa<clang::CallExpr, clang::CXXConstructExpr>(s)) ++calls;
    if (is_loop(s) || llvm::isa<clang::LambdaExpr>(s)) calls = 2;
    return calls < 2;
  };
  walk(const_cast<clang::Stmt*>(part), visit);
  return calls < 2;
}

/// Which part of a block is the first of those behind its last launch. What is defined elsewhere may launch; what only
/// this look ahead meets is not missed yet.
std::size_t Interpreter::behind_last_launch(const clang::CompoundStmt* block) {
  const auto [known, added] = last_launches_.emplace(block, 0);
  if (!added) return known->second;
  std::size_t last = 0, next = 0;
  for (const clang::Stmt* part : block->body()) {
    const llvm::SaveAndRestore functions(launching_);
    const llvm::SaveAndRestore statements(launching_statements_);
    const llvm::SaveAndRestore missed(program_.undefined, std::vector<std::string>());
    ++next;
    if (launches(part) || !program_.undefined.empty()) last = next;
  }
  return known->second = last;
}

/// Whether a loop without a launch stands behind the program's last one and gives nothing to the device. The check of
/// results that most programs end with takes the longest of all that they do.
bool Interpreter::only_checks(const clang::Stmt* loop) {
  if (!behind_launches_) return false;
  bool found = false;
  AstVisit visit;
  visit.statement = [&found](clang::Stmt* s) {
    const auto* call = llvm::dyn_cast<clang::CallExpr>(s);
    found = found || (call != nullptr && is_of_the_runtime(call->getDirectCallee()));
    return !found;
  };
  walk(const_cast<clang::Stmt*>(loop), visit);
  return !found;
}

/// A goto leads to a label of this block or of one around it.
Interpreter::Flow Interpreter::execute_compound(const clang::CompoundStmt* block) {
  const std::vector<const clang::Stmt*> parts(block->body_begin(), block->body_end());
  const llvm::SaveAndRestore outer(more_launches_);
  if (!more_launches_)
    more_launches_ =
        std::any_of(parts.begin(), parts.end(), [](auto* s) { return as<clang::LabelStmt>(s) != nullptr; });
  const bool may_end = !more_launches_ && !behind_launches_;
  const std::size_t last = may_end ? behind_last_launch(block) : 0;
  for (std::size_t k = 0; k < parts.size(); ++k) {
    if (may_end && !behind_launches_) {
      behind_launches_ = k >= last && !program_.launches.empty();
      more_launches_ = k + 1 < last || !ends_with_its_call(parts[k]);
    }
    const Flow flow = execute(parts[k]);
    if (flow == Flow::next) continue;
    if (flow != Flow::go_to) return flow;
    const auto label = std::find_if(parts.begin(), parts.end(), [&](const clang::Stmt* part) {
      while (const auto* l = as<clang::LabelStmt>(part)) {
        if (l->getDecl() == target_) return true;
        part = l->getSubStmt();
      }
      return false;
    });
    if (label == parts.end()) return flow;
    k = static_cast<std::size_t>(label - parts.begin()) - 1;
  }
  return Flow::next;
}

void Interpreter::declare(const clang::VarDecl* v) {
  auto& variables = frames_.back()->variables;
  if (v->isStaticLocal()) {
    variable(v);
    return;
  }
  if (v->getType()->isReferenceType()) {
    variables[v] = v->getInit() != nullptr ? place_of(v->getInit()) : Place{};
    return;
  }
  auto memory = std::make_shared<Memory>();
  const clang::Expr* init = v->getInit();
  const int line = init != nullptr ? line_of(init) : 0;
  Value value = init != nullptr ? copied(evaluate(init)) : fresh(empty_of(v->getType(), "it has no value yet", line));
  if (init != nullptr && v->getType()->isArrayType() && value.kind != Value::Kind::object)
    value = empty_of(v->getType(), "its initial value is not evaluated", line);
  memory->slots[0] = init != nullptr ? converted(std::move(value), v->getType()) : std::move(value);
  variables[v] = {memory, 0};
}

Interpreter::Flow Interpreter::execute_where_unknown(const clang::Stmt* branch, const std::string& condition) {
  if (branch == nullptr || !launches(branch)) return Flow::next;
  conditions_.push_back({condition});
  const Flow flow = execute(branch);
  conditions_.pop_back();
  return flow;
}

Interpreter::Flow Interpreter::execute_if(const clang::IfStmt* s) {
  if (s->getInit() != nullptr) execute(s->getInit());
  if (s->getConditionVariable() != nullptr) declare(s->getConditionVariable());
  if (s->isConstexpr()) {
    clang::Expr::EvalResult constant;
    if (!s->getCond()->isValueDependent() && s->getCond()->EvaluateAsInt(constant, context_))
      return execute(constant.Val.getInt().getBoolValue() ? s->getThen() : s->getElse());
  }
  const Value condition = evaluate(s->getCond());
  if (const auto truth = condition.truth()) return execute(*truth ? s->getThen() : s->getElse());
  const HostUnknown& u = condition.unknown;
  const std::string text = "condition at line " + std::to_string(line_of(s)) +
                           " is not known: " + (u.name.empty() ? "" : u.name + ", ") + first_reason(u.why) + " (line " +
                           std::to_string(u.line) + ")";
  // What only leaves is taken for the treatment of an error.
  const bool first_leaves = leaves(s->getThen()) && !launches(s->getThen());
  const bool second_leaves = s->getElse() != nullptr && leaves(s->getElse()) && !launches(s->getElse());
  if (first_leaves && second_leaves && returns(s->getThen()) && returns(s->getElse())) {
    frames_.back()->result = Value::not_known("it depends on the " + text, line_of(s));
    return Flow::leave_function;
  }
  if ((first_leaves && breaks(s->getThen())) || (second_leaves && breaks(s->getElse()))) unknown_break_ = text;
  if (first_leaves) return s->getElse() != nullptr ? execute(s->getElse()) : Flow::next;
  if (second_leaves) return execute(s->getThen());
  for (const clang::Stmt* branch : {s->getThen(), s->getElse()})
    // A loop that it ends goes by it once.
    if (branch != nullptr && (!(breaks(branch) || returns(branch)) || ends_passed_.insert(branch).second))
      execute_where_unknown(branch, text);
  forget_written(s->getThen(), "it depends on the " + text);
  if (s->getElse() != nullptr) forget_written(s->getElse(), "it depends on the " + text);
  return Flow::next;
}

/// `begin`: which evaluation of the outermost loop it is; `inside`: the loop is one inside that.
void Interpreter::leave_long_loop(const clang::Stmt* loop, std::int64_t begin, bool inside) {
  const llvm::SaveAndRestore left(loop_left_, begin);
  const llvm::SaveAndRestore flat(left_is_flat_, !inside && !holds_loop(loop));
  forget_written(loop, inside ? "a loop is too long to evaluate"
                              : "the loop at line " + std::to_string(line_of(loop)) + " is too long to evaluate");
}

Interpreter::Flow Interpreter::execute_loop(const clang::Stmt* loop, const clang::Expr* condition,
                                            const clang::Expr* increment, const clang::Stmt* body, bool body_first) {
  const bool pure = !launches(loop);
  const bool outermost = pure && loop_end_ == 0;
  const llvm::SaveAndRestore outer_break(unknown_break_, std::string());
  const llvm::SaveAndRestore outer_ends(ends_passed_, {});
  const std::int64_t share = std::max<std::int64_t>(options_.max_steps / kLoopShare, 1000);
  if (outermost) {
    loop_begin_ = steps_ + 1;
    loop_end_ = steps_ + share;
    skimming_ = false;
  }
  const auto give_up = [&](const std::string& why) {
    if (outermost) loop_end_ = 0;
    forget_written(loop, why);
    return Flow::next;
  };
  const auto too_long = [&] {
    if (outermost) loop_end_ = 0;
    leave_long_loop(loop, loop_begin_, !outermost);
    return Flow::next;
  };
  if (pure && ((!outermost && skimming_) || only_checks(loop))) return too_long();
  for (bool first = true;; first = false) {
    step(loop);
    if (pure && steps_ > loop_end_ && !skimming_) {
      skimming_ = true;
      loop_end_ += share;
      if (!outermost) return too_long();
    }
    if (pure && steps_ > loop_end_) return too_long();
    if (condition != nullptr && !(body_first && first)) {
      const Value value = evaluate(condition);
      const auto truth = value.truth();
      if (truth && !*truth) break;
      if (!truth) {
        const std::string text = "number of iterations of the loop at line " + std::to_string(line_of(loop)) +
                                 " is not known: " + (value.unknown.name.empty() ? "" : value.unknown.name + ", ") +
                                 value.unknown.why + " (line " + std::to_string(value.unknown.line) + ")";
        if (pure) return give_up("the " + text);
        // One iteration stands for all; what the loop changes is not the same in the others.
        if (!first && body_first) {
          for (HostLaunch& l : program_.launches)
            if (launching_statements_.contains(loop) && l.line >= line_of(loop)) l.more = true;
          forget_written(loop, "the " + text);
          break;
        }
        conditions_.push_back({text, true});
        const Flow flow = execute(body);
        conditions_.pop_back();
        forget_written(loop, "the " + text);
        if (flow == Flow::leave_function || flow == Flow::go_to) return flow;
        break;
      }
    }
    const Flow flow = execute(body);
    if (flow == Flow::leave_function || flow == Flow::go_to) {
      if (outermost) loop_end_ = 0;
      return flow;
    }
    if (flow == Flow::leave_loop) break;
    if (increment != nullptr) evaluate(increment);
    if (condition == nullptr && pure && first && !leaves(body))
      throw ProgramEnd{"a loop without an end", line_of(loop)};
  }
  if (outermost) loop_end_ = 0;
  // A search that may have ended before: what it has found is not known.
  if (pure && !unknown_break_.empty()) forget_written(loop, "it depends on the " + unknown_break_);
  return Flow::next;
}

Interpreter::Flow Interpreter::execute_range(const clang::CXXForRangeStmt* loop) {
  const Elements range = elements_of(loop->getRangeInit());
  const MemoryRef elements = range.memory;
  const bool pure = !launches(loop);
  if (elements == nullptr || !range.count.is_integer()) {
    if (!pure)
      execute_where_unknown(loop->getBody(), "the range at line " + std::to_string(line_of(loop)) + " is not known");
    forget_written(loop, "the range at line " + std::to_string(line_of(loop)) + " is not known");
    return Flow::next;
  }
  const std::int64_t begin = steps_ + 1, last_step = steps_ + options_.max_steps / kLoopShare;
  if (pure && ((loop_end_ != 0 && skimming_) || only_checks(loop))) {
    leave_long_loop(loop, loop_begin_, true);
    return Flow::next;
  }
  const llvm::SaveAndRestore outer_break(unknown_break_, std::string());
  const llvm::SaveAndRestore outer_ends(ends_passed_, {});
  for (std::int64_t k = 0; k < range.count.integer; ++k) {
    step(loop);
    if (pure && steps_ > last_step) {
      leave_long_loop(loop, begin, false);
      break;
    }
    auto& variables = frames_.back()->variables;
    if (loop->getLoopVariable()->getType()->isReferenceType())
      variables[loop->getLoopVariable()] = {elements, k};
    else
      variables[loop->getLoopVariable()] = temporary(copied(load({elements, k}, loop->getRangeInit())));
    const Flow flow = execute(loop->getBody());
    if (flow == Flow::leave_function || flow == Flow::go_to) return flow;
    if (flow == Flow::leave_loop) break;
  }
  if (pure && !unknown_break_.empty()) forget_written(loop, "it depends on the " + unknown_break_);
  return Flow::next;
}

Interpreter::Flow Interpreter::execute_switch(const clang::SwitchStmt* s) {
  const Value value = evaluate(s->getCond());
  if (!value.is_integer()) {
    const std::string text = "the switch at line " + std::to_string(line_of(s)) + " is not known: " + value.unknown.why;
    execute_where_unknown(s->getBody(), text);
    forget_written(s->getBody(), text);
    return Flow::next;
  }
  const clang::SwitchCase* chosen = nullptr;
  for (const clang::SwitchCase* c = s->getSwitchCaseList(); c != nullptr; c = c->getNextSwitchCase()) {
    if (const auto* one = llvm::dyn_cast<clang::CaseStmt>(c)) {
      const Value label = evaluate(one->getLHS());
      if (label.is_integer() && label.integer == value.integer) chosen = c;
    } else if (chosen == nullptr) {
      chosen = c;
    }
  }
  if (chosen == nullptr) return Flow::next;
  bool reached = false;
  const auto* body = as<clang::CompoundStmt>(s->getBody());
  if (body == nullptr) return execute(chosen->getSubStmt());
  for (const clang::Stmt* part : body->body()) {
    const clang::Stmt* inner = part;
    while (!reached && as<clang::SwitchCase>(inner) && inner != chosen)
      inner = as<clang::SwitchCase>(inner)->getSubStmt();
    if (inner == chosen) reached = true;
    if (!reached) continue;
    const Flow flow = execute(part);
    if (flow == Flow::leave_loop) return Flow::next;
    if (flow != Flow::next) return flow;
  }
  return Flow::next;
}

void Interpreter::run_function(const clang::FunctionDecl* function, bool give_arguments,
                               const std::optional<Condition>& condition) {
  frames_.clear();
  frames_.push_back(std::make_unique<Frame>());
  frames_.back()->function = function;
  conditions_.clear();
  if (condition) conditions_.push_back(*condition);
  loop_end_ = 0;
  behind_launches_ = more_launches_ = false;
  options_started_ = false;
  const int line = line_of(function->getLocation());
  for (unsigned k = 0; k < function->getNumParams(); ++k) {
    const clang::ParmVarDecl* p = function->getParamDecl(k);
    Value value = Value::not_known("a parameter of " + function->getNameAsString(), line);
    value.unknown.name = p->getNameAsString();
    if (give_arguments && k == 0) value = Value::of(static_cast<std::int64_t>(options_.argv.size()) + 1);
    if (give_arguments && k == 1) {
      auto words = std::make_shared<Memory>();
      words->rest = Value::pointer_to({});
      for (std::size_t w = 0; w <= options_.argv.size(); ++w) {
        auto text = std::make_shared<Memory>();
        text->text = w == 0 ? "program" : options_.argv[w - 1];
        words->slots[static_cast<std::int64_t>(w)] = Value::pointer_to({text, 0});
      }
      value = Value::pointer_to({words, 0});
    }
    frames_.back()->variables[p] = temporary(std::move(value));
  }
  try {
    execute(function->getBody());
  } catch (const ProgramEnd& end) {
    note("evaluation ended at line " + std::to_string(end.line) + ": " + end.why);
  }
}

HostProgram Interpreter::run() {
  std::vector<const clang::FunctionDecl*> launching, all;
  const std::function<void(const clang::DeclContext*)> collect = [&](const clang::DeclContext* context) {
    for (const clang::Decl* d : context->decls()) {
      if (const auto* inner = llvm::dyn_cast<clang::DeclContext>(d);
          inner != nullptr && (d->getKind() == clang::Decl::Namespace || d->getKind() == clang::Decl::LinkageSpec))
        collect(inner);
      const auto* f = llvm::dyn_cast<clang::FunctionDecl>(d);
      if (f != nullptr && f->doesThisDeclarationHaveABody() && !f->isDependentContext() &&
          !is_of_the_system(f->getLocation()))
        all.push_back(f);
    }
  };
  collect(context_.getTranslationUnitDecl());
  for (const clang::FunctionDecl* f : all) {
    if (f->isMain()) {
      run_function(f, true);
      run_callbacks();
      mark_arrays();
      return std::move(program_);
    }
  }
  for (const clang::FunctionDecl* f : all)
    if (!f->hasAttr<clang::CUDAGlobalAttr>() && !f->hasAttr<clang::CUDADeviceAttr>() && launches(f))
      run_function(f, false);
  mark_arrays();
  return std::move(program_);
}

}  // namespace kernelcast::frontend::host
