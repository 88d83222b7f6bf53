// Source text of a loop transformed. Round robin needs no votes: a loop whose body is one path under its condition and
// then the other path under its condition runs, step by step, each path for the lanes whose next iteration takes it,
// and the hardware skips a path that no lane wants. That is also advance in order, if T comes first. Advance looks one
// iteration ahead and runs both paths where they differ. All of it is plain structured code: each lane by itself does
// what it did. The second copy is guarded by the loop's test; a break in the first would make compilers split the loop.
#include "frontend/loops/loop_rewrite.h"

#include <algorithm>

#include "clang/AST/DeclTemplate.h"
#include "clang/AST/Stmt.h"
#include "clang/AST/TypeLoc.h"
#include "clang/Basic/SourceManager.h"
#include "clang/Lex/Lexer.h"
#include "clang/Rewrite/Core/Rewriter.h"
#include "frontend/loops/loop_files.h"

namespace kernelcast::frontend {
namespace {

using namespace clang;

class Text {
 public:
  Text(const LoopParts& p, ASTContext& context)
      : p_(p), sources_(context.getSourceManager()), options_(context.getLangOpts()) {}

  std::string of(const Stmt* s) const { return s == nullptr ? "" : of(s->getSourceRange()); }
  std::string of(SourceRange range) const {
    return Lexer::getSourceText(CharSourceRange::getTokenRange(range), sources_, options_).str();
  }
  std::string between(SourceLocation begin, SourceLocation end) const {
    return Lexer::getSourceText(CharSourceRange::getCharRange(begin, end), sources_, options_).str();
  }
  SourceLocation past(SourceLocation token) const { return Lexer::getLocForEndOfToken(token, 0, sources_, options_); }
  /// Behind a statement, with its semicolon.
  SourceLocation past(const Stmt* s) const {
    const SourceLocation end = past(s->getEndLoc());
    if (llvm::isa<CompoundStmt>(s)) return end;
    if (const auto* i = llvm::dyn_cast<IfStmt>(s)) return past(i->getElse() != nullptr ? i->getElse() : i->getThen());
    const auto next = Lexer::findNextToken(s->getEndLoc(), sources_, options_);
    return next && next->is(tok::semi) ? next->getEndLoc() : end;
  }
  /// Statements of a path, without the braces around them.
  std::string path(const Stmt* s) const {
    if (s == nullptr) return "";
    if (const auto* c = llvm::dyn_cast<CompoundStmt>(s)) return between(past(c->getLBracLoc()), c->getRBracLoc());
    return between(s->getBeginLoc(), past(s));
  }
  std::string head() const {
    return p_.body == nullptr ? "" : between(past(p_.body->getLBracLoc()), p_.branch->getBeginLoc());
  }
  std::string tail() const { return p_.body == nullptr ? "" : between(past(p_.branch), p_.body->getRBracLoc()); }

  /// Blanks in front of the loop on its line.
  std::string indent() const {
    const SourceLocation at = p_.loop->getBeginLoc();
    const unsigned column = sources_.getSpellingColumnNumber(at);
    const std::string line = between(at.getLocWithOffset(1 - static_cast<int>(column)), at);
    return line.substr(0, std::min(line.find_first_not_of(" \t"), line.size()));
  }
  /// One level of indentation: how the body's first statement is further in than the loop.
  std::string unit() const {
    if (p_.body == nullptr || p_.body->body_empty()) return "  ";
    const SourceLocation at = p_.body->body_front()->getBeginLoc();
    const unsigned column = sources_.getSpellingColumnNumber(at);
    const std::string line = between(at.getLocWithOffset(1 - static_cast<int>(column)), at);
    const std::string outer = indent();
    if (line.find_first_not_of(" \t") != std::string::npos || !line.starts_with(outer) || line.size() == outer.size())
      return "  ";
    return line.substr(outer.size());
  }

