// Texts with a loop changed. The compiler's rewriting tools keep a buffer for each file that they change; what is made
// of the program then is found by reading the changed text in that file's place.
#include <algorithm>
#include <memory>

#include "clang/AST/ASTContext.h"
#include "clang/Basic/SourceManager.h"
#include "clang/Rewrite/Core/Rewriter.h"
#include "frontend/loops/loop_files.h"
#include "frontend/loops/loop_rewrite.h"
#include "frontend/source/compile.h"
#include "kernelcast/error.h"
#include "kernelcast/loops.h"

namespace kernelcast {
namespace {

using namespace frontend;

std::string place_of(const DivergentLoop& loop) { return loop.file + ":" + std::to_string(loop.loop.first); }

bool is_the_loop(const LoopParts& p, const DivergentLoop& loop, const clang::ASTContext& context) {
  const clang::SourceLocation begin = p.loop->getBeginLoc(), branch = p.branch->getIfLoc();
  return line_of(begin, context) == loop.loop.first && line_of(branch, context) == loop.branch_line &&
         p.kernel_name == loop.kernel && shown_file(begin, context.getSourceManager()) == loop.file;
}

/// What was changed, each file as a whole.
std::vector<FileText> texts_in(clang::Rewriter& rewriter) {
  const clang::SourceManager& sources = rewriter.getSourceMgr();
  std::vector<FileText> texts;
  for (auto at = rewriter.buffer_begin(); at != rewriter.buffer_end(); ++at) {
    std::string text(at->second.begin(), at->second.end());
    if (at->first == sources.getMainFileID()) text.resize(std::min(text.size(), text.rfind(added_text)));
    texts.push_back({shown_file(sources.getLocForStartOfFile(at->first), sources), std::move(text)});
  }
  return texts;
}

/// Runs `change` on the loop; it returns why it cannot, if so. The files that it changed.
template <class Change>
std::vector<FileText> changed(const Source& source, const FrontendOptions& options, const DivergentLoop& loop,
                              Change change) {
  auto texts = std::make_shared<std::vector<FileText>>();
  auto trouble = std::make_shared<std::string>();
  inspect_unit(source, options, [texts, trouble, loop, change](clang::ASTContext& context) {
    for (const LoopParts& p : find_loops(context, loop.runs_as()).divergent) {
      if (!is_the_loop(p, loop, context)) continue;
      clang::Rewriter rewriter(context.getSourceManager(), context.getLangOpts());
      *trouble = change(rewriter, p, context);
      *texts = texts_in(rewriter);
      return;
    }
  });
  if (!trouble->empty()) throw UserError(place_of(loop) + ": " + *trouble);
  if (texts->empty()) throw UserError(loop.file + ": no divergent loop at line " + std::to_string(loop.loop.first));
  return std::move(*texts);
}

const LegalityVerdict& verdict_of(const DivergentLoop& loop, Policy policy) {
  if (policy == Policy::advance) return loop.advance;
  return policy == Policy::advance_in_order ? loop.advance_in_order : loop.postpone;
}

}  // namespace

std::string rewritten(const Source& source, const FrontendOptions& options, const DivergentLoop& loop, Policy policy) {
  const std::string at = place_of(loop) + ": ";
  if (policy == Policy::plain) throw UserError(at + "plain is what the loop is");
  if (policy == Policy::majority) {
    throw UserError(at + "majority needs votes: use the library in libconverge/, or rewrite as round-robin");
  }
  const LegalityVerdict& v = verdict_of(loop, policy);
  if (v.legal != Legality::yes) {
    const std::string line = (v.file == loop.file ? "" : v.file + ", ") + "line " + std::to_string(v.line);
    throw UserError(at +
                    std::string(v.legal == Legality::no ? "this strategy is not legal: "
                                                        : "this strategy cannot be shown to be legal: ") +
                    v.reason + (v.line > 0 ? " (" + line + ")" : ""));
  }
  if (!loop.no_rewrite.empty()) throw UserError(at + "the loop cannot be rewritten: " + loop.no_rewrite);
  std::vector<FileText> texts =
      changed(source, options, loop,
              [policy](clang::Rewriter& rewriter, const LoopParts& p, clang::ASTContext& context) -> std::string {
                if (policy == Policy::advance && counter_of(p) == nullptr) {
                  return "the loop cannot be rewritten for advance: it must declare its counter";
                }
                rewrite(rewriter, p, context, policy);
                return "";
              });
  return std::move(texts.front().text);  // a loop that is rewritten stands in one file
}

Source with_text(Source source, const std::string& file, std::string text) {
  if (file == source.path || (source.path == "-" && file == "<stdin>")) {
    source.text = std::move(text);
    return source;
  }
  std::erase_if(source.headers, [&file](const FileText& h) { return h.path == file; });
  source.headers.push_back({file, std::move(text)});
  return source;
}

Source instrumented(const Source& source, const FrontendOptions& options, const DivergentLoop& loop) {
  Source recording = source;
  for (FileText& t :
       changed(source, options, loop,
               [](clang::Rewriter& rewriter, const LoopParts& p, clang::ASTContext& context) -> std::string {
                 instrument(rewriter, p, context);
                 return "";
               }))
    recording = with_text(std::move(recording), t.path, std::move(t.text));
  return recording;
}

}  // namespace kernelcast
