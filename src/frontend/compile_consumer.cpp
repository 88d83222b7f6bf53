// Why a queue: clang's code generator stops for good at the first error of the file. Real .cu files hold host code that
// uses libraries which are not at hand, so errors there are forgiven: when the whole file is parsed, every error is
// assigned to the function that holds it, the engine's error flag is cleared if codegen may go on, and only then the
// declarations are generated. Device functions with errors get an empty body and are named in the result; the caller
// refuses kernels that reach them.
#include "frontend/compile_consumer.h"

#include <algorithm>
#include <set>

#include "clang/AST/ASTContext.h"
#include "clang/AST/Attr.h"
#include "clang/AST/DeclTemplate.h"
#include "clang/AST/GlobalDecl.h"
#include "clang/AST/RecursiveASTVisitor.h"
#include "clang/AST/Stmt.h"
#include "clang/Basic/SourceManager.h"
#include "clang/Frontend/TextDiagnosticPrinter.h"
#include "llvm/IR/LLVMContext.h"
#include "llvm/IR/Module.h"

namespace kernelcast::frontend {

MessageCollector::MessageCollector(clang::DiagnosticOptions* options)
    : stream_(std::make_unique<llvm::raw_string_ostream>(buffer_)),
      printer_(std::make_unique<clang::TextDiagnosticPrinter>(*stream_, options)) {}

MessageCollector::~MessageCollector() = default;

void MessageCollector::BeginSourceFile(const clang::LangOptions& options, const clang::Preprocessor* preprocessor) {
  printer_->BeginSourceFile(options, preprocessor);
}

void MessageCollector::EndSourceFile() { printer_->EndSourceFile(); }

void MessageCollector::HandleDiagnostic(clang::DiagnosticsEngine::Level level, const clang::Diagnostic& info) {
  clang::DiagnosticConsumer::HandleDiagnostic(level, info);
  buffer_.clear();
  printer_->HandleDiagnostic(level, info);
  stream_->flush();
  if (level == clang::DiagnosticsEngine::Note && !messages_.empty()) {
    messages_.back().text += buffer_;
    return;
  }
  Message message;
  message.level = level;
  if (info.hasSourceManager() && info.getLocation().isValid()) {
    message.at = info.getSourceManager().getExpansionLoc(info.getLocation());
    message.in_system_header = info.getSourceManager().isInSystemHeader(message.at);
  }
  message.text = buffer_;
  messages_.push_back(std::move(message));
}

namespace {

using clang::FunctionDecl;

bool is_device_function(const FunctionDecl* function) {
  return function->hasAttr<clang::CUDAGlobalAttr>() || function->hasAttr<clang::CUDADeviceAttr>();
}

FunctionDecl* function_of(clang::Decl* declaration) {
  if (auto* tmpl = llvm::dyn_cast_or_null<clang::FunctionTemplateDecl>(declaration)) return tmpl->getTemplatedDecl();
  return llvm::dyn_cast_or_null<FunctionDecl>(declaration);
}

/// Collects every function with a body, instantiations included.
class FunctionFinder : public clang::RecursiveASTVisitor<FunctionFinder> {
 public:
  bool shouldVisitTemplateInstantiations() const { return true; }
  bool VisitFunctionDecl(FunctionDecl* function) {
    if (function->isThisDeclarationADefinition() || function->hasSkippedBody()) functions.push_back(function);
    return true;
  }
  std::vector<FunctionDecl*> functions;
};

struct Extent {
  clang::FileID file;
  unsigned begin = 0, end = 0;
};

Extent extent_of(const FunctionDecl* function, const clang::SourceManager& sources) {
  const auto begin = sources.getDecomposedExpansionLoc(function->getOuterLocStart());
  const auto end = sources.getDecomposedLoc(sources.getExpansionRange(function->getEndLoc()).getEnd());
  return {begin.first, begin.second, end.first == begin.first ? end.second : begin.second};
}

}  // namespace

KernelConsumer::KernelConsumer(clang::CompilerInstance& compiler, const ClangJob& job, ClangResult& result,
                               MessageCollector& messages)
    : compiler_(compiler), job_(job), result_(result), messages_(messages) {
  generator_.reset(clang::CreateLLVMCodeGen(compiler.getDiagnostics(), job.main_file, &compiler.getVirtualFileSystem(),
                                            compiler.getHeaderSearchOpts(), compiler.getPreprocessorOpts(),
                                            compiler.getCodeGenOpts(), *result.context));
}

KernelConsumer::~KernelConsumer() = default;

void KernelConsumer::Initialize(clang::ASTContext& context) { generator_->Initialize(context); }

bool KernelConsumer::HandleTopLevelDecl(clang::DeclGroupRef group) {
  if (job_.language == Language::c || job_.language == Language::cxx) {
    for (clang::Decl* declaration : group) keep_unused_function(declaration);
  }
  queue_.emplace_back([group](clang::CodeGenerator& to) { to.HandleTopLevelDecl(group); });
  return true;
}

void KernelConsumer::HandleInlineFunctionDefinition(FunctionDecl* function) {
  queue_.emplace_back([function](clang::CodeGenerator& to) { to.HandleInlineFunctionDefinition(function); });
}

void KernelConsumer::HandleTagDeclDefinition(clang::TagDecl* type) {
  queue_.emplace_back([type](clang::CodeGenerator& to) { to.HandleTagDeclDefinition(type); });
}

void KernelConsumer::HandleTagDeclRequiredDefinition(const clang::TagDecl* type) {
  queue_.emplace_back([type](clang::CodeGenerator& to) { to.HandleTagDeclRequiredDefinition(type); });
}

void KernelConsumer::HandleCXXImplicitFunctionInstantiation(FunctionDecl* function) {
  queue_.emplace_back([function](clang::CodeGenerator& to) { to.HandleCXXImplicitFunctionInstantiation(function); });
}

void KernelConsumer::HandleCXXStaticMemberVarInstantiation(clang::VarDecl* variable) {
  queue_.emplace_back([variable](clang::CodeGenerator& to) { to.HandleCXXStaticMemberVarInstantiation(variable); });
}

void KernelConsumer::CompleteTentativeDefinition(clang::VarDecl* variable) {
  queue_.emplace_back([variable](clang::CodeGenerator& to) { to.CompleteTentativeDefinition(variable); });
}

void KernelConsumer::CompleteExternalDeclaration(clang::DeclaratorDecl* declaration) {
  queue_.emplace_back([declaration](clang::CodeGenerator& to) { to.CompleteExternalDeclaration(declaration); });
}

void KernelConsumer::HandleVTable(clang::CXXRecordDecl* type) {
  queue_.emplace_back([type](clang::CodeGenerator& to) { to.HandleVTable(type); });
}

// A static function that nobody calls would not be generated, but it may be the loop nest that is asked for.
void KernelConsumer::keep_unused_function(clang::Decl* declaration) {
  auto* function = llvm::dyn_cast<FunctionDecl>(declaration);
  if (function == nullptr || !function->isThisDeclarationADefinition()) return;
  auto& context = function->getASTContext();
  if (!context.getSourceManager().isInMainFile(function->getLocation())) return;
  function->addAttr(clang::UsedAttr::CreateImplicit(context));
}

bool KernelConsumer::launches_kernels(clang::SourceLocation name) {
  auto& sources = compiler_.getSourceManager();
  const auto [file, offset] = sources.getDecomposedExpansionLoc(name);
  bool invalid = false;
  const llvm::StringRef text = sources.getBufferData(file, &invalid);
  if (invalid) return false;
  auto [found, is_new] = launches_.try_emplace(file);
  if (is_new) found->second = find_launches({text.data(), text.size()});
  const Launches& launches = found->second;
  if (launches.outside_braces) parse_all_host_code_ = true;
  if (launches.open_braces.empty()) return false;
  const std::size_t body = body_start({text.data(), text.size()}, offset);
  return std::binary_search(launches.open_braces.begin(), launches.open_braces.end(), body);
}

bool KernelConsumer::shouldSkipFunctionBody(clang::Decl* declaration) {
  const FunctionDecl* function = function_of(declaration);
  if (function == nullptr || !job_.host_code_may_fail) return false;
  if (function->hasAttr<clang::CUDAGlobalAttr>()) {
    if (function->getDescribedFunctionTemplate() != nullptr)
      result_.kernel_templates.push_back(function->getQualifiedNameAsString());
    return false;
  }
  if (function->hasAttr<clang::CUDADeviceAttr>()) return false;
  const auto& sources = compiler_.getSourceManager();
  if (sources.isInSystemHeader(sources.getExpansionLoc(function->getLocation()))) return true;
  const bool launches = launches_kernels(function->getLocation());
  if (launches && (function->isDependentContext() || function->getDescribedFunctionTemplate() != nullptr)) {
    parse_all_host_code_ = true;  // who calls this decides with which types the kernel is instantiated
  }
  return !launches && !parse_all_host_code_;
}

void KernelConsumer::judge_messages(clang::ASTContext& context) {
  using Level = clang::DiagnosticsEngine::Level;
  const auto& sources = context.getSourceManager();
  FunctionFinder finder;
  const bool any_error = compiler_.getDiagnostics().hasErrorOccurred();
  if (any_error && job_.host_code_may_fail) finder.TraverseDecl(context.getTranslationUnitDecl());
  std::set<FunctionDecl*> broken;
  for (const Message& message : messages_.messages()) {
    if (message.level < Level::Warning) continue;
    if (message.level == Level::Warning) {
      if (!message.in_system_header) result_.warnings.push_back({Diagnostic::Severity::warning, message.text});
      continue;
    }
    ClangError error{message.text, ClangError::Where::other_device_code, 0};
    if (message.at.isValid()) {
      error.line = static_cast<int>(sources.getExpansionLineNumber(message.at));
      const auto [file, offset] = sources.getDecomposedLoc(message.at);
      bool in_host = false;
      bool in_device = false;
      for (FunctionDecl* function : finder.functions) {
        const Extent extent = extent_of(function, sources);
        if (extent.file != file || offset < extent.begin || offset > extent.end) continue;
        if (is_device_function(function)) {
          in_device = true;
          broken.insert(function);
        } else {
          in_host = true;
        }
      }
      if (in_device) {
        error.where = ClangError::Where::device_function;
      } else if (job_.host_code_may_fail) {
        const llvm::StringRef text = sources.getBufferData(file);
        const std::string_view around = declaration_around({text.data(), text.size()}, offset);
        const auto mentions = [&](const char* word) { return around.find(word) != std::string_view::npos; };
        if (in_host || (!mentions("__global__") && !mentions("__device__"))) error.where = ClangError::Where::host_code;
      }
      if (message.level == Level::Fatal) error.where = ClangError::Where::other_device_code;
    }
    result_.errors.push_back(std::move(error));
  }
  broken_.assign(broken.begin(), broken.end());
}

void KernelConsumer::HandleTranslationUnit(clang::ASTContext& context) {
  judge_messages(context);
  auto& engine = compiler_.getDiagnostics();
  if (engine.hasErrorOccurred()) {
    if (!job_.host_code_may_fail) return;
    engine.Reset(/*soft=*/true);
    for (FunctionDecl* function : broken_) {
      function->setBody(clang::CompoundStmt::CreateEmpty(context, 0, false));
    }
  }
  for (const auto& hand_over : queue_) hand_over(*generator_);
  generator_->HandleTranslationUnit(context);
  for (FunctionDecl* function : broken_) {
    if (!function->isDependentContext())
      result_.broken_symbols.push_back(generator_->GetMangledName(clang::GlobalDecl(function)).str());
  }
  result_.module.reset(generator_->ReleaseModule());
}

}  // namespace kernelcast::frontend
