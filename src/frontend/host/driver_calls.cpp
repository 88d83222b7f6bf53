// The driver API, and what else names a kernel by its text: kernels of modules are those of the program's sources. What
// a library calls back is evaluated when main has ended.
#include "frontend/host/interpreter.h"
#include "frontend/source/ast_walk.h"

namespace kernelcast::frontend::host {
namespace {

Value sizes(const std::vector<Value>& given, std::size_t from) {
  auto memory = std::make_shared<Memory>();
  for (std::size_t axis = 0; axis < 3; ++axis)
    memory->slots[dimension_key(static_cast<std::int64_t>(axis))] =
        from + axis < given.size() ? given[from + axis] : Value::not_known("it is not given", 0);
  return Value::object_of(std::move(memory));
}

}  // namespace

/// By its name in the source or in the object file.
const clang::FunctionDecl* Interpreter::kernel_named(const std::string& name) {
  if (kernels_.empty()) {
    AstVisit visit;
    visit.declaration = [&](clang::Decl* d) {
      const auto* f = llvm::dyn_cast<clang::FunctionDecl>(d);
      if (f == nullptr || !f->hasAttr<clang::CUDAGlobalAttr>() || f->isDependentContext()) return true;
      kernels_.emplace(f->getNameAsString(), f);
      kernels_.emplace(symbol_of(f), f);
      return true;
    };
    walk(context_.getTranslationUnitDecl(), visit);
  }
  const auto found = kernels_.find(name);
  if (found != kernels_.end()) return found->second;
  miss(name);
  return nullptr;
}

/// The arguments that an array of pointers to them gives.
std::vector<Value> Interpreter::pointed_arguments(const clang::FunctionDecl* kernel, const Value& list,
                                                  const clang::CallExpr* call) {
  std::vector<Value> arguments;
  for (unsigned k = 0; k < kernel->getNumParams(); ++k) {
    Value v = Value::not_known("the list of arguments is not known", line_of(call));
    if ((list.kind == Value::Kind::pointer || list.kind == Value::Kind::object) && list.place.memory) {
      const Value pointer = load({list.place.memory, list.place.key + k}, call);
      v = pointer.kind == Value::Kind::pointer ? load(pointer.place, call) : pointer;
    }
    arguments.push_back(copied(v));
  }
  return arguments;
}

void Interpreter::kernel_unknown(const clang::CallExpr* call) {
  note("launch at line " + std::to_string(line_of(call)) + ": the kernel is chosen at run time and is not known");
}

std::optional<Value> Interpreter::driver_call(const std::string& spelled, const clang::CallExpr* call) {
  const std::string name = spelled.ends_with("_v2") ? spelled.substr(0, spelled.size() - 3) : spelled;
  const int line = line_of(call);
  const unsigned count = call->getNumArgs();
  const OneOf is{name};
  const auto given = [&] {
    std::vector<Value> values;
    for (const clang::Expr* a : call->arguments()) values.push_back(copied(evaluate(a)));
    return values;
  };
  const auto& sources = context_.getSourceManager();
  const auto file = [&] { return sources.getFilename(sources.getExpansionLoc(call->getBeginLoc())).str(); };
  if (is({"cuModuleGetFunction", "cuLibraryGetKernel", "cudaLibraryGetKernel"}) && count == 3) {
    const Value into = evaluate(call->getArg(0));
    evaluate(call->getArg(1));
    const clang::Expr* named = call->getArg(2);
    const auto text = text_of(named->getType()->isArrayType() ? load(place_of(named), named) : evaluate(named));
    Value kernel = Value::not_known("a name", line);
    if (text) {
      kernel = text_pointer(*text);  // of no source: all that is known of it
      if (const clang::FunctionDecl* f = kernel_named(*text)) {
        kernel = {};
        kernel.kind = Value::Kind::function;
        kernel.function = f;
      }
    }
    if (into.kind == Value::Kind::pointer) store(into.place, kernel);
    return Value::of(0);
  }
  if (is({"cuLaunchKernel", "cuLaunchCooperativeKernel"}) && count >= 10) {
    const std::vector<Value> values = given();
    const auto alone = text_at(values[0]);
    if (alone)
      record_named(*alone, sizes(values, 1), sizes(values, 4), values[7], line, file());
    else if (values[0].function == nullptr)
      kernel_unknown(call);
    else
      record(values[0].function, sizes(values, 1), sizes(values, 4), values[7],
             pointed_arguments(values[0].function, values[9], call), line, file());
    return Value::of(0);
  }
  if (name == "cudaGraphAddKernelNode" && count == 5) {
    const std::vector<Value> values = given();
    const Value node = values[4].kind == Value::Kind::pointer ? load(values[4].place, call) : values[4];
    const clang::QualType pointer = call->getArg(4)->IgnoreParenImpCasts()->getType();
    const clang::QualType type = pointer->isPointerType() ? pointer->getPointeeType() : pointer;
    const Value kernel = field(node, type, "func", line);
    if (kernel.function == nullptr)
      kernel_unknown(call);
    else
      record(kernel.function, field(node, type, "gridDim", line), field(node, type, "blockDim", line),
             field(node, type, "sharedMemBytes", line),
             pointed_arguments(kernel.function, field(node, type, "kernelParams", line), call), line, file());
    return Value::of(0);
  }
  if (is({"cuMemAlloc", "cuMemAllocHost", "cuMemAllocManaged", "cuMemHostAlloc"}) && count >= 2) {
    allocate_for_device(call, is({"cuMemAllocHost", "cuMemHostAlloc"}));
    return Value::of(0);
  }
  if (name == "cuMemHostGetDevicePointer" && count >= 2) {
    point_at_host_memory(call);
    return Value::of(0);
  }
  if (is({"cuMemcpyHtoD", "cuMemcpyHtoDAsync"}) && count >= 3) {
    const Value into = evaluate(call->getArg(0)), from = evaluate(call->getArg(1)), bytes = evaluate(call->getArg(2));
    if (copy_tensor_map(into, from) || into.kind != Value::Kind::pointer) return Value::of(0);
    if (!copy_to_device(nullptr, into, call->getArg(1), from, bytes, line)) forget_reachable(into, true, line);
    return Value::of(0);
  }
  if (is({"cuMemFree", "cuMemFreeHost"})) {
    for (const clang::Expr* a : call->arguments()) evaluate(a);
    return Value::of(0);
  }
  if (name == "pthread_create" && count == 4) {
    const std::vector<Value> values = given();
    const clang::FunctionDecl* body = nullptr;
    if (values[2].function != nullptr && values[2].function->hasBody(body)) {
      const clang::Expr* argument = call->getArg(3);
      call_body(body, &argument, 1, std::nullopt, line);
    }
    return Value::of(0);
  }
  // The other functions of the driver succeed.
  if (name.size() > 2 && name.starts_with("cu") && std::isupper(static_cast<unsigned char>(name[2])) != 0 &&
      count > 0) {
    unknown_call(call, name);
    return Value::of(0);
  }
  return std::nullopt;
}

/// A function that launches and is given to one that is not evaluated: that one may call it.
void Interpreter::keep_callback(const Value& value, const std::string& taker, int line) {
  const clang::FunctionDecl* body = nullptr;
  if (value.function == nullptr || value.function->hasAttr<clang::CUDAGlobalAttr>() || !value.function->hasBody(body) ||
      !launches(body))
    return;
  for (const Callback& known : callbacks_)
    if (known.function == body) return;
  callbacks_.push_back({body, taker, line});
}

void Interpreter::run_callbacks() {
  for (std::size_t k = 0; k < callbacks_.size(); ++k) {
    const Callback callback = callbacks_[k];
    run_function(callback.function, false,
                 Condition{"number of calls of " + callback.function->getNameAsString() + "() by " + callback.taker +
                               "() is not known (line " + std::to_string(callback.line) + ")",
                           true});
  }
  callbacks_.clear();
}

}  // namespace kernelcast::frontend::host
