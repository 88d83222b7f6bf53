#include "frontend/source/compile_clang.h"

#include <algorithm>
#include <filesystem>
#include <set>
#include <unordered_set>

#include "clang/Basic/DiagnosticOptions.h"
#include "clang/Basic/TargetInfo.h"
#include "clang/Frontend/CompilerInstance.h"
#include "clang/Frontend/CompilerInvocation.h"
#include "clang/Frontend/FrontendAction.h"
#include "clang/Lex/PPCallbacks.h"
#include "clang/Lex/Pragma.h"
#include "clang/Lex/Preprocessor.h"
#include "clang/Lex/PreprocessorOptions.h"
#include "frontend/source/compile_consumer.h"
#include "frontend/source/compile_guard.h"
#include "frontend/source/compile_headers.h"
#include "frontend/source/compile_language.h"
#include "frontend/source/source_files.h"
#include "kernelcast/error.h"
#include "llvm/IR/LLVMContext.h"
#include "llvm/IR/Module.h"
#include "llvm/Support/MemoryBuffer.h"

namespace kernelcast::frontend {

ClangResult::ClangResult() : context(std::make_unique<llvm::LLVMContext>()) {}
ClangResult::ClangResult(ClangResult&&) noexcept = default;
ClangResult& ClangResult::operator=(ClangResult&&) noexcept = default;
ClangResult::~ClangResult() = default;

namespace {

/// Skips headers that do not exist, and remembers their names. Names of theirs are then no misspelt ones, nor are those
/// that the front end's Thrust lacks: Clang tries every combination of corrections for all names of an expression,
/// which takes minutes for a few of them.
class MissingHeaders : public clang::PPCallbacks {
 public:
  MissingHeaders(clang::CompilerInstance& compiler, std::vector<std::string>& names)
      : compiler_(compiler), names_(names) {}
  void LexedFileChanged(clang::FileID file, LexedFileChangeReason /*reason*/,
                        clang::SrcMgr::CharacteristicKind /*kind*/, clang::FileID /*before*/,
                        clang::SourceLocation /*at*/) override {
    const auto entry = compiler_.getSourceManager().getFileEntryRefForID(file);
    if (entry && entry->getName().ends_with("kernelcast/thrust.h")) compiler_.getLangOpts().SpellChecking = 0;
  }
  bool FileNotFound(llvm::StringRef name) override {
    compiler_.getLangOpts().SpellChecking = 0;
    if (std::find(names_.begin(), names_.end(), name) == names_.end()) names_.push_back(name.str());
    return true;
  }

 private:
  clang::CompilerInstance& compiler_;
  std::vector<std::string>& names_;
};

/// Notes every macro whose text the preprocessor asked for. `#ifdef` and `defined` ask only whether there is one.
class MacroNames : public clang::PPCallbacks {
 public:
  MacroNames(const clang::SourceManager& sources, std::set<std::string>& names) : sources_(sources), names_(names) {}
  void MacroExpands(const clang::Token& name, const clang::MacroDefinition& /*macro*/, clang::SourceRange /*range*/,
                    const clang::MacroArgs* /*arguments*/) override {
    note(name);
  }
  void MacroDefined(const clang::Token& name, const clang::MacroDirective* /*macro*/) override {
    const clang::SourceLocation at = name.getLocation();
    if (!sources_.isWrittenInCommandLineFile(at) && !sources_.isWrittenInBuiltinFile(at)) note(name);
  }
  void MacroUndefined(const clang::Token& name, const clang::MacroDefinition& /*macro*/,
                      const clang::MacroDirective* /*undefinition*/) override {
    note(name);
  }

 private:
  void note(const clang::Token& name) {
    const clang::IdentifierInfo* identifier = name.getIdentifierInfo();
    if (seen_.insert(identifier).second) names_.insert(identifier->getName().str());
  }

  const clang::SourceManager& sources_;
  std::set<std::string>& names_;
  std::unordered_set<const clang::IdentifierInfo*> seen_;
};

class LoopPragmaHandler : public clang::PragmaHandler {
 public:
  LoopPragmaHandler(const std::string& family, std::vector<LoopPragma>& found)
      : PragmaHandler("kernelcast_" + family), family_(family), found_(found) {}

  void HandlePragma(clang::Preprocessor& preprocessor, clang::PragmaIntroducer /*introducer*/,
                    clang::Token& token) override {
    auto& sources = preprocessor.getSourceManager();
    LoopPragma pragma{static_cast<int>(sources.getExpansionLineNumber(token.getLocation())), family_};
    const bool in_main_file = sources.isInMainFile(sources.getExpansionLoc(token.getLocation()));
    preprocessor.Lex(token);
    while (token.isNot(clang::tok::eod)) {
      if (token.hasLeadingSpace()) pragma.text += ' ';
      pragma.text += preprocessor.getSpelling(token);
      preprocessor.Lex(token);
    }
    if (in_main_file) found_.push_back(std::move(pragma));
  }

