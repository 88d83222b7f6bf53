// Between clang's parser and its code generator: passes over host code, and keeps the device code of a file alive when
// other parts have errors.
#pragma once

#include <functional>
#include <map>
#include <memory>
#include <string>
#include <vector>

#include "clang/AST/ASTConsumer.h"
#include "clang/Basic/Diagnostic.h"
#include "clang/CodeGen/ModuleBuilder.h"
#include "clang/Frontend/CompilerInstance.h"
#include "frontend/source/compile_clang.h"
#include "frontend/source/host_code.h"
#include "frontend/source/system_files.h"

namespace kernelcast::frontend {

/// A message with the place it is about, kept until the whole file has been seen.
struct Message {
  clang::DiagnosticsEngine::Level level = clang::DiagnosticsEngine::Ignored;
  clang::SourceLocation at;   // in a file, macros expanded
  bool concerns_all = false;  // whatever it stands in: the file was not read to its end, or the compiler gave up
  bool in_system_header = false;
  std::string text;           // with its notes
  std::string template_name;  // a dependent one without the keyword `template`; else empty
};

/// Renders messages as clang's own printer does, without colour.
class MessageCollector : public clang::DiagnosticConsumer {
 public:
  explicit MessageCollector(clang::DiagnosticOptions* options);
  ~MessageCollector() override;
  void BeginSourceFile(const clang::LangOptions& options, const clang::Preprocessor* preprocessor) override;
  void EndSourceFile() override;
  void HandleDiagnostic(clang::DiagnosticsEngine::Level level, const clang::Diagnostic& info) override;
  std::vector<Message>& messages() { return messages_; }

 private:
  std::string buffer_;
  std::unique_ptr<llvm::raw_string_ostream> stream_;
  std::unique_ptr<clang::DiagnosticConsumer> printer_;
  std::vector<Message> messages_;
};

/// What clang declares is kept in a queue and handed to the code generator when the file has ended and the errors have
/// been judged: an error inside a host function is no reason to give up, one inside a device function empties that
/// function's body and is on record.
class KernelConsumer : public clang::ASTConsumer {
 public:
  KernelConsumer(clang::CompilerInstance& compiler, const ClangJob& job, ClangResult& result,
                 MessageCollector& messages);
  ~KernelConsumer() override;

  void Initialize(clang::ASTContext& context) override;
  bool HandleTopLevelDecl(clang::DeclGroupRef group) override;
  void HandleInlineFunctionDefinition(clang::FunctionDecl* function) override;
  void HandleTagDeclDefinition(clang::TagDecl* type) override;
  void HandleTagDeclRequiredDefinition(const clang::TagDecl* type) override;
  void HandleCXXImplicitFunctionInstantiation(clang::FunctionDecl* function) override;
  void HandleCXXStaticMemberVarInstantiation(clang::VarDecl* variable) override;
  void CompleteTentativeDefinition(clang::VarDecl* variable) override;
  void CompleteExternalDeclaration(clang::DeclaratorDecl* declaration) override;
  void HandleVTable(clang::CXXRecordDecl* type) override;
  void HandleTranslationUnit(clang::ASTContext& context) override;
  bool shouldSkipFunctionBody(clang::Decl* declaration) override;

 private:
  bool launches_kernels(clang::SourceLocation name);
  void keep_unused_function(clang::Decl* declaration);
  void name_parameters();
  void keep_parameter_types();
  void find_wanted(clang::ASTContext& context);
  void mark_missing_bodies();
  void generate(clang::ASTContext& context);
  bool generate_in_spite_of_errors(clang::ASTContext& context);
  void find_missing_features(clang::ASTContext& context);
  void judge_messages(clang::ASTContext& context);
  void note_template_keywords();

  clang::CompilerInstance& compiler_;
  const ClangJob& job_;
  ClangResult& result_;
  MessageCollector& messages_;
  std::unique_ptr<clang::CodeGenerator> generator_;
  std::vector<std::function<void(clang::CodeGenerator&)>> queue_;
  std::vector<clang::FunctionDecl*> broken_, instantiated_;
  std::map<clang::FileID, Launches> launches_;
  SystemFiles system_files_;
  bool parse_all_host_code_, skipped_host_code_ = false;
};

}  // namespace kernelcast::frontend
