// Why a queue: clang's code generator stops for good at the first error of the file. Real .cu files hold host code that
// uses libraries which are not at hand, so errors there are forgiven: when the whole file is parsed, every error is
// assigned to the function that holds it, the engine's error flag is cleared if codegen may go on, and only then the
// declarations are generated. Device functions with errors get an empty body and are named in the result; the caller
// refuses kernels that reach them.
#include "frontend/source/compile_consumer.h"

#include <algorithm>
#include <set>

#include "clang/AST/ASTContext.h"
#include "clang/AST/Attr.h"
#include "clang/AST/DeclCXX.h"
#include "clang/AST/DeclTemplate.h"
#include "clang/AST/ExprCXX.h"
#include "clang/AST/GlobalDecl.h"
#include "clang/AST/Stmt.h"
#include "clang/Basic/DiagnosticParse.h"
#include "clang/Basic/DiagnosticSema.h"
#include "clang/Basic/SourceManager.h"
#include "clang/Frontend/TextDiagnosticPrinter.h"
#include "clang/Lex/LexDiagnostic.h"
#include "frontend/source/ast_walk.h"
#include "frontend/source/compile.h"
#include "frontend/source/compile_language.h"
#include "frontend/source/instance_name.h"
#include "frontend/source/target_features.h"
#include "llvm/IR/Constants.h"
#include "llvm/IR/LLVMContext.h"
#include "llvm/IR/Module.h"
#include "llvm/IR/ValueSymbolTable.h"
#include "llvm/Support/CrashRecoveryContext.h"