 private:
  std::string family_;
  std::vector<LoopPragma>& found_;
};

class CompileAction : public clang::ASTFrontendAction {
 public:
  CompileAction(const ClangJob& job, ClangResult& result, MessageCollector& messages)
      : job_(job), result_(result), messages_(messages) {}

 protected:
  bool BeginSourceFileAction(clang::CompilerInstance& compiler) override {
    auto& preprocessor = compiler.getPreprocessor();
    preprocessor.addPPCallbacks(std::make_unique<MissingHeaders>(compiler, result_.missing_headers));
    preprocessor.addPPCallbacks(std::make_unique<MacroNames>(preprocessor.getSourceManager(), result_.macros));
    if (!is_loop_nest(job_.language)) {
      preprocessor.addPPCallbacks(watch_skipped_kernels(preprocessor.getSourceManager(), compiler.getLangOpts(),
                                                        job_.language, result_.skipped));
    } else {
      for (const char* family : {"omp", "acc"})
        preprocessor.AddPragmaHandler(new LoopPragmaHandler(family, result_.pragmas));
    }
    return true;
  }

  void EndSourceFileAction() override {
    const clang::SourceManager& sources = getCompilerInstance().getSourceManager();
    for (auto file = sources.fileinfo_begin(); file != sources.fileinfo_end(); ++file) {
      const std::string name = file->first.getName().str();
      if (name != job_.main_file && !name.starts_with(kVirtualHeaderFolder)) result_.headers.push_back(name);
    }
    std::sort(result_.headers.begin(), result_.headers.end());
  }

  std::unique_ptr<clang::ASTConsumer> CreateASTConsumer(clang::CompilerInstance& compiler,
                                                        llvm::StringRef /*file*/) override {
    return std::make_unique<KernelConsumer>(compiler, job_, result_, messages_);
  }

 private:
  const ClangJob& job_;
  ClangResult& result_;
  MessageCollector& messages_;
};

}  // namespace

ClangResult run_clang(const ClangJob& job) {
  ClangResult result;
  std::vector<const char*> arguments;
  for (const auto& argument : job.arguments) arguments.push_back(argument.c_str());

  llvm::IntrusiveRefCntPtr<clang::DiagnosticOptions> options = new clang::DiagnosticOptions;
  options->ShowPresumedLoc = 1;  // what clang's command line sets
  options->ShowOptionNames = 1;
  MessageCollector messages(options.get());
  clang::DiagnosticsEngine argument_engine(new clang::DiagnosticIDs, options, &messages, /*ShouldOwnClient=*/false);
  auto invocation = std::make_shared<clang::CompilerInvocation>();
  const bool understood = clang::CompilerInvocation::CreateFromArgs(*invocation, arguments, argument_engine);
  if (!understood) {
    std::string text;
    for (const auto& message : messages.messages()) text += message.text;
    throw UserError(job.main_file + ": the compiler does not take these options\n" + text);
  }
  messages.messages().clear();
  invocation->getFrontendOpts().SkipFunctionBodies = job.host_code_may_fail && !job.host_bodies;
  invocation->getFrontendOpts().DisableFree = false;
  for (const FileText& header : job.headers) {
    auto text = llvm::MemoryBuffer::getMemBufferCopy(header.text, header.path);
    invocation->getPreprocessorOpts().addRemappedFile(header.path, text.release());  // the source manager's from here
  }

  clang::CompilerInstance compiler;
  compiler.setVerboseOutputStream(llvm::nulls());  // "2 errors generated."
  compiler.setInvocation(std::move(invocation));
  compiler.createFileManager(source_files(job));
  compiler.createDiagnostics(&messages, /*ShouldOwnClient=*/false);
  name_stage("Clang");
  CompileAction action(job, result, messages);
  compiler.ExecuteAction(action);
  if (result.errors.empty() && result.module == nullptr) {  // the run ended before the file did
    for (const auto& message : messages.messages()) {
      if (message.level >= clang::DiagnosticsEngine::Error)
        result.errors.push_back({message.text, ClangError::Where::other_device_code, 0});
    }
    if (result.errors.empty())
      result.errors.push_back({job.main_file +
                                   ": the compiler library gave up without a reason; reduce the file to the "
                                   "kernel and what it needs\n",
                               ClangError::Where::other_device_code, 0});
  }
  return result;
}

}  // namespace kernelcast::frontend
