// The public face: find and judge. Changed texts: loop_changes.cpp.
#include "kernelcast/loops.h"

#include <algorithm>
#include <map>
#include <memory>

#include "clang/AST/ASTContext.h"
#include "clang/Basic/SourceManager.h"
#include "frontend/loops/loop_files.h"
#include "frontend/loops/loop_rewrite.h"
#include "frontend/source/compile.h"
#include "frontend/source/compile_language.h"
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
  const clang::SourceManager& sources = context.getSourceManager();
  loop.kernel = p.kernel_name;
  loop.instances = p.instances;
  loop.file = shown_file(p.loop->getBeginLoc(), sources);
  if (p.function != p.kernel) loop.function = p.function->getNameAsString();
  loop.loop = range_of(p.loop, context);
  loop.branch_line = line_of(p.branch->getIfLoc(), context);
  loop.branch_file = shown_file(p.branch->getIfLoc(), sources);
  loop.taken = path_of(p.branch->getThen(), context);
  loop.other = path_of(p.branch->getElse(), context);
  loop.divergence = p.divergence;
  loop.shape = lane_shape(p);
  loop.nested = p.nested;
  judge(p, context, loop);
  for (LegalityVerdict* v : {&loop.postpone, &loop.advance, &loop.advance_in_order})
    v->file = shown_file(v->file, sources);
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
  loop.leaves = static_cast<bool>(all.leave);
  loop.can_record = can_record(p, context);
  loop.regions = regions_of(p, context);
  return loop;
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
  loop.known_ahead = loop.known_ahead && in_other.known_ahead;
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

LoopSurvey survey_of(const FoundLoops& found, const clang::ASTContext& context) {
  const clang::SourceManager& sources = context.getSourceManager();
  LoopSurvey survey;
  for (const UnusedTemplate& t : found.without_instance)
    survey.without_instance.push_back({t.name, shown_file(t.at, sources)});
  survey.divergent = one_for_each_text(found.divergent, context);
  for (const UnevenParts& p : found.uneven)
    survey.uneven.push_back({p.kernel_name,
                             shown_file(p.loop->getBeginLoc(), sources),
                             p.instance,
                             range_of(p.loop, context),
                             p.divergence,
                             p.function == p.kernel ? "" : p.function->getNameAsString(),
                             {code_region(p.loop, context)}});
  return survey;
}

/// The source's own first, then each header's.
template <class Loop>
void sort_by_place(std::vector<Loop>& loops, const std::string& source) {
  std::map<std::string, std::size_t> rank{{source, 0}};
  for (const Loop& l : loops) rank.emplace(l.file, rank.size());
  std::stable_sort(loops.begin(), loops.end(), [&rank](const Loop& a, const Loop& b) {
    return std::pair(rank.at(a.file), a.loop.first) < std::pair(rank.at(b.file), b.loop.first);
  });
}

/// Throws where the name means none of the kernels; naming several of one name is no mistake here.
void refuse_unknown_kernel(const std::vector<KernelEntry>& kernels, const std::string& name) {
  for (const KernelEntry& k : kernels)
    if (means_kernel(k, without_parameters(llvm::demangle(name)))) return;
  pick_kernel(kernels, name);
}

/// What there was to look at.
struct LookedAt {
  LoopSurvey survey;
  std::vector<KernelEntry> kernels;
  std::size_t count = 0;
  std::string passed_over;  // a file with kernels that are not looked at
  std::string bodiless;     // kernels that are declared only, and where
};

std::string listed(const std::vector<const clang::FunctionDecl*>& kernels, const clang::ASTContext& context) {
  constexpr std::size_t most = 3;
  std::string text;
  for (std::size_t k = 0; k < std::min(kernels.size(), most); ++k) {
    const clang::SourceLocation at = kernels[k]->getLocation();
    text += (k == 0 ? "" : ", ") + kernels[k]->getNameAsString() + " (" + shown_file(at, context.getSourceManager()) +
            ":" + std::to_string(line_of(at, context)) + ")";
  }
  return text + (kernels.size() > most ? ", ..." : "");
}

/// Why there was nothing to look at.
void refuse_no_kernel(const Source& source, const LookedAt& seen, const std::string& name,
                      const std::vector<std::string>& notes) {
  if (seen.kernels.empty()) {
    std::string text = source.path + ": no kernel found (a __global__ or __kernel function), nor in files it includes";
    for (const std::string& note : notes) text += "\nnote: " + note;
    if (!seen.bodiless.empty()) text += "\nnote: declared only: " + seen.bodiless + "; give the file with their bodies";
    throw UserError(text);
  }
  if (!name.empty()) refuse_unknown_kernel(seen.kernels, name);
  throw UserError(source.path + ": " + (name.empty() ? "its kernels stand" : "kernel '" + name + "' stands") + " in " +
                  seen.passed_over + "; headers of the system and of toolkits are not looked at");
}

/// Nothing to look at but templates that nothing instantiates: which there are.
void refuse_templates_alone(const Source& source, const std::vector<IdleTemplate>& templates) {
  if (templates.empty()) return;
  constexpr std::size_t most = 10;
  std::string text = source.path + ": no kernel found, but kernel templates that nothing instantiates:";
  for (std::size_t k = 0; k < std::min(templates.size(), most); ++k)
    text += "\n  " + templates[k].name + ", in " + templates[k].file;
  if (templates.size() > most) text += "\n  and " + std::to_string(templates.size() - most) + " more";
  throw UserError(text + "\n--kernel '" + templates[0].name + "<...>' instantiates one");
}

void refuse_without_loops(const Source& source) {
  const Language language = source.language == Language::automatic ? language_of(source.path) : source.language;
  if (language != Language::opencl && language != Language::cuda && language != Language::hip) {
    throw LimitError(source.path + ": divergent loops are looked for in OpenCL C, CUDA and HIP only");
  }
}

}  // namespace

LoopSurvey survey_loops(const Source& source, const FrontendOptions& options) {
  refuse_without_loops(source);
  auto seen = std::make_shared<LookedAt>();
  const auto notes = inspect_unit(source, options, [seen, kernel = options.kernel](clang::ASTContext& context) {
    const FoundLoops found = find_loops(context, kernel);
    *seen = {survey_of(found, context), found.kernels, found.looked_at,
             found.passed_over.isValid() ? shown_file(found.passed_over, context.getSourceManager()) : "",
             listed(found.bodiless, context)};
  });
  LoopSurvey& survey = seen->survey;
  if (seen->count == 0) refuse_templates_alone(source, survey.without_instance);
  if (seen->count == 0) refuse_no_kernel(source, *seen, options.kernel, notes);
  const std::string main = source.path == "-" ? "<stdin>" : source.path;
  sort_by_place(survey.divergent, main);
  sort_by_place(survey.uneven, main);
  return std::move(survey);
}

std::vector<DivergentLoop> divergent_loops(const Source& source, const FrontendOptions& options) {
  return survey_loops(source, options).divergent;
}

}  // namespace kernelcast