namespace kernelcast::frontend {

MessageCollector::MessageCollector(clang::DiagnosticOptions* options)
    : stream_(std::make_unique<llvm::raw_string_ostream>(buffer_)),
      printer_(std::make_unique<clang::TextDiagnosticPrinter>(*stream_, options)) {}

MessageCollector::~MessageCollector() = default;

void MessageCollector::BeginSourceFile(const clang::LangOptions& options, const clang::Preprocessor* preprocessor) {
  printer_->BeginSourceFile(options, preprocessor);
}

void MessageCollector::EndSourceFile() { printer_->EndSourceFile(); }

namespace {

constexpr const char* any_name = "*";

/// "name" of "... dependent template name 'ns::name'".
std::string last_name_of(const clang::Diagnostic& info) {
  llvm::SmallString<128> text;
  info.FormatDiagnostic(text);
  const std::size_t begin = text.str().find("name '"), treat = text.str().find("treat '");
  const std::size_t open = std::min(begin, treat);
  if (open == llvm::StringRef::npos) return {};
  const llvm::StringRef quoted = text.str().substr(open + 6).ltrim('\'').split('\'').first;
  const std::size_t colons = quoted.rfind("::");
  return (colons == llvm::StringRef::npos ? quoted : quoted.substr(colons + 2)).str();
}

}  // namespace

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
  message.concerns_all =
      level == clang::DiagnosticsEngine::Fatal || info.getID() == clang::diag::err_pp_include_too_deep;
  message.text = buffer_;
  if (info.getID() == clang::diag::err_template_kw_missing ||
      info.getID() == clang::diag::err_missing_dependent_template_keyword)
    message.template_name = last_name_of(info);
  if (info.getID() == clang::diag::err_ovl_unresolvable) message.template_name = any_name;
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

/// Every function with a body, instantiations included.
std::vector<FunctionDecl*> functions_of(clang::ASTContext& context) {
  std::vector<FunctionDecl*> found;
  AstVisit visit;
  visit.instantiations = true;
  visit.declaration = [&](clang::Decl* d) {
    auto* function = llvm::dyn_cast<FunctionDecl>(d);
    if (function != nullptr && (function->isThisDeclarationADefinition() || function->hasSkippedBody()))
      found.push_back(function);
    return true;
  };
  walk(context.getTranslationUnitDecl(), visit);
  return found;
}

/// Whether clang had to give up on an expression inside a function, for instance on the name of a declaration that has
/// an error of its own.
bool was_recovered(FunctionDecl* function) {
  bool found = false;
  AstVisit visit;
  visit.statement = [&](clang::Stmt* s) {
    found = llvm::isa<clang::RecoveryExpr>(s);
    return !found;
  };
  if (function->hasBody()) walk(function->getBody(), visit);
  return found;
}

/// Hands the valid device functions and variables of a declaration context over, one by one.
void hand_over_device_code(const clang::DeclContext* context, clang::CodeGenerator& to) {
  for (clang::Decl* declaration : context->decls()) {
    if (declaration->isInvalidDecl()) continue;
    const bool holds_more = llvm::isa<clang::NamespaceDecl, clang::LinkageSpecDecl>(declaration);
    if (holds_more) hand_over_device_code(llvm::cast<clang::DeclContext>(declaration), to);
    const bool wanted =
        declaration->hasAttr<clang::CUDAGlobalAttr>() || declaration->hasAttr<clang::CUDADeviceAttr>() ||
        declaration->hasAttr<clang::CUDAConstantAttr>() || declaration->hasAttr<clang::CUDASharedAttr>();
    if (wanted) to.HandleTopLevelDecl(clang::DeclGroupRef(declaration));
  }
}

/// Of an array the element is counted: a matrix as a parameter points to its rows.
std::int64_t pointee_bytes(const clang::ParmVarDecl& parameter) {
  const clang::ASTContext& context = parameter.getASTContext();
  const clang::QualType type = parameter.getType();
  if (!type->isPointerType()) return 0;
  const clang::QualType element = context.getBaseElementType(type->getPointeeType());
  if (element->isVoidType() || element->isFunctionType() || element->isDependentType() || element->isIncompleteType())
    return 0;
  return context.getTypeSizeInChars(element).getQuantity();
}

void keep_pointee_bytes(const FunctionDecl& function, llvm::Function& symbol) {
  llvm::Type* number = llvm::Type::getInt64Ty(symbol.getContext());
  std::vector<llvm::Metadata*> bytes;
  for (const clang::ParmVarDecl* p : function.parameters())
    bytes.push_back(llvm::ConstantAsMetadata::get(llvm::ConstantInt::get(number, pointee_bytes(*p))));
  symbol.setMetadata(pointee_bytes_key, llvm::MDNode::get(symbol.getContext(), bytes));
}

/// `__launch_bounds__` for AMD's code generator, as HIP's headers define it: threads, and waves of a SIMD at least.
void keep_launch_bounds(const FunctionDecl& function, llvm::Function& symbol, bool is_hip) {
  const auto* bounds = function.getAttr<clang::CUDALaunchBoundsAttr>();
  if (bounds == nullptr || !symbol.hasFnAttribute("amdgpu-flat-work-group-size") ||
      function.hasAttr<clang::AMDGPUFlatWorkGroupSizeAttr>())
    return;
  const clang::ASTContext& context = function.getASTContext();
  const auto number = [&context](const clang::Expr* e) -> std::int64_t {
    if (e == nullptr || e->isValueDependent()) return 0;
    const auto value = e->getIntegerConstantExpr(context);
    return value ? value->getExtValue() : 0;
  };
  if (const std::int64_t threads = number(bounds->getMaxThreads()); threads > 0)
    symbol.addFnAttr("amdgpu-flat-work-group-size", "1," + std::to_string(threads));
  const std::int64_t waves = number(bounds->getMinBlocks());
  if (waves > 0 && is_hip) symbol.addFnAttr("amdgpu-waves-per-eu", std::to_string(waves));
}

/// Constructors and destructors are generated in several forms, each with its own symbol.
std::vector<clang::GlobalDecl> emitted_forms(const FunctionDecl* function) {
  if (const auto* constructor = llvm::dyn_cast<clang::CXXConstructorDecl>(function)) {
    return {{constructor, clang::Ctor_Complete}, {constructor, clang::Ctor_Base}};
  }
  if (const auto* destructor = llvm::dyn_cast<clang::CXXDestructorDecl>(function)) {
    return {{destructor, clang::Dtor_Complete}, {destructor, clang::Dtor_Base}};
  }
  return {clang::GlobalDecl(function)};
}

struct Body {
  unsigned begin = 0, end = 0;
  FunctionDecl* function = nullptr;
};

void add_body(FunctionDecl* function, const clang::SourceManager& sources,
              std::map<clang::FileID, std::vector<Body>>& bodies) {
  const auto [file, begin] = sources.getDecomposedExpansionLoc(function->getOuterLocStart());
  const auto end = sources.getDecomposedLoc(sources.getExpansionRange(function->getEndLoc()).getEnd());
  bodies[file].push_back({begin, end.first == file ? end.second : begin, function});
}

}  // namespace