 private:
  const LoopParts& p_;
  const SourceManager& sources_;
  const LangOptions& options_;
};

std::vector<std::string> lines_in(const std::string& text) {
  std::vector<std::string> lines;
  std::size_t at = 0;
  while (at <= text.size()) {
    const std::size_t end = std::min(text.find('\n', at), text.size());
    std::string line = text.substr(at, end - at);
    line.erase(line.find_last_not_of(" \t\r") + 1);
    lines.push_back(line);
    at = end + 1;
  }
  return lines;
}

/// The text's lines behind `indent`, their own common indentation removed, empty ones at the ends dropped.
std::string placed(const std::string& text, const std::string& indent) {
  std::vector<std::string> lines = lines_in(text);
  while (!lines.empty() && lines.back().empty()) lines.pop_back();
  while (!lines.empty() && lines.front().empty()) lines.erase(lines.begin());
  std::size_t common = std::string::npos;
  for (std::size_t k = 0; k < lines.size(); ++k) {
    const std::size_t blank = lines[k].find_first_not_of(" \t");
    if (blank == std::string::npos || (k == 0 && blank == 0 && lines.size() > 1)) continue;  // begins behind a brace
    common = std::min(common, blank);
  }
  if (common == std::string::npos) common = 0;
  std::string out;
  for (const std::string& line : lines) {
    const std::size_t blank = line.find_first_not_of(" \t");
    if (blank == std::string::npos) {
      out += "\n";
      continue;
    }
    out += indent + line.substr(std::min(common, blank)) + "\n";
  }
  return out;
}

bool declares(const Stmt* s) {
  if (s == nullptr) return false;
  if (llvm::isa<DeclStmt>(s)) return true;
  const auto* c = llvm::dyn_cast<CompoundStmt>(s);
  return c != nullptr &&
         std::any_of(c->body_begin(), c->body_end(), [](const Stmt* x) { return llvm::isa<DeclStmt>(x); });
}

class Writer {
 public:
  Writer(const LoopParts& p, ASTContext& context)
      : p_(p), context_(context), text_(p, context), base_(text_.indent()), unit_(text_.unit()) {}

  std::string in_turn(bool taken_first) const {
    std::string out = opening();
    out += copy(taken_first, /*first=*/true) + copy(!taken_first, /*first=*/false);
    return out + base_ + "}";
  }

  std::string ahead() const {
    const VarDecl* counter = counter_of(p_);
    const std::string in = base_ + unit_, in2 = in + unit_, in3 = in2 + unit_;
    const std::string name = counter->getNameAsString(), step = text_.of(p_.step) + ";";
    const std::string type = type_of(*counter);
    const std::string own = type + " " + name + " = kernelcast_at;";
    const std::string condition = "(" + text_.of(p_.branch->getCond()) + ")";
    std::string out = opening();
    out += in + "const " + type + " kernelcast_at = " + name + ";\n";
    out += in + "int kernelcast_taken, kernelcast_pair = 0;\n";
    out +=
        in + "{\n" + placed(text_.head(), in2) + in2 + "kernelcast_taken = " + condition + " ? 1 : 0;\n" + in + "}\n";
    out += in + "{\n" + in2 + own + "\n" + in2 + step + "\n" + in2 + "if (" + text_.of(p_.more) + ") {\n" +
           placed(text_.head(), in3) + in3 + "kernelcast_pair = (" + condition + " ? 1 : 0) != kernelcast_taken;\n" +
           in2 + "}\n" + in + "}\n";
    for (const bool taken : {true, false}) {
      out += in + "if (" + (taken ? "kernelcast_taken" : "!kernelcast_taken") + " || kernelcast_pair) {\n" + in2 + own +
             "\n" + in2 + "if (" + (taken ? "!kernelcast_taken" : "kernelcast_taken") + ") " + step + "\n" +
             placed(text_.head(), in2) + path(taken, in2) + in + "}\n";
    }
    out += in + step + "\n" + in + "if (kernelcast_pair) " + step + "\n";
    return out + base_ + "}";
  }

 private:
  /// As the source has it where instances of a template may mean different types.
  std::string type_of(const VarDecl& v) const {
    if (p_.kernel->isTemplateInstantiation() && v.getTypeSourceInfo() != nullptr)
      return text_.of(v.getTypeSourceInfo()->getTypeLoc().getUnqualifiedLoc().getSourceRange());
    return v.getType().getUnqualifiedType().getAsString(context_.getPrintingPolicy());
  }
  std::string opening() const {
    if (llvm::isa<ForStmt>(p_.loop)) {
      std::string init = p_.init == nullptr ? ";" : text_.of(p_.init);
      if (!init.ends_with(';')) init += ";";
      return "for (" + init + " " + text_.of(p_.more) + ";) {\n";
    }
    return "while (" + text_.of(p_.more) + ") {\n";
  }
  std::string path(bool taken, const std::string& indent) const {
    const Stmt* s = taken ? p_.branch->getThen() : p_.branch->getElse();
    const std::string tail = text_.tail();
    if (declares(s) && !p_.tail.empty()) {
      return indent + "{\n" + placed(text_.path(s), indent + unit_) + indent + "}\n" + placed(tail, indent);
    }
    return placed(text_.path(s), indent) + placed(tail, indent);
  }
  std::string copy(bool taken, bool first) const {
    const bool scope = !p_.head.empty();
    const std::string in = base_ + unit_ + (scope ? unit_ : ""), in2 = in + unit_;
    std::string out;
    if (!scope && first) out += placed(text_.head(), in);  // comments
    const std::string more = text_.of(p_.more), condition = text_.of(p_.branch->getCond());
    const std::string wanted = (taken ? "" : "!(") + condition + (taken ? "" : ")");
    if (scope) out += base_ + unit_ + (first ? "{\n" : "if (" + more + ") {\n") + placed(text_.head(), in);
    const bool test = !first && !scope;
    out += in + "if (" + (test ? "(" + more + ") && " + (taken ? "(" + wanted + ")" : wanted) : wanted) + ") {\n";
    out += path(taken, in2);
    if (p_.step != nullptr) out += in2 + text_.of(p_.step) + ";\n";
    out += in + "}\n";
    if (scope) out += base_ + unit_ + "}\n";
    return out;
  }

