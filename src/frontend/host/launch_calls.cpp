// Launches as the program comes to them.
#include <algorithm>
#include <set>

#include "frontend/host/interpreter.h"
#include "frontend/source/instance_name.h"

namespace kernelcast::frontend::host {
namespace {

std::string printed(const HostNumber& n) {
  if (const auto* v = std::get_if<std::int64_t>(&n)) return std::to_string(*v);
  return "?" + std::get<HostUnknown>(n).name;
}

std::string printed(const HostBuffer& b) { return b.elements ? std::to_string(*b.elements) : "?"; }

std::string printed(const HostArgument& a) {
  if (const auto* v = std::get_if<std::int64_t>(&a.value)) return std::to_string(*v);
  if (const auto* v = std::get_if<double>(&a.value)) return std::to_string(*v);
  if (const auto* b = std::get_if<HostBuffer>(&a.value)) return printed(*b);
  if (const auto* s = std::get_if<HostStructure>(&a.value)) {
    std::string text = s->bytes + s->known;
    for (const auto& [offset, buffer] : s->pointers) text += "," + std::to_string(offset) + printed(buffer);
    return text;
  }
  if (const auto* m = std::get_if<HostTensorMap>(&a.value)) return m->text();
  if (const auto* u = std::get_if<HostUnknown>(&a.value)) return "?" + u->name;
  return "-";
}

/// As the definition has it: a declaration before it may give another name, or none.
std::string name_in_definition(const clang::ParmVarDecl* parameter) {
  const auto* function = llvm::dyn_cast<clang::FunctionDecl>(parameter->getDeclContext());
  const clang::FunctionDecl* defined = function == nullptr ? nullptr : function->getDefinition();
  if (defined == nullptr && function != nullptr) defined = function->getTemplateInstantiationPattern();
  const unsigned at = parameter->getFunctionScopeIndex();
  return (defined != nullptr && at < defined->getNumParams() ? defined->getParamDecl(at) : parameter)
      ->getNameAsString();
}

}  // namespace

HostNumber Interpreter::dimension(const Value& value, int axis) {
  if (!value.known()) return value.unknown;
  if (value.is_number()) return axis == 0 ? static_cast<std::int64_t>(value.number()) : 1;
  if (value.kind == Value::Kind::object && value.place.memory) {
    const auto slot = value.place.memory->slots.find(dimension_key(axis));
    const Value& v = slot == value.place.memory->slots.end() ? value.place.memory->rest : slot->second;
    if (v.is_integer()) return v.integer;
    return v.known() ? HostNumber(HostUnknown{"", "it is no number", 0}) : HostNumber(v.unknown);
  }
  return HostUnknown{"", "it is no number", 0};
}

std::int64_t Interpreter::number_of(const MemoryRef& memory) {
  const auto found = std::find(arrays_.begin(), arrays_.end(), memory);
  if (found != arrays_.end()) return found - arrays_.begin() + 1;
  arrays_.push_back(memory);
  return static_cast<std::int64_t>(arrays_.size());
}

/// At the end: what else uses an array is known then.
void Interpreter::mark_arrays() {
  const auto mark = [&](HostBuffer& b) {
    if (b.array > 0 && arrays_[static_cast<std::size_t>(b.array - 1)]->used_elsewhere) b.array = -1;
  };
  for (HostLaunch& launch : program_.launches)
    for (HostArgument& a : launch.args) {
      if (auto* b = std::get_if<HostBuffer>(&a.value)) mark(*b);
      if (auto* s = std::get_if<HostStructure>(&a.value))
        for (auto& [offset, buffer] : s->pointers) mark(buffer);
    }
}

/// How many elements the type points to: more than one where it points to rows of a matrix.
std::int64_t Interpreter::in_elements(clang::QualType pointer) const {
  if (pointer.isNull() || !pointer->isPointerType()) return 1;
  const clang::QualType pointee = pointer->getPointeeType();
  if (!pointee->isArrayType()) return 1;
  const std::int64_t size = size_of(context_.getBaseElementType(pointee));
  return size > 0 ? size_of(pointee) / size : 1;
}

/// What a pointer of the type leads to.
HostBuffer Interpreter::buffer_at(const Value& value, clang::QualType type) {
  const bool pointer = !type.isNull() && type->isPointerType();
  HostBuffer b;
  const std::int64_t size = pointer && !type->getPointeeType()->isVoidType() ? size_of(type->getPointeeType()) : 1;
  const auto& bytes = value.place.memory->bytes;
  const std::int64_t places = bytes && bytes->is_integer() && size > 0 ? bytes->integer / size - value.place.key : 0;
  if (bytes && bytes->is_integer() && size > 0)
    b.elements = places * in_elements(type);
  else
    b.unknown = bytes && !bytes->known() ? bytes->unknown : HostUnknown{"", "its size is not known", 0};
  b.in_host_memory = value.place.memory->in_host_memory;
  b.array = number_of(value.place.memory);
  b.offset_bytes = value.place.key * size;
  if (b.elements && pointer) add_contents(value, type->getPointeeType(), places, b);
  return b;
}

HostStructure Interpreter::structure(clang::QualType type, const Value& value) {
  HostStructure s;
  const auto size = static_cast<std::size_t>(size_of(type));
  s.bytes.assign(size, '\0');
  s.known.assign(size, '\0');
  add_fields(s, 0, type, value);
  return s;
}

HostArgument Interpreter::argument(const clang::ParmVarDecl* parameter, const Value& value) {
  HostArgument a;
  a.name = parameter == nullptr ? "" : name_in_definition(parameter);
  const clang::QualType type = parameter == nullptr ? clang::QualType() : parameter->getType();
  const bool pointer = !type.isNull() && type->isPointerType();
  if (const auto map = tensor_map_in(value)) {
    a.value = *map;
    return a;
  }
  switch (value.kind) {
    case Value::Kind::unknown:
      if (pointer)
        a.value = HostBuffer{.elements = std::nullopt, .unknown = value.unknown, .contents = {}, .fill = {}};
      else if (!type.isNull() && type->isRecordType())
        a.value = HostOther{"structure"};
      else
        a.value = value.unknown;
      break;
    case Value::Kind::integer:
      if (!type.isNull() && type->isRealFloatingType())
        a.value = static_cast<double>(value.integer);
      else
        a.value = value.integer;
      if (pointer) a.value = HostOther{value.integer == 0 ? "null pointer" : "address"};
      break;
    case Value::Kind::wide:
      a.value = HostOther{"whole number of 128 bits"};
      break;
    case Value::Kind::real:
      a.value = value.real;
      break;
    case Value::Kind::pointer:
      if (value.place.memory == nullptr)
        a.value = HostOther{"null pointer"};
      else
        a.value = buffer_at(value, type);
      break;
    case Value::Kind::object:
      if (!type.isNull() && type->isRecordType())
        a.value = structure(type, value);
      else
        a.value = HostOther{"structure"};
      break;
    case Value::Kind::function:
      a.value = HostOther{"function"};
      break;
  }
  return a;
}

/// The one of the program's further files in which it is defined, or which includes the header that does; else empty.
std::string Interpreter::file_of(const clang::FunctionDecl* kernel) const {
  const clang::FunctionDecl* defined = kernel->getTemplateInstantiationPattern();
  if (defined == nullptr && !kernel->hasBody(defined)) return "";
  const auto& sources = context_.getSourceManager();
  clang::FileID file = sources.getFileID(sources.getExpansionLoc(defined->getLocation()));
  for (;;) {
    const clang::SourceLocation includer = sources.getIncludeLoc(file);
    if (includer.isInvalid()) return "";
    const clang::FileID outer = sources.getFileID(includer);
    if (outer == sources.getMainFileID()) break;
    file = outer;
  }
  const auto entry = sources.getFileEntryRefForID(file);
  const std::string name = entry ? entry->getName().str() : "";
  return std::find(options_.more_files.begin(), options_.more_files.end(), name) != options_.more_files.end() ? name
                                                                                                              : "";
}

std::string Interpreter::symbol_of(const clang::FunctionDecl* kernel) const {
  if (!mangle_->shouldMangleDeclName(kernel)) return kernel->getNameAsString();
  std::string text;
  llvm::raw_string_ostream symbol(text);
  mangle_->mangleName(clang::GlobalDecl(kernel, clang::KernelReferenceKind::Kernel), symbol);
  return text;
}

void Interpreter::record(const clang::FunctionDecl* kernel, const Value& grid, const Value& block, const Value& shared,
                         const std::vector<Value>& arguments, int line, const std::string& file,
                         const std::array<HostNumber, 3>& cluster) {
  HostLaunch launch;
  launch.cluster = cluster;
  launch.kernel = instance_name(*kernel);
  launch.symbol = symbol_of(kernel);
  launch.file = file;
  launch.kernel_file = file_of(kernel);
  if (!kernel->hasBody() && kernel->getTemplateInstantiationPattern() == nullptr) miss(kernel);
  launch.line = line;
  for (std::size_t k = 0; k < arguments.size(); ++k) {
    launch.args.push_back(
        argument(k < kernel->getNumParams() ? kernel->getParamDecl(static_cast<unsigned>(k)) : nullptr, arguments[k]));
    HostArgument& added = launch.args.back();  // of a parameter pack all have one name: further ones go by position
    if (std::any_of(launch.args.begin(), launch.args.end() - 1, [&](const auto& a) { return a.name == added.name; }))
      added.name = std::to_string(k);
  }
  for (std::size_t k = 0; k < arguments.size(); ++k) {
    if (tensor_map_in(arguments[k])) continue;
    const clang::QualType type =
        k < kernel->getNumParams() ? kernel->getParamDecl(static_cast<unsigned>(k))->getType() : clang::QualType();
    const bool only_read = !type.isNull() && type->isPointerType() &&
                           (type->getPointeeType().isConstQualified() || only_reads(kernel, static_cast<unsigned>(k)));
    forget_reachable(arguments[k], !only_read, line);
  }
  add_launch(std::move(launch), grid, block, shared);
}

/// A kernel that no source has: its arguments are not known.
void Interpreter::record_named(const std::string& kernel, const Value& grid, const Value& block, const Value& shared,
                               int line, const std::string& file) {
  HostLaunch launch;
  launch.kernel = launch.symbol = kernel;
  launch.file = file;
  launch.line = line;
  add_launch(std::move(launch), grid, block, shared);
}

void Interpreter::add_launch(HostLaunch launch, const Value& grid, const Value& block, const Value& shared) {
  for (int axis = 0; axis < 3; ++axis) {
    launch.grid[static_cast<std::size_t>(axis)] = dimension(grid, axis);
    launch.block[static_cast<std::size_t>(axis)] = dimension(block, axis);
  }
  launch.shared = dimension(shared, 0);
  std::string key = std::to_string(launch.line) + launch.symbol;
  for (const auto* sizes : {&launch.grid, &launch.block, &launch.cluster})
    for (const HostNumber& n : *sizes) key += "," + printed(n);
  key += "," + printed(launch.shared);
  for (const HostArgument& a : launch.args) key += "," + printed(a);
  for (const auto& [symbol, held] : symbols_)
    if (held.contents.elements) key += "," + symbol->getNameAsString() + held.key;
  launch.more = false;
  for (const Condition& c : conditions_) {
    launch.conditions.push_back(c.text);
    launch.more = launch.more || c.repeats;
  }
  const auto [known, added] = known_launches_.emplace(key, program_.launches.size());
  if (added) {
    launch.globals = globals();
    program_.launches.push_back(std::move(launch));
  } else {
    HostLaunch& first = program_.launches[known->second];
    ++first.repetitions;
    for (std::size_t k = 0; k < first.args.size(); ++k) merge(first.args[k], launch.args[k]);
  }
  // Kernels may write what is no constant.
  std::erase_if(symbols_, [](const auto& s) { return !s.first->template hasAttr<clang::CUDAConstantAttr>(); });
}

/// The entry's first argument stands for those of all launches in it.
void Interpreter::merge(HostArgument& first, const HostArgument& further) {
  auto* structure = std::get_if<HostStructure>(&first.value);
  const auto* same = std::get_if<HostStructure>(&further.value);
  if (structure != nullptr && same != nullptr)
    for (auto& [offset, buffer] : structure->pointers) merge(buffer, &same->pointers.at(offset));
  if (auto* buffer = std::get_if<HostBuffer>(&first.value)) merge(*buffer, std::get_if<HostBuffer>(&further.value));
}

void Interpreter::merge(HostBuffer& first, const HostBuffer* further) {
  if (further != nullptr) contents_left_ += static_cast<std::int64_t>(further->contents.size());  // not handed on
  if (further == nullptr || further->contents != first.contents || further->repeats != first.repeats)
    first.contents.clear();
  if (further == nullptr || further->fill != first.fill) first.fill.clear();
  if (further == nullptr || further->array == first.array) return;
  for (const std::int64_t array : {first.array, further->array})  // launches of the entry have different arrays
    if (array > 0) arrays_[static_cast<std::size_t>(array - 1)]->used_elsewhere = true;
}

Value Interpreter::launch_by_chevrons(const clang::CUDAKernelCallExpr* call) {
  const clang::CallExpr* configuration = call->getConfig();
  const Value one = Value::of(1), none = Value::of(0);
  const auto configured = [&](unsigned k, const Value& otherwise) {
    if (configuration == nullptr || k >= configuration->getNumArgs()) return otherwise;
    const clang::Expr* e = configuration->getArg(k);
    return llvm::isa<clang::CXXDefaultArgExpr>(e) ? otherwise : copied(evaluate(e));
  };
  const Value grid = configured(0, one), block = configured(1, one), shared = configured(2, none);
  const Value callee = evaluate(call->getCallee());
  std::vector<Value> arguments;
  for (const clang::Expr* a : call->arguments()) arguments.push_back(copied(evaluate(a)));
  const auto& sources = context_.getSourceManager();
  const std::string file = sources.getFilename(sources.getExpansionLoc(call->getBeginLoc())).str();
  const clang::FunctionDecl* kernel = call->getDirectCallee();
  if (kernel == nullptr) kernel = callee.function;
  if (kernel == nullptr || !kernel->hasAttr<clang::CUDAGlobalAttr>()) {
    kernel_unknown(call);
    return Value::of(0);
  }
  record(kernel, grid, block, shared, arguments, line_of(call), file);
  return Value::of(0);
}

/// What the attribute cudaLaunchAttributeClusterDimension of a configuration says; 0: there is none.
std::array<HostNumber, 3> Interpreter::cluster_of(const Value& configuration, clang::QualType type,
                                                  const clang::CallExpr* call) {
  std::array<HostNumber, 3> cluster{0, 0, 0};
  const int line = line_of(call);
  const clang::FieldDecl* list = field_named(type->getAsCXXRecordDecl(), "attrs");
  const Value first = field(configuration, type, "attrs", line), count = field(configuration, type, "numAttrs", line);
  if (list == nullptr || first.kind != Value::Kind::pointer || !first.place.memory || !count.is_integer())
    return cluster;
  const clang::QualType attribute = list->getType()->getPointeeType();
  const clang::FieldDecl* held = field_named(attribute->getAsCXXRecordDecl(), "val");
  const clang::FieldDecl* sizes =
      held == nullptr ? nullptr : field_named(held->getType()->getAsCXXRecordDecl(), "clusterDim");
  constexpr std::int64_t most_attributes = 64, cluster_dimension = 4;  // cudaLaunchAttributeClusterDimension
  for (std::int64_t k = 0; sizes != nullptr && k < std::min(count.integer, most_attributes); ++k) {
    const Value one = load({first.place.memory, first.place.key + k}, call);
    const Value id = field(one, attribute, "id", line);
    if (!id.is_integer() || id.integer != cluster_dimension) continue;
    const Value shape = field(field(one, attribute, "val", line), held->getType(), "clusterDim", line);
    for (std::size_t axis = 0; axis < 3; ++axis)
      cluster[axis] = dimension(field(shape, sizes->getType(), std::string(1, static_cast<char>('x' + axis)), line), 0);
  }
  return cluster;
}

Value Interpreter::launch_by_function(const clang::CallExpr* call, const std::string& name) {
  const auto& sources = context_.getSourceManager();
  const std::string file = sources.getFilename(sources.getExpansionLoc(call->getBeginLoc())).str();
  std::vector<Value> given;
  for (const clang::Expr* a : call->arguments()) given.push_back(copied(evaluate(a)));
  const bool extended = name.find("KernelEx") != std::string::npos;
  const std::size_t at = extended ? 1 : 0;
  const clang::FunctionDecl* kernel = at < given.size() ? given[at].function : nullptr;
  if (kernel == nullptr || (!extended && given.size() < 4)) {
    kernel_unknown(call);
    return Value::of(0);
  }
  std::vector<Value> arguments;
  if (extended) {
    const Value configuration = given[0].kind == Value::Kind::pointer ? load(given[0].place, call) : given[0];
    const clang::QualType type = call->getArg(0)->IgnoreParenImpCasts()->getType();
    const clang::QualType record_type = type->isPointerType() ? type->getPointeeType() : type;
    const int line = line_of(call);
    if (name.ends_with("ExC") && given.size() > 2)
      arguments = pointed_arguments(kernel, given[2], call);
    else
      arguments.assign(given.begin() + 2, given.end());
    record(kernel, field(configuration, record_type, "gridDim", line),
           field(configuration, record_type, "blockDim", line),
           field(configuration, record_type, "dynamicSmemBytes", line), arguments, line, file,
           cluster_of(configuration, record_type, call));
    return Value::of(0);
  }
  arguments = pointed_arguments(kernel, given[3], call);
  record(kernel, given[1], given[2], given.size() > 4 ? given[4] : Value::of(0), arguments, line_of(call), file);
  return Value::of(0);
}

}  // namespace kernelcast::frontend::host