KernelConsumer::KernelConsumer(clang::CompilerInstance& compiler, const ClangJob& job, ClangResult& result,
                               MessageCollector& messages)
    : compiler_(compiler), job_(job), result_(result), messages_(messages), parse_all_host_code_(job.all_host_code) {
  generator_.reset(clang::CreateLLVMCodeGen(compiler.getDiagnostics(), job.main_file, &compiler.getVirtualFileSystem(),
                                            compiler.getHeaderSearchOpts(), compiler.getPreprocessorOpts(),
                                            compiler.getCodeGenOpts(), *result.context));
}

KernelConsumer::~KernelConsumer() = default;

void KernelConsumer::Initialize(clang::ASTContext& context) { generator_->Initialize(context); }

bool KernelConsumer::HandleTopLevelDecl(clang::DeclGroupRef group) {
  if (is_loop_nest(job_.language)) {
    for (clang::Decl* declaration : group) keep_unused_function(declaration);
  }
  for (clang::Decl* declaration : group) {
    auto* function = llvm::dyn_cast<FunctionDecl>(declaration);
    if (function != nullptr && function->isTemplateInstantiation()) instantiated_.push_back(function);
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
  if (system_files_.hold(sources, function->getLocation())) return true;
  const bool launches = launches_kernels(function->getLocation());
  if (launches && (function->isDependentContext() || function->getDescribedFunctionTemplate() != nullptr)) {
    // Who calls this decides with which types the kernel is instantiated; callers may stand before it.
    result_.skipped_callers = result_.skipped_callers || (!parse_all_host_code_ && skipped_host_code_);
    parse_all_host_code_ = true;
  }
  const bool skip = !launches && !parse_all_host_code_;
  skipped_host_code_ = skipped_host_code_ || skip;
  return skip;
}

void KernelConsumer::judge_messages(clang::ASTContext& context) {
  using Level = clang::DiagnosticsEngine::Level;
  const auto& sources = context.getSourceManager();
  std::vector<FunctionDecl*> functions;
  const bool any_error = compiler_.getDiagnostics().hasErrorOccurred();
  if (any_error && job_.host_code_may_fail) functions = functions_of(context);
  std::map<clang::FileID, std::vector<Body>> bodies;
  for (FunctionDecl* function : functions) add_body(function, sources, bodies);
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
      for (const auto& [begin, end, function] : bodies[file]) {
        if (offset < begin || offset > end) continue;
        (is_device_function(function) ? in_device : in_host) = true;
        if (is_device_function(function)) broken.insert(function);
      }
      if (in_device) {
        error.where = ClangError::Where::device_function;
      } else if (job_.host_code_may_fail) {
        const llvm::StringRef text = sources.getBufferData(file);
        const std::string_view around = declaration_around({text.data(), text.size()}, offset);
        const auto mentions = [&](const char* word) { return around.find(word) != std::string_view::npos; };
        if (in_host || (!mentions("__global__") && !mentions("__device__"))) error.where = ClangError::Where::host_code;
      }
      if (message.concerns_all) error.where = ClangError::Where::other_device_code;
    }
    result_.errors.push_back(std::move(error));
  }
  for (FunctionDecl* function : functions) {
    if (is_device_function(function) && was_recovered(function)) broken.insert(function);
  }
  if (job_.host_code_may_fail) note_template_keywords();
  broken_.assign(broken.begin(), broken.end());
  result_.broken_kernel = std::any_of(broken_.begin(), broken_.end(), [](const auto* function) {
    return function->template hasAttr<clang::CUDAGlobalAttr>();
  });
}

