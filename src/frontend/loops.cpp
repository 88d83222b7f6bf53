// The public face: find and judge, rewrite, record.
#include "kernelcast/loops.h"

#include <algorithm>
#include <memory>

#include "clang/AST/ASTContext.h"
#include "clang/Basic/SourceManager.h"
#include "clang/Rewrite/Core/Rewriter.h"
#include "frontend/compile.h"
#include "frontend/compile_language.h"
#include "frontend/loop_rewrite.h"
#include "kernelcast/error.h"
#include "llvm/Demangle/Demangle.h"

namespace kernelcast {
namespace {

using namespace frontend;

LineRange range_of(const clang::Stmt* s, const clang::ASTContext& context) {
  if (s == nullptr) return {};
  return {line_of(s->getBeginLoc(), context), line_of(s->getEndLoc(), context)};
}

/// Of a path: without its braces.
LineRange path_of(const clang::Stmt* s, const clang::ASTContext& context) {
  const auto* c = llvm::dyn_cast_or_null<clang::CompoundStmt>(s);
  if (c == nullptr) return range_of(s, context);
  if (c->body_empty()) return {};
  return {line_of(c->body_front()->getBeginLoc(), context), line_of(c->body_back()->getEndLoc(), context)};
}

/// From the first token of one statement to the last of another, where macros are used.
CodeRegion code_region(clang::SourceLocation first, clang::SourceLocation last, const clang::ASTContext& context) {
  const clang::SourceManager& sources = context.getSourceManager();
  const auto begin = sources.getPresumedLoc(sources.getExpansionLoc(first));
  const auto end = sources.getPresumedLoc(sources.getExpansionRange(last).getEnd());
  if (begin.isInvalid() || end.isInvalid()) return {};
  return {begin.getFilename(), static_cast<int>(begin.getLine()), static_cast<int>(begin.getColumn()),
          static_cast<int>(end.getLine()), static_cast<int>(end.getColumn())};
}

CodeRegion code_region(const clang::Stmt* s, const clang::ASTContext& context) {
  return s == nullptr ? CodeRegion{} : code_region(s->getBeginLoc(), s->getEndLoc(), context);
}

bool begin_alike(const CodeRegion& a, const CodeRegion& b) {
  return a.first_line == b.first_line && a.first_column == b.first_column;
}

/// In the order of LoopPart.
std::vector<CodeRegion> regions_of(const LoopParts& p, const clang::ASTContext& context) {
  const clang::SourceLocation begin = p.loop->getBeginLoc();
  const CodeRegion condition = code_region(p.branch->getIfLoc(), p.branch->getRParenLoc(), context);
  const CodeRegion taken = code_region(p.branch->getThen(), context), other = code_region(p.branch->getElse(), context);
  const CodeRegion beginning = code_region(begin, begin, context);
  if (begin_alike(condition, beginning) || begin_alike(condition, taken) || begin_alike(taken, other)) return {};
  return {code_region(p.loop, context), beginning, condition, taken, other};
}

bool same_calls(const Effects& a, const Effects& b) {
  for (const clang::FunctionDecl* f : a.calls)
    if (std::find(b.calls.begin(), b.calls.end(), f) != b.calls.end()) return true;
  for (const std::string& f : a.callees)
    if (!f.starts_with("get_") && std::find(b.callees.begin(), b.callees.end(), f) != b.callees.end()) return true;
  return false;
}

DivergentLoop described(const LoopParts& p, const clang::ASTContext& context) {
  DivergentLoop loop;
  loop.kernel = p.kernel->getNameAsString();
  loop.instances = p.instances;
  if (p.function != p.kernel) loop.function = p.function->getNameAsString();
  loop.loop = range_of(p.loop, context);
  loop.branch_line = line_of(p.branch->getIfLoc(), context);
  loop.taken = path_of(p.branch->getThen(), context);
  loop.other = path_of(p.branch->getElse(), context);
  loop.divergence = p.divergence;
  loop.shape = lane_shape(p);
  loop.nested = p.nested;
  judge(p, context, loop);
  const Effects taken = effects_of(p.branch->getThen(), context);
  Effects other;
  if (p.branch->getElse() != nullptr) other = effects_of(p.branch->getElse(), context);
  loop.same_calls = same_calls(taken, other);
  loop.no_rewrite = why_not_rewritten(p, context);
  Effects all = effects_of(p.branch->getCond(), context);
  all.add(taken);
  all.add(other);
  for (const auto* part : {&p.head, &p.tail})
    for (const clang::Stmt* s : *part) all.add(effects_of(s, context));
  loop.leaves = all.leave != 0;
  loop.can_record = p.function == p.kernel && text_range(p.branch->getCond(), context).isValid();
  loop.regions = regions_of(p, context);
  return loop;
}

/// Throws where the name means none of the kernels; naming several of one name is no mistake here.
void refuse_unknown_kernel(const std::vector<KernelEntry>& kernels, const std::string& name) {
  for (const KernelEntry& k : kernels)
    if (means_kernel(k, without_parameters(llvm::demangle(name)))) return;
  pick_kernel(kernels, name);
}

int badness(Legality l) { return l == Legality::yes ? 0 : l == Legality::unknown ? 1 : 2; }

/// The same loop in another instance of the kernel's template: the worse verdict is that of the text.
void worsen(DivergentLoop& loop, const DivergentLoop& in_other, const std::string& instance) {
  for (LegalityVerdict DivergentLoop::* strategy :
       {&DivergentLoop::postpone, &DivergentLoop::advance, &DivergentLoop::advance_in_order}) {
    const LegalityVerdict& other = in_other.*strategy;
    if (badness(other.legal) <= badness((loop.*strategy).legal)) continue;
    loop.*strategy = other;
    (loop.*strategy).reason = "in " + instance + ": " + other.reason;
  }
  if (loop.no_rewrite.empty()) loop.no_rewrite = in_other.no_rewrite;
}

/// Loops in kernels' texts: those of further instances of a template are joined with those of its first.
std::vector<DivergentLoop> one_for_each_text(const std::vector<LoopParts>& parts, const clang::ASTContext& context) {
  std::vector<DivergentLoop> loops;
  std::vector<const LoopParts*> first;
  std::vector<std::size_t> found_in;
  for (const LoopParts& p : parts) {
    const auto same = std::find_if(first.begin(), first.end(), [&p](const LoopParts* q) {
      return p.instance > 0 && q->loop->getBeginLoc() == p.loop->getBeginLoc() &&
             q->branch->getIfLoc() == p.branch->getIfLoc();
    });
    DivergentLoop loop = described(p, context);
    if (same != first.end()) {
      const auto k = static_cast<std::size_t>(same - first.begin());
      worsen(loops[k], loop, p.instances[p.instance]);
      ++found_in[k];
    } else if (p.instance == 0) {
      loops.push_back(std::move(loop));
      first.push_back(&p);
      found_in.push_back(1);
    }
  }
  for (std::size_t k = 0; k < loops.size(); ++k) {
    DivergentLoop& l = loops[k];
    if (l.no_rewrite.empty() && !l.instances.empty() && found_in[k] < l.instances.size())
      l.no_rewrite = "lanes take this branch differently in some instances of the template only";
  }
  return loops;
}

void refuse_without_loops(const Source& source) {
  const Language language = source.language == Language::automatic ? language_of(source.path) : source.language;
  if (language != Language::opencl && language != Language::cuda && language != Language::hip) {
    throw LimitError(source.path + ": divergent loops are looked for in OpenCL C, CUDA and HIP only");
  }
}

/// Runs `change` on the loop that stands at the line; it returns why it cannot, if so.
template <class Change>
std::string changed(const Source& source, const FrontendOptions& options, const DivergentLoop& loop, Change change) {
  refuse_without_loops(source);
  auto text = std::make_shared<std::string>(), trouble = std::make_shared<std::string>();
  inspect_unit(source, options, [text, trouble, loop, change](clang::ASTContext& context) {
    for (const LoopParts& p : find_loops(context, loop.runs_as()).divergent) {
      if (line_of(p.loop->getBeginLoc(), context) != loop.loop.first ||
          line_of(p.branch->getIfLoc(), context) != loop.branch_line)
        continue;
      clang::Rewriter rewriter(context.getSourceManager(), context.getLangOpts());
      *trouble = change(rewriter, p, context);
      const auto* buffer = rewriter.getRewriteBufferFor(context.getSourceManager().getMainFileID());
      if (buffer != nullptr) *text = std::string(buffer->begin(), buffer->end());
      text->resize(std::min(text->size(), text->rfind(added_text)));
      return;
    }
  });
  if (!trouble->empty()) throw UserError(source.path + ":" + std::to_string(loop.loop.first) + ": " + *trouble);
  if (text->empty()) throw UserError(source.path + ": no divergent loop at line " + std::to_string(loop.loop.first));
  return std::move(*text);
}

const LegalityVerdict& verdict_of(const DivergentLoop& loop, Policy policy) {
  if (policy == Policy::advance) return loop.advance;
  return policy == Policy::advance_in_order ? loop.advance_in_order : loop.postpone;
}

}  // namespace

LoopSurvey survey_loops(const Source& source, const FrontendOptions& options) {
  refuse_without_loops(source);
  auto loops = std::make_shared<LoopSurvey>();
  auto kernels = std::make_shared<std::vector<KernelEntry>>();
  inspect_unit(source, options, [loops, kernels, kernel = options.kernel](clang::ASTContext& context) {
    const FoundLoops found = find_loops(context, kernel);
    loops->without_instance = found.without_instance;
    *kernels = found.kernels;
    loops->divergent = one_for_each_text(found.divergent, context);
    for (const UnevenParts& p : found.uneven)
      loops->uneven.push_back({p.kernel->getNameAsString(),
                               p.kernel->getTemplateSpecializationArgs() == nullptr ? "" : instance_name(p.kernel),
                               range_of(p.loop, context), p.divergence,
                               p.function == p.kernel ? "" : p.function->getNameAsString()});
  });
  const bool nothing = loops->divergent.empty() && loops->uneven.empty() && loops->without_instance.empty();
  if (nothing && !options.kernel.empty()) refuse_unknown_kernel(*kernels, options.kernel);
  const auto by_line = [](const auto& a, const auto& b) { return a.loop.first < b.loop.first; };
  std::stable_sort(loops->divergent.begin(), loops->divergent.end(), by_line);
  std::stable_sort(loops->uneven.begin(), loops->uneven.end(), by_line);
  return std::move(*loops);
}

std::vector<DivergentLoop> divergent_loops(const Source& source, const FrontendOptions& options) {
  return survey_loops(source, options).divergent;
}

std::string rewritten(const Source& source, const FrontendOptions& options, const DivergentLoop& loop, Policy policy) {
  const std::string at = source.path + ":" + std::to_string(loop.loop.first) + ": ";
  if (policy == Policy::plain) throw UserError(at + "plain is what the loop is");
  if (policy == Policy::majority) {
    throw UserError(at + "majority needs votes: use the library in converge/, or rewrite as round-robin");
  }
  const LegalityVerdict& v = verdict_of(loop, policy);
  if (v.legal != Legality::yes) {
    throw UserError(at +
                    std::string(v.legal == Legality::no ? "this strategy is not legal: "
                                                        : "this strategy cannot be shown to be legal: ") +
                    v.reason + (v.line > 0 ? " (line " + std::to_string(v.line) + ")" : ""));
  }
  if (!loop.no_rewrite.empty()) throw UserError(at + "the loop cannot be rewritten: " + loop.no_rewrite);
  return changed(source, options, loop,
                 [policy](clang::Rewriter& rewriter, const LoopParts& p, clang::ASTContext& context) -> std::string {
                   if (policy == Policy::advance && counter_of(p) == nullptr) {
                     return "the loop cannot be rewritten for advance: it must declare its counter";
                   }
                   rewrite(rewriter, p, context, policy);
                   return "";
                 });
}

std::string instrumented(const Source& source, const FrontendOptions& options, const DivergentLoop& loop) {
  return changed(source, options, loop,
                 [](clang::Rewriter& rewriter, const LoopParts& p, clang::ASTContext& context) -> std::string {
                   instrument(rewriter, p, context);
                   return "";
                 });
}

}  // namespace kernelcast
