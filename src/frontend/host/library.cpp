// Functions whose bodies are not read: of C, C++ and the GPU runtimes. An allocation that succeeds is taken for
// granted.
#include <cmath>
#include <cstdlib>
#include <set>

#include "frontend/host/interpreter.h"

namespace kernelcast::frontend::host {
namespace {

// Functions that change nothing that evaluation sees.
const std::set<std::string>& silent() {
  static const std::set<std::string> names{"printf",
                                           "fprintf",
                                           "puts",
                                           "putchar",
                                           "fflush",
                                           "free",
                                           "fclose",
                                           "perror",
                                           "assert",
                                           "__assert_fail",
                                           "usleep",
                                           "sleep",
                                           "setbuf",
                                           "fputs",
                                           "putc",
                                           "cudaFree",
                                           "cudaFreeHost",
                                           "cudaFreeAsync",
                                           "cudaDeviceSynchronize",
                                           "cudaThreadSynchronize",
                                           "cudaDeviceReset",
                                           "cudaSetDevice",
                                           "cudaGetLastError",
                                           "cudaPeekAtLastError",
                                           "cudaStreamSynchronize",
                                           "cudaStreamDestroy",
                                           "cudaEventDestroy",
                                           "cudaEventRecord",
                                           "cudaEventSynchronize",
                                           "cudaStreamWaitEvent",
                                           "cudaFuncSetAttribute",
                                           "cudaFuncSetCacheConfig",
                                           "cudaMemPrefetchAsync",
                                           "cudaMemAdvise",
                                           "cudaDeviceSetLimit",
                                           "cudaHostUnregister",
                                           "cudaProfilerStart",
                                           "cudaProfilerStop",
                                           "cudaSetDeviceFlags",
                                           "cudaFuncSetSharedMemConfig",
                                           "cudaDeviceSetCacheConfig",
                                           "cudaFreeArray",
                                           "cudaDestroyTextureObject"};
  return names;
}

const std::set<std::string>& creates() {  // into the first argument, a handle that is not looked at
  static const std::set<std::string> names{
      "cudaStreamCreate",         "cudaStreamCreateWithFlags",    "cudaEventCreate",
      "cudaEventCreateWithFlags", "cudaStreamCreateWithPriority", "cudaCreateTextureObject"};
  return names;
}

std::string as_cuda(const std::string& name) {
  if (!name.starts_with("hip")) return name;
  if (name == "hipHostMalloc") return "cudaMallocHost";
  if (name == "hipMemcpyHtoD") return "cuMemcpyHtoD";
  if (name == "hipMemcpyHtoDAsync") return "cuMemcpyHtoDAsync";
  if (name == "hipHostFree") return "cudaFreeHost";
  return "cuda" + name.substr(3);
}

}  // namespace

Value Interpreter::allocation(const Value& bytes, int line, bool zero, bool for_device) {
  auto memory = std::make_shared<Memory>();
  memory->bytes = bytes;
  memory->rest = zero ? Value::of(0) : fresh(Value::not_known("contents of memory", line));
  memory->for_device = for_device;
  return Value::pointer_to({memory, 0});
}

MemoryRef Interpreter::allocate_for_device(const clang::CallExpr* call, bool in_host_memory) {
  const Value into = evaluate(call->getArg(0)), bytes = evaluate(call->getArg(1));
  if (into.kind != Value::Kind::pointer) return nullptr;
  const Value made = allocation(bytes, line_of(call), false, true);
  made.place.memory->in_host_memory = in_host_memory;
  store(into.place, made);
  return made.place.memory;
}

/// cudaMallocPitch(&POINTER, &PITCH, WIDTH, HEIGHT): NVIDIA's runtime pads a row to a multiple of 512 bytes, its
/// cudaDeviceProp::textureAlignment (forums.developer.nvidia.com/t/39738). What HIP's does depends on the GPU.
void Interpreter::allocate_rows(const clang::CallExpr* call, bool by_nvidia) {
  constexpr std::int64_t alignment = 512;
  const int line = line_of(call);
  const Value into = evaluate(call->getArg(0)), pitch = evaluate(call->getArg(1)), width = evaluate(call->getArg(2)),
              height = evaluate(call->getArg(3));
  Value row = Value::not_known("the pitch is the runtime's choice", line);
  if (by_nvidia && width.is_integer() && width.integer > 0 && width.integer < INT64_MAX - alignment)
    row = Value::of((width.integer + alignment - 1) / alignment * alignment);
  if (pitch.kind == Value::Kind::pointer) {
    // --let says otherwise
    store(pitch.place, Value::not_known("the pitch is the runtime's choice", line));
    const auto* address = llvm::dyn_cast<clang::UnaryOperator>(call->getArg(1)->IgnoreParenCasts());
    const Value given = address != nullptr ? load(pitch.place, address->getSubExpr()) : Value();
    if (given.is_integer())
      row = given;
    else if (row.is_integer())
      assume("rows of the allocation at line " + std::to_string(line) + " are padded to a multiple of " +
             std::to_string(alignment) + " bytes: " + std::to_string(row.integer));
    store(pitch.place, row);
  }
  std::int64_t bytes = 0;
  const bool sized =
      row.is_integer() && height.is_integer() && !__builtin_mul_overflow(row.integer, height.integer, &bytes);
  const Value size = sized ? Value::of(bytes) : Value::not_known("the pitch is the runtime's choice", line);
  if (into.kind == Value::Kind::pointer) store(into.place, allocation(size, line, false, true));
}

void Interpreter::point_at_host_memory(const clang::CallExpr* call) {
  const Value into = evaluate(call->getArg(0)), host = evaluate(call->getArg(1));
  for (unsigned k = 2; k < call->getNumArgs(); ++k) evaluate(call->getArg(k));
  if (into.kind != Value::Kind::pointer) return;
  // Whatever it is, it lies in host memory: aligned by hand, say, which is not followed.
  const int line = line_of(call);
  const bool known = host.kind == Value::Kind::pointer && host.place.memory;
  const Value made =
      known ? host : allocation(Value::not_known("host memory that is not followed", line), line, false, true);
  made.place.memory->in_host_memory = true;
  store(into.place, made);
}

std::optional<std::string> Interpreter::text_at(const Value& pointer) {
  if (pointer.kind != Value::Kind::pointer || !pointer.place.memory || !pointer.place.memory->text) return std::nullopt;
  const std::string& text = *pointer.place.memory->text;
  const auto at = static_cast<std::size_t>(pointer.place.key);
  return at <= text.size() ? std::optional(text.substr(at)) : std::nullopt;
}

std::optional<Value> Interpreter::runtime_call(const std::string& spelled, const clang::CallExpr* call) {
  const std::string name = as_cuda(spelled);
  const int line = line_of(call);
  const unsigned count = call->getNumArgs();
  const OneOf is{name};
  if (is({"cudaLaunchKernel", "cudaLaunchKernelExC", "cudaLaunchKernelEx", "cudaLaunchCooperativeKernel"}))
    return launch_by_function(call, name);
  if (auto v = occupancy_call(name, call)) return *v;
  if (is({"cudaMalloc", "cudaMallocManaged", "cudaMallocHost", "cudaHostAlloc", "cudaMallocAsync"}) && count >= 2) {
    const MemoryRef made = allocate_for_device(call, is({"cudaMallocHost", "cudaHostAlloc"}));
    const clang::QualType element = pointee_of(call->getArg(0));
    if (made != nullptr && name != "cudaMalloc" && !element.isNull() && element->isPointerType())
      made->element_bytes = size_of(element->getPointeeType());
    return Value::of(0);
  }
  if (name == "cudaHostGetDevicePointer" && count >= 2) {
    point_at_host_memory(call);
    return Value::of(0);
  }
  if (name == "cudaHostRegister" && count >= 2) {
    const Value host = evaluate(call->getArg(0));
    for (unsigned k = 1; k < count; ++k) evaluate(call->getArg(k));
    if (host.kind == Value::Kind::pointer && host.place.memory) host.place.memory->in_host_memory = true;
    return Value::of(0);
  }
  if (name == "cudaMallocPitch" && count >= 4) {
    allocate_rows(call, spelled == name);
    return Value::of(0);
  }
  if (is({"cudaMemcpyToSymbol", "cudaMemcpyToSymbolAsync"}) && count >= 3) {
    copy_to_symbol(call);
    return Value::of(0);
  }
  if (name == "cudaGetSymbolAddress" && count >= 2)
    symbols_.erase(symbol_in(call->getArg(1)));  // what it gives is not followed
  if (is({"cudaMemcpy", "cudaMemcpyAsync", "cudaMemcpyFromSymbol", "cudaMemset", "cudaMemsetAsync", "cudaMemcpy2D"}) &&
      count >= 3) {
    const Value into = evaluate(call->getArg(0)), from = evaluate(call->getArg(1));
    std::vector<Value> more;
    for (unsigned k = 2; k < count; ++k) more.push_back(evaluate(call->getArg(k)));
    if (copy_tensor_map(into, from)) return Value::of(0);
    constexpr std::int64_t host_to_device = 1, device_to_host = 2;
    const bool one_way = more.size() >= 2 && more[1].is_integer() && is({"cudaMemcpy", "cudaMemcpyAsync"}) &&
                         (more[1].integer == host_to_device || more[1].integer == device_to_host);
    for (const Value* v : {&into, &from})
      if (v->kind == Value::Kind::pointer && v->place.memory && !one_way) v->place.memory->used_elsewhere = true;
    if (is({"cudaMemcpy", "cudaMemcpyAsync"}) && count >= 4 && more[1].is_integer() &&
        more[1].integer == 1 &&  // cudaMemcpyHostToDevice
        copy_to_device(call->getArg(0), into, call->getArg(1), from, more[0], line))
      return Value::of(0);
    if (into.kind == Value::Kind::pointer && into.place.memory && !into.place.memory->text) {
      if (is({"cudaMemset", "cudaMemsetAsync"}) && set_bytes(call->getArg(0), into, from, more[0])) return Value::of(0);
      if (into.place.memory->bytes) {
        into.place.memory->slots.clear();
        into.place.memory->rest = Value::not_known("data that the device computes", line);
      } else {
        forget(into.place, "data that the device computes", line);
      }
    }
    return Value::of(0);
  }
  if (is({"cudaGetDeviceCount", "cudaGetDevice", "cuDeviceGetCount", "cuDeviceGet"}) && count >= 1) {
    const Value into = evaluate(call->getArg(0));
    if (into.kind == Value::Kind::pointer) store(into.place, Value::of(name.ends_with("Count") ? 1 : 0));
    return Value::of(0);
  }
  if (is({"cudaGetDeviceProperties"}) && count >= 1) {
    const Value into = evaluate(call->getArg(0));
    if (into.kind != Value::Kind::pointer || !into.place.memory) return Value::of(0);
    auto memory = std::make_shared<Memory>();
    memory->rest = Value::not_known("a property of the device", line);
    const clang::Expr* to = call->getArg(0)->IgnoreParenImpCasts();
    const auto* record =
        to->getType()->isPointerType() ? to->getType()->getPointeeType()->getAsCXXRecordDecl() : nullptr;
    for (const auto& [field, number] : options_.device) {
      const std::size_t bracket = field.find('[');  // "maxGridSize[1]"
      const clang::FieldDecl* f = field_named(record, field.substr(0, bracket));
      if (f == nullptr) continue;
      Value& held = memory->slots[key_of(f)];
      if (bracket == std::string::npos) {
        held = Value::of(number);
        continue;
      }
      if (held.kind != Value::Kind::object) held = empty_of(f->getType(), "a property of the device", line);
      if (held.place.memory) held.place.memory->slots[field[bracket + 1] - '0'] = Value::of(number);
    }
    store(into.place, Value::object_of(memory));
    return Value::of(0);
  }
  if (is({"cudaDeviceGetAttribute", "cuDeviceGetAttribute"}) && count >= 2) {
    const Value into = evaluate(call->getArg(0)), which = evaluate(call->getArg(1));
    Value value = Value::not_known("a property of the device", line);
    static const std::map<std::int64_t, const char*> fields{{1, "maxThreadsPerBlock"},
                                                            {8, "sharedMemPerBlock"},
                                                            {2, "maxThreadsDim[0]"},
                                                            {3, "maxThreadsDim[1]"},
                                                            {4, "maxThreadsDim[2]"},
                                                            {5, "maxGridSize[0]"},
                                                            {6, "maxGridSize[1]"},
                                                            {7, "maxGridSize[2]"},
                                                            {10, "warpSize"},
                                                            {97, "sharedMemPerBlockOptin"},
                                                            {16, "multiProcessorCount"},
                                                            {12, "regsPerBlock"},
                                                            {13, "clockRate"},
                                                            {18, "integrated"},
                                                            {19, "canMapHostMemory"},
                                                            {20, "computeMode"},
                                                            {31, "concurrentKernels"},
                                                            {38, "l2CacheSize"},
                                                            {39, "maxThreadsPerMultiProcessor"},
                                                            {41, "unifiedAddressing"},
                                                            {81, "sharedMemPerMultiprocessor"},
                                                            {82, "regsPerMultiprocessor"},
                                                            {83, "managedMemory"},
                                                            {95, "cooperativeLaunch"},
                                                            {106, "maxBlocksPerMultiProcessor"},
                                                            {75, "major"},
                                                            {76, "minor"}};
    if (which.is_integer())
      if (const auto field = fields.find(which.integer); field != fields.end())
        if (const auto known = options_.device.find(field->second); known != options_.device.end())
          value = Value::of(known->second);
    if (into.kind == Value::Kind::pointer) store(into.place, value);
    return Value::of(0);
  }
  if (creates().contains(name) && count >= 1) {
    const Value into = evaluate(call->getArg(0));
    for (unsigned k = 1; k < count; ++k) evaluate(call->getArg(k));
    if (into.kind == Value::Kind::pointer) store(into.place, Value::pointer_to({std::make_shared<Memory>(), 0}));
    return Value::of(0);
  }
  if (silent().contains(name)) {
    for (const clang::Expr* a : call->arguments()) evaluate(a);
    return Value::of(0);
  }
  return std::nullopt;
}

std::optional<Value> Interpreter::library_call(const std::string& name, const clang::CallExpr* call) {
  const int line = line_of(call);
  const unsigned count = call->getNumArgs();
  const OneOf is{name};
  if (is({"exit", "_exit", "quick_exit", "abort"})) throw ProgramEnd{"the program calls " + name + "()", line};
  if (auto v = c_random_call(name, call)) return *v;
  if (auto v = file_call(name, call)) return *v;
  if (is({"getenv"})) return Value::pointer_to({});
  if (is({"malloc", "aligned_alloc", "calloc", "valloc", "_mm_malloc"}) && count >= 1) {
    const Value first = evaluate(call->getArg(0));
    if (name == "malloc" || count == 1) return allocation(first, line, false, false);
    const Value second = evaluate(call->getArg(1));
    if (name == "_mm_malloc") return allocation(first, line, false, false);
    if (name == "aligned_alloc") return allocation(second, line, false, false);
    return allocation(binary(clang::BO_Mul, first, second, context_.getSizeType(), context_.getSizeType(), line), line,
                      true, false);
  }
  if (is({"posix_memalign"}) && count == 3) {
    const Value into = evaluate(call->getArg(0));
    if (into.kind == Value::Kind::pointer) store(into.place, allocation(evaluate(call->getArg(2)), line, false, false));
    return Value::of(0);
  }
  if (is({"memcpy", "memset", "memmove"}) && count == 3) {
    const Value into = evaluate(call->getArg(0)), from = evaluate(call->getArg(1)), bytes = evaluate(call->getArg(2));
    if (into.kind == Value::Kind::pointer && into.place.memory && !into.place.memory->text)
      write_memory(call, name == "memset", into, from, bytes);
    return into;
  }
  if (is({"atoi", "atol", "atoll", "atof", "strtol", "strtoul", "strtoll", "strtoull", "strtod", "strtof", "stoi",
          "stol", "stoll", "stoul", "stoull", "stof", "stod"}) &&
      count >= 1) {
    Value pointer = evaluate(call->getArg(0));
    const auto text = text_of(pointer);
    if (!text)
      return pointer.known() ? Value::not_known("an argument of the program is read that was not given", line)
                             : pointer;
    if (name == "atof" || name.starts_with("strtod") || name.starts_with("strtof") || name == "stof" || name == "stod")
      return Value::of_real(std::strtod(text->c_str(), nullptr));
    int base = 10;
    if (name.starts_with("strto") && count >= 3)
      if (const Value b = evaluate(call->getArg(2));
          b.is_integer() && (b.integer == 0 || (b.integer >= 2 && b.integer <= 36)))
        base = static_cast<int>(b.integer);
    return converted(Value::of(static_cast<std::int64_t>(std::strtoll(text->c_str(), nullptr, base))), call->getType());
  }
  if (is({"strcmp", "strncmp", "strcasecmp", "strncasecmp", "memcmp"}) && count >= 2) {
    auto a = text_at(evaluate(call->getArg(0))), b = text_at(evaluate(call->getArg(1)));
    const Value most = count == 3 ? evaluate(call->getArg(2)) : Value::of(std::int64_t{1} << 40);
    if (!a || !b || !most.is_integer() || most.integer < 0) return Value::not_known("a text", line);
    for (std::string* text : {&*a, &*b}) {
      *text = text->substr(0, static_cast<std::size_t>(most.integer));
      if (name.find("case") != std::string::npos)
        std::transform(text->begin(), text->end(), text->begin(), [](unsigned char c) { return std::tolower(c); });
    }
    return Value::of(a->compare(*b));
  }
  if (is({"strlen"}) && count == 1) {
    if (const auto a = text_at(evaluate(call->getArg(0)))) return Value::of(static_cast<std::int64_t>(a->size()));
    return Value::not_known("a text", line);
  }
  if (is({"move", "forward", "addressof", "__addressof", "as_const"}) && count == 1 &&
      call->getDirectCallee()->isInStdNamespace()) {
    if (name.ends_with("addressof") || call->isLValue() || call->isXValue())
      return Value::pointer_to(place_of(call->getArg(0)));
    return evaluate(call->getArg(0));
  }
  if (is({"swap"}) && count == 2) {
    const Place a = place_of(call->getArg(0)), b = place_of(call->getArg(1));
    const Value va = load(a, call->getArg(0)), vb = load(b, call->getArg(1));
    store(a, vb);
    store(b, va);
    return Value::of(0);
  }
  return std::nullopt;
}

std::optional<Value> Interpreter::math_call(const std::string& spelled, const clang::CallExpr* call) {
  std::string name = spelled;
  if (name.starts_with("__builtin_")) name = name.substr(10);
  static const std::map<std::string, double (*)(double)> one{
      {"sqrt", [](double x) { return std::sqrt(x); }},   {"ceil", [](double x) { return std::ceil(x); }},
      {"floor", [](double x) { return std::floor(x); }}, {"log", [](double x) { return std::log(x); }},
      {"log2", [](double x) { return std::log2(x); }},   {"log10", [](double x) { return std::log10(x); }},
      {"exp", [](double x) { return std::exp(x); }},     {"exp2", [](double x) { return std::exp2(x); }},
      {"fabs", [](double x) { return std::fabs(x); }},   {"round", [](double x) { return std::round(x); }},
      {"sin", [](double x) { return std::sin(x); }},     {"cos", [](double x) { return std::cos(x); }},
      {"cbrt", [](double x) { return std::cbrt(x); }},   {"trunc", [](double x) { return std::trunc(x); }},
      {"asin", [](double x) { return std::asin(x); }},   {"acos", [](double x) { return std::acos(x); }},
      {"atan", [](double x) { return std::atan(x); }},   {"sinh", [](double x) { return std::sinh(x); }},
      {"cosh", [](double x) { return std::cosh(x); }},   {"tanh", [](double x) { return std::tanh(x); }},
      {"tan", [](double x) { return std::tan(x); }},     {"rint", [](double x) { return std::rint(x); }},
      {"lrint", [](double x) { return std::rint(x); }},  {"nearbyint", [](double x) { return std::rint(x); }},
      {"lround", [](double x) { return std::round(x); }}};
  if (name.ends_with("f") && (one.contains(name.substr(0, name.size() - 1)) || name == "powf")) name.pop_back();
  const unsigned count = call->getNumArgs();
  const auto result = [&](Value v) -> Value {
    if (call->isLValue()) return Value::pointer_to(temporary(std::move(v)));
    return converted(std::move(v), call->getType());
  };
  if (const auto f = one.find(name); f != one.end() && count == 1) {
    const Value x = evaluate(call->getArg(0));
    if (!x.is_number()) return x.known() ? Value::not_known(name, line_of(call)) : x;
    return result(Value::of_real(f->second(x.number())));
  }
  if (name == "abs" && count == 1) {
    const Value x = evaluate(call->getArg(0));
    if (x.is_integer()) return result(Value::of(std::abs(x.integer)));
    if (x.kind == Value::Kind::real) return result(Value::of_real(std::fabs(x.real)));
    return x;
  }
  if (count == 2 && (name == "pow" || name == "fmod" || name == "fmax" || name == "fmin")) {
    const Value x = evaluate(call->getArg(0)), y = evaluate(call->getArg(1));
    if (!x.is_number() || !y.is_number()) return x.is_number() ? y : x;
    const double a = x.number(), b = y.number();
    return result(Value::of_real(name == "pow"    ? std::pow(a, b)
                                 : name == "fmod" ? std::fmod(a, b)
                                 : name == "fmax" ? std::fmax(a, b)
                                                  : std::fmin(a, b)));
  }
  if (name == "MIN" || name == "MAX") name = name == "MIN" ? "min" : "max";  // macros of a header that is not there
  if (count == 2 && (name == "max" || name == "min")) {
    const Value x = evaluate(call->getArg(0)), y = evaluate(call->getArg(1));
    if (!x.is_number() || !y.is_number())
      return call->isLValue() ? Value::pointer_to(temporary(x.is_number() ? y : x)) : x.is_number() ? y : x;
    const bool first_less = x.number() < y.number();
    return result((name == "min") == first_less ? x : y);
  }
  return std::nullopt;
}

// std::vector: key -1 is the pointer to its elements, -2 their number; the class's own code is not evaluated.
Value Interpreter::construct_vector(const clang::CXXConstructExpr* e) {
  const auto* arguments = llvm::dyn_cast<clang::ClassTemplateSpecializationDecl>(e->getConstructor()->getParent());
  const int line = line_of(e);
  if (arguments == nullptr || arguments->getTemplateArgs().size() == 0) return Value::not_known("std::vector", line);
  const std::int64_t size = size_of(arguments->getTemplateArgs()[0].getAsType());
  auto memory = std::make_shared<Memory>();
  Value number = Value::of(0);
  Value content = Value::of(0);
  std::vector<const clang::Expr*> given;
  for (const clang::Expr* a : e->arguments())
    if (!llvm::isa<clang::CXXDefaultArgExpr>(a)) given.push_back(a);
  if (!given.empty()) {
    const clang::QualType first = given[0]->getType();
    if (first->isIntegralOrEnumerationType()) {
      number = evaluate(given[0]);
      if (given.size() > 1 && !given[1]->getType()->isRecordType()) content = copied(evaluate(given[1]));
    } else if (given.size() >= 2 && (first->isPointerType() || is_iterator(first))) {
      number = binary(clang::BO_Sub, evaluate(given[1]), evaluate(given[0]), first, context_.LongTy, line);
      content = Value::not_known("a copy", line);
    } else if (const auto* l = llvm::dyn_cast<clang::CXXStdInitializerListExpr>(given[0]->IgnoreParenImpCasts())) {
      const auto* list =
          llvm::dyn_cast<clang::InitListExpr>(l->getSubExpr()->IgnoreParenImpCasts()->IgnoreUnlessSpelledInSource());
      Value elements = allocation(Value::of(0), line, false, false);
      if (list != nullptr) {
        for (unsigned k = 0; k < list->getNumInits(); ++k)
          elements.place.memory->slots[k] = copied(evaluate(list->getInit(k)));
        elements.place.memory->bytes = Value::of(list->getNumInits() * size);
        memory->slots[-1] = elements;
        memory->slots[-2] = Value::of(list->getNumInits());
        return Value::object_of(memory);
      }
      number = Value::not_known("a list of values", line);
    } else {
      number = Value::not_known("a range", line);
    }
  }
  memory->slots[-2] = number;
  Value elements = allocation(number.is_integer() ? Value::of(number.integer * size) : number, line, false, false);
  elements.place.memory->rest = content;
  memory->slots[-1] = elements;
  return Value::object_of(memory);
}

/// What push_back() and emplace_back() add.
Value Interpreter::new_element(const clang::CallExpr* call, clang::QualType type, unsigned first) {
  if (is_std(class_of(type), {"thread", "jthread"}) &&
      !is_std(class_of(call->getArg(first)->getType()), {"thread", "jthread"}))
    return construct_thread(call->getArgs() + first, call->getNumArgs() - first);
  return copied(evaluate(call->getArg(first)));
}

std::optional<Value> Interpreter::vector_call(const clang::CallExpr* call, const clang::CXXMethodDecl* method) {
  if (method == nullptr || !method->getParent()->isInStdNamespace() || method->getParent()->getName() != "vector")
    return std::nullopt;
  const auto* specialization = llvm::dyn_cast<clang::ClassTemplateSpecializationDecl>(method->getParent());
  if (specialization == nullptr) return std::nullopt;
  const std::int64_t size = size_of(specialization->getTemplateArgs()[0].getAsType());
  const int line = line_of(call);
  const auto* member = llvm::dyn_cast<clang::CXXMemberCallExpr>(call);
  const clang::Expr* object = member != nullptr        ? member->getImplicitObjectArgument()
                              : call->getNumArgs() > 0 ? call->getArg(0)
                                                       : nullptr;
  if (object == nullptr) return std::nullopt;
  Value self;
  Place place;
  if (object->getType()->isPointerType()) {
    const Value pointer = evaluate(object);
    if (pointer.kind == Value::Kind::pointer) place = pointer.place;
  } else {
    place = place_of(object);
  }
  if (place.memory != nullptr) self = load(place, object);
  if (self.kind == Value::Kind::object && self.place.memory &&
      self.place.memory->slots.count(-1) == 0) {  // of an array or a member
    self.place.memory->slots[-1] = allocation(Value::of(0), line, true, false);
    self.place.memory->slots[-2] = Value::of(0);
  }
  if (self.kind != Value::Kind::object || !self.place.memory) return unknown_call(call, "std::vector");
  auto& slots = self.place.memory->slots;
  Value data = slots[-1];
  const std::string name = method->getNameAsString();
  const auto argument_at = [&](unsigned k) { return call->getArg(member != nullptr ? k : k + 1); };
  const unsigned count = call->getNumArgs() - (member != nullptr ? 0 : 1);
  if (data.kind != Value::Kind::pointer || !data.place.memory) return unknown_call(call, "std::vector");
  const auto resize = [&](const Value& number) {
    slots[-2] = number;
    data.place.memory->bytes = number.is_integer() ? Value::of(number.integer * size) : number;
  };
  if (name == "size") return slots[-2];
  if (name == "empty") return slots[-2].is_integer() ? Value::of(slots[-2].integer == 0) : slots[-2];
  if (name == "data") return data;
  if (name == "operator[]" || name == "at") {
    const Value index = evaluate(argument_at(0));
    if (!index.is_integer()) return Value::not_known("an element", line);
    return Value::pointer_to({data.place.memory, index.integer});
  }
  if (name == "front") return Value::pointer_to({data.place.memory, 0});
  if (name == "back")
    return slots[-2].is_integer() ? Value::pointer_to({data.place.memory, slots[-2].integer - 1}) : slots[-2];
  if ((name == "resize" || name == "assign") && count >= 1 &&
      argument_at(0)->getType().getNonReferenceType()->isIntegralOrEnumerationType()) {
    resize(evaluate(argument_at(0)));
    if (data.place.memory->rest.unknown.why.empty() && !data.place.memory->rest.known())
      data.place.memory->rest = Value::of(0);
    return Value::of(0);
  }
  if ((name == "push_back" || name == "emplace_back") && slots[-2].is_integer()) {
    data.place.memory->slots[slots[-2].integer] =
        count >= 1 ? new_element(call, specialization->getTemplateArgs()[0].getAsType(), member != nullptr ? 0 : 1)
                   : Value::not_known("an element", line);
    resize(Value::of(slots[-2].integer + 1));
    return Value::of(0);
  }
  if (name == "insert" && count >= 2 && slots[-2].is_integer()) {
    const Value at = evaluate(argument_at(0));
    const auto added = inserted(call, argument_at(1), count == 3 ? argument_at(2) : nullptr);
    if (added && at.kind == Value::Kind::pointer && at.place.memory == data.place.memory) {
      insert_elements(*data.place.memory, at.place.key, *added);
      resize(Value::of(slots[-2].integer + static_cast<std::int64_t>(added->size())));
      return at;
    }
  }
  if (name == "pop_back" && slots[-2].is_integer()) {
    resize(Value::of(slots[-2].integer - 1));
    return Value::of(0);
  }
  if (name == "clear") {
    resize(Value::of(0));
    return Value::of(0);
  }
  if (name == "reserve" || name == "shrink_to_fit") return Value::of(0);
  if (name == "operator=" && count == 1) {
    Value value = copied(evaluate(argument_at(0)));
    store(place, value);
    return Value::pointer_to(place);
  }
  if (name == "begin" || name == "cbegin") return data;
  if (name == "end" || name == "cend")
    return slots[-2].is_integer() ? Value::pointer_to({data.place.memory, slots[-2].integer}) : slots[-2];
  const bool constant = method->isConst();
  if (!constant) resize(Value::not_known("std::vector::" + name + "()", line));
  return Value::not_known("std::vector::" + name + "()", line);
}

}  // namespace kernelcast::frontend::host