// nvcc takes `Caster<T>::cast<4>(a)` with a dependent type for what it is meant to be.
void KernelConsumer::note_template_keywords() {
  constexpr std::size_t most_apart = 1000;  // characters between the place of the message and the name
  const auto& sources = compiler_.getSourceManager();
  std::map<clang::FileID, std::set<std::size_t>> places;
  for (const Message& message : messages_.messages()) {
    if (message.template_name.empty() || !message.at.isValid() || message.in_system_header) continue;
    const auto [file, offset] = sources.getDecomposedLoc(message.at);
    const llvm::StringRef text = sources.getBufferData(file).substr(0, offset + most_apart);
    const std::size_t end = std::min(text.find(';', offset), text.size());
    for (std::size_t at = offset; at < end; ++at) {
      if (!is_word(text[at]) || (at > 0 && is_word(text[at - 1]))) continue;
      const llvm::StringRef name = text.substr(at).take_while(is_word), before = text.substr(0, at).rtrim();
      if (!text.substr(at + name.size()).ltrim().starts_with("<")) continue;
      const bool any = message.template_name == any_name && before.ends_with(">::");
      const bool member = before.ends_with("::") || before.ends_with(".") || before.ends_with("->");
      if (any || (member && name == message.template_name)) places[file].insert(at);
    }
  }
  for (const auto& [file, at] : places) {
    std::string text = sources.getBufferData(file).str();
    for (auto place = at.rbegin(); place != at.rend(); ++place) text.insert(*place, "template ");
    const auto entry = sources.getFileEntryRefForID(file);
    if (entry) result_.respelled.push_back({entry->getName().str(), std::move(text)});
  }
}

// Where a target passes a structure by reference, Clang leaves the parameter without a name.
void KernelConsumer::name_parameters() {
  llvm::Module* module = generator_->GetModule();
  if (module == nullptr) return;
  for (llvm::Function& symbol : *module) {
    const auto unnamed = [](const llvm::Argument& a) { return !a.hasName(); };
    if (symbol.isDeclaration() || std::none_of(symbol.arg_begin(), symbol.arg_end(), unnamed)) continue;
    const auto* function = llvm::dyn_cast_or_null<FunctionDecl>(generator_->GetDeclForMangledName(symbol.getName()));
    if (function == nullptr || function->getNumParams() != symbol.arg_size()) continue;
    for (unsigned k = 0; k < function->getNumParams(); ++k) {
      if (symbol.getArg(k)->hasName()) continue;
      const llvm::StringRef name = function->getParamDecl(k)->getName();
      if (llvm::Value* copy = symbol.getValueSymbolTable()->lookup(name)) copy->setName(name + ".copy");
      symbol.getArg(k)->setName(name);
    }
  }
}

/// LLVM's pointers have no type, and a symbol without C++ name mangling none either: what a buffer holds is kept beside
/// the function, as Clang does for OpenCL C.
void KernelConsumer::keep_parameter_types() {
  llvm::Module* module = generator_->GetModule();
  if (module == nullptr) return;
  const clang::PrintingPolicy policy(compiler_.getLangOpts());
  for (llvm::Function& symbol : *module) {
    if (symbol.isDeclaration()) continue;
    const auto* function = llvm::dyn_cast_or_null<FunctionDecl>(generator_->GetDeclForMangledName(symbol.getName()));
    if (function == nullptr || function->getNumParams() != symbol.arg_size()) continue;
    keep_pointee_bytes(*function, symbol);
    keep_launch_bounds(*function, symbol, job_.language == Language::hip);
    if (function->hasAttr<clang::CUDAGlobalAttr>() && function->isTemplateInstantiation())
      symbol.addFnAttr(written_name_key, instance_name(*function));
    if (symbol.getMetadata("kernel_arg_base_type") != nullptr) continue;
    std::vector<llvm::Metadata*> types;
    for (const clang::ParmVarDecl* p : function->parameters())
      types.push_back(llvm::MDString::get(symbol.getContext(),
                                          p->getType().getCanonicalType().getUnqualifiedType().getAsString(policy)));
    symbol.setMetadata(parameter_types_key, llvm::MDNode::get(symbol.getContext(), types));
  }
}