  const LoopParts& p_;
  ASTContext& context_;
  Text text_;
  std::string base_, unit_;
};

/// Of the preprocessor, apart from pragmas.
bool has_directive(const std::string& text) {
  for (const std::string& line : lines_in(text)) {
    const std::size_t at = line.find_first_not_of(" \t");
    if (at == std::string::npos || line[at] != '#') continue;
    if (line.find("pragma", at) == std::string::npos) return true;
  }
  return false;
}

/// Where the parameters of a kernel end, in each of its declarations.
std::vector<SourceLocation> parameter_ends(const FunctionDecl* kernel) {
  const FunctionDecl* written = kernel->getTemplateInstantiationPattern();
  if (written == nullptr) written = kernel;
  std::vector<SourceLocation> ends;
  for (const FunctionDecl* f : written->redecls())
    if (const FunctionTypeLoc type = f->getFunctionTypeLoc()) ends.push_back(type.getRParenLoc());
  return ends;
}

bool from_macro(const Stmt* s) { return s != nullptr && (s->getBeginLoc().isMacroID() || s->getEndLoc().isMacroID()); }

}  // namespace

CharSourceRange text_range(const Stmt* s, const ASTContext& context) {
  return Lexer::makeFileCharRange(CharSourceRange::getTokenRange(s->getSourceRange()), context.getSourceManager(),
                                  context.getLangOpts());
}

const VarDecl* counter_of(const LoopParts& p) {
  const auto* d = llvm::dyn_cast_or_null<DeclStmt>(p.init);
  if (d == nullptr || !d->isSingleDecl()) return nullptr;
  return llvm::dyn_cast<VarDecl>(d->getSingleDecl());
}

std::string why_not_rewritten(const LoopParts& p, const ASTContext& context) {
  if (p.is_do) return "a do loop tests at its end: write it as a while loop";
  if (p.more == nullptr) return "the loop has no condition: put its test there";
  if (p.under_exit) return "the branch stands under the test that leaves the loop: make that test the loop's condition";
  for (const Stmt* s : {p.loop, static_cast<const Stmt*>(p.body), static_cast<const Stmt*>(p.branch),
                        p.branch->getThen(), p.branch->getElse()}) {
    if (from_macro(s)) return "the loop or its branch is written by a macro";
  }
  for (const Stmt* s : {p.init, static_cast<const Stmt*>(p.more), static_cast<const Stmt*>(p.step),
                        static_cast<const Stmt*>(p.branch->getCond())}) {
    if (s != nullptr && text_range(s, context).isInvalid())
      return "a part of the loop's head or condition is written by a macro";
  }
  if (p.function != p.kernel)
    return "it stands in function " + p.function->getNameAsString() +
           ", which others may call: copy its body into the kernel first";
  const SourceManager& sources = context.getSourceManager();
  if (is_read_again(p.loop->getBeginLoc(), sources))
    return shown_file(p.loop->getBeginLoc(), sources) +
           " is read several times here, and its text may mean something else each time";
  const std::string text =
      Lexer::getSourceText(CharSourceRange::getTokenRange(p.loop->getSourceRange()), sources, context.getLangOpts())
          .str();
  if (has_directive(text)) return "there are preprocessor directives in the loop";
  if (p.branch->hasInitStorage() || p.branch->hasVarStorage()) return "the branch declares a variable in its condition";
  if (const auto* f = llvm::dyn_cast<ForStmt>(p.loop); f != nullptr && f->getConditionVariable() != nullptr)
    return "the loop declares a variable in its condition";
  if (const auto* w = llvm::dyn_cast<WhileStmt>(p.loop); w != nullptr && w->getConditionVariable() != nullptr)
    return "the loop declares a variable in its condition";
  Effects front;
  for (const Stmt* s : p.head) front.add(effects_of(s, context));
  front.add(effects_of(p.branch->getCond(), context));
  front.add(effects_of(p.more, context));
  for (const auto& [v, use] : front.writes) {
    if (!front.declared.contains(v) || v->isStaticLocal())
      return "the code in front of the branch, which waiting lanes run again, changes " + v->getNameAsString() +
             " at line " + std::to_string(use.at.line);
  }
  for (const MemoryAccess& m : front.memory)
    if (m.store && (m.base == nullptr || !front.declared.contains(m.base) || m.base->getType()->isPointerType() ||
                    m.base->hasGlobalStorage()))
      return "the code in front of the branch, which waiting lanes run again, writes to memory at line " +
             std::to_string(m.at.line);
  if (!front.atomics.empty()) return "the code in front of the branch, which waiting lanes run again, has an atomic";
  if (front.opaque)
    return "the code in front of the branch, which waiting lanes run again, is not followed: " + front.opaque_what;
  return "";
}

bool can_record(const LoopParts& p, const ASTContext& context) {
  if (p.function != p.kernel) return false;
  const SourceManager& sources = context.getSourceManager();
  const SourceLocation body = llvm::cast<CompoundStmt>(p.kernel->getBody())->getLBracLoc();
  const CharSourceRange condition = text_range(p.branch->getCond(), context);
  const std::vector<SourceLocation> ends = parameter_ends(p.kernel);
  if (condition.isInvalid() || body.isMacroID() || !std::ranges::all_of(ends, &SourceLocation::isFileID)) return false;
  if (p.kernel->getTemplateSpecializationKind() == TSK_ExplicitSpecialization)
    return false;  // as its template has them
  if ((p.instances.empty() ? p.kernel_name : p.instances.front()).ends_with(')')) return false;  // named by parameters
  if (is_read_again(sources.getLocForStartOfFile(sources.getMainFileID()), sources)) return false;
  // Text that is included into a body may be part of several loops.
  return sources.getFileID(condition.getBegin()) == sources.getFileID(body) ||
         !is_read_again(condition.getBegin(), sources);
}

void rewrite(Rewriter& rewriter, const LoopParts& p, ASTContext& context, Policy policy) {
  const Writer writer(p, context);
  const std::string text =
      policy == Policy::advance ? writer.ahead() : writer.in_turn(policy == Policy::advance_in_order);
  const Text source(p, context);
  const SourceLocation end = p.body != nullptr ? source.past(p.body) : source.past(p.branch);
  rewriter.ReplaceText(CharSourceRange::getCharRange(p.loop->getBeginLoc(), end), text);
}

void instrument(Rewriter& rewriter, const LoopParts& p, ASTContext& context) {
  const bool opencl = context.getLangOpts().OpenCL != 0;
  const std::string global = opencl ? "__global " : "";
  const std::string words = std::to_string(pattern_row_words), rows = std::to_string(pattern_rows),
                    bits = std::to_string(pattern_bits);
  const SourceManager& sources = context.getSourceManager();
  rewriter.InsertText(sources.getLocForStartOfFile(sources.getMainFileID()),
                      std::string(opencl ? "" : "static __device__ ") + "int kernelcast_note(" + global +
                          "unsigned* row, int taken) {" + " if (row != 0 && row[2] < " + bits +
                          "u) { if (taken) row[3 + row[2] / 32] |= 1u << (row[2] % 32); ++row[2]; }" +
                          " return taken; }\n",
                      /*InsertAfter=*/true);
  for (const SourceLocation end : parameter_ends(p.kernel))
    rewriter.InsertText(end, std::string(p.kernel->param_empty() ? "" : ", ") + global + "unsigned* kernelcast_pattern",
                        true);
  const std::string block =
      opencl
          ? "(unsigned)(get_group_id(0) + get_num_groups(0) * (get_group_id(1) + get_num_groups(1) * get_group_id(2)))"
          : "blockIdx.x + gridDim.x * (blockIdx.y + gridDim.y * blockIdx.z)";
  const std::string thread =
      opencl
          ? "(unsigned)(get_local_id(0) + get_local_size(0) * (get_local_id(1) + get_local_size(1) * get_local_id(2)))"
          : "threadIdx.x + blockDim.x * (threadIdx.y + blockDim.y * threadIdx.z)";
  const std::string next = opencl ? "atomic_inc(kernelcast_pattern)" : "atomicAdd(kernelcast_pattern, 1u)";
  const auto* body = llvm::cast<CompoundStmt>(p.kernel->getBody());
  rewriter.InsertTextAfterToken(body->getLBracLoc(),
                                " const unsigned kernelcast_number = " + next + "; " + global +
                                    "unsigned* kernelcast_row = 0; if (kernelcast_number < " + rows +
                                    "u) { kernelcast_row = kernelcast_pattern + 1 + kernelcast_number * " + words +
                                    "; kernelcast_row[0] = " + block + "; kernelcast_row[1] = " + thread + "; }");
  const CharSourceRange condition = text_range(p.branch->getCond(), context);
  rewriter.InsertText(condition.getBegin(), "kernelcast_note(kernelcast_row, (", true);
  rewriter.InsertText(condition.getEnd(), ") ? 1 : 0) != 0");
}

}  // namespace kernelcast::frontend