/// The kernel whose address the text that was added for --kernel takes (compile.cpp): whatever names and constants
/// stand for its template arguments, this is the instance.
void KernelConsumer::find_wanted(clang::ASTContext& context) {
  const auto found = context.getTranslationUnitDecl()->lookup(&context.Idents.get(wanted_variable));
  if (found.empty()) return;
  const auto* variable = llvm::dyn_cast<clang::VarDecl>(found.front());
  const clang::Expr* value = variable == nullptr ? nullptr : variable->getInit();
  while (value != nullptr) {
    value = value->IgnoreParenCasts();
    const auto* address = llvm::dyn_cast<clang::UnaryOperator>(value);
    if (address == nullptr) break;
    value = address->getSubExpr();
  }
  const auto* name = llvm::dyn_cast_or_null<clang::DeclRefExpr>(value);
  const auto* function = name == nullptr ? nullptr : llvm::dyn_cast<FunctionDecl>(name->getDecl());
  if (function != nullptr) result_.wanted_symbol = generator_->GetMangledName(clang::GlobalDecl(function)).str();
}

/// Functions of the user's that have no body in what was read; builtins and the headers of ours have none on purpose.
void KernelConsumer::mark_missing_bodies() {
  llvm::Module* module = generator_->GetModule();
  if (module == nullptr) return;
  const auto& sources = compiler_.getSourceManager();
  for (llvm::Function& symbol : *module) {
    if (!symbol.isDeclaration() || symbol.isIntrinsic()) continue;
    const auto* function = llvm::dyn_cast_or_null<FunctionDecl>(generator_->GetDeclForMangledName(symbol.getName()));
    if (function == nullptr || function->isImplicit() || function->getBuiltinID() != 0) continue;
    const clang::SourceLocation at = sources.getExpansionLoc(function->getLocation());
    if (at.isInvalid() || sources.isInSystemHeader(at) || sources.isWrittenInBuiltinFile(at) ||
        sources.isWrittenInCommandLineFile(at))
      continue;
    const llvm::StringRef file = sources.getFilename(at);
    if (file.starts_with(kVirtualHeaderFolder) || file.starts_with("<kernelcast>")) continue;
    symbol.addFnAttr(without_body_key);
  }
}

void KernelConsumer::generate(clang::ASTContext& context) {
  for (const auto& hand_over : queue_) hand_over(*generator_);
  generator_->HandleTranslationUnit(context);
}

// After errors only valid device code is generated; should the generator crash on what is left, the errors are the
// answer.
bool KernelConsumer::generate_in_spite_of_errors(clang::ASTContext& context) {
  compiler_.getDiagnostics().Reset(/*soft=*/true);
  for (FunctionDecl* function : broken_) function->setBody(clang::CompoundStmt::CreateEmpty(context, 0, false));
  llvm::CrashRecoveryContext guard;
  return guard.RunSafely([&] {
    hand_over_device_code(context.getTranslationUnitDecl(), *generator_);
    for (FunctionDecl* function : instantiated_) {
      if (!function->isInvalidDecl() && is_device_function(function))
        generator_->HandleTopLevelDecl(clang::DeclGroupRef(function));
    }
    generator_->HandleTranslationUnit(context);
    for (FunctionDecl* function : broken_) {
      if (function->isDependentContext()) continue;
      for (const clang::GlobalDecl& form : emitted_forms(function))
        result_.broken_symbols.push_back(generator_->GetMangledName(form).str());
    }
  });
}

// Of the user's own functions: what our headers hold is chosen by target there, and much of it is never generated.
void KernelConsumer::find_missing_features(clang::ASTContext& context) {
  const auto& sources = context.getSourceManager();
  for (FunctionDecl* function : functions_of(context)) {
    if (is_device_function(function) && !system_files_.hold(sources, function->getLocation()))
      report_missing_features(function, compiler_.getDiagnostics());
  }
}

void KernelConsumer::HandleTranslationUnit(clang::ASTContext& context) {
  if (job_.host_code_may_fail && !job_.host_bodies) find_missing_features(context);
  judge_messages(context);
  if (job_.inspect) job_.inspect(context, result_);
  if (job_.host_bodies) {
    (void)generator_.release();  // it is never asked for a module
    return;
  }
  if (!compiler_.getDiagnostics().hasErrorOccurred()) {
    generate(context);
  } else if (!job_.host_code_may_fail) {
    return;
  } else if (!generate_in_spite_of_errors(context)) {
    (void)generator_.release();  // its state is not to be trusted
    return;
  }
  name_parameters();
  keep_parameter_types();
  find_wanted(context);
  mark_missing_bodies();
  result_.module.reset(generator_->ReleaseModule());
}

}  // namespace kernelcast::frontend
