// What the device finds in a buffer: values that the host wrote and copied, in the bytes of the kernel's types.
#include <cstring>
#include <iterator>
#include <set>

#include "clang/AST/RecordLayout.h"
#include "frontend/host/interpreter.h"

namespace kernelcast::frontend::host {
namespace {

constexpr std::int64_t kMostSlots = 1 << 18;     // of one copy
constexpr std::int64_t kMostContents = 1 << 20;  // bytes of a buffer that are handed on
constexpr std::int64_t kMostAlone = 4096;        // bytes of one that are written out although all elements are alike

void forget_all(Memory& memory, int line) {
  memory.slots.clear();
  memory.rest = Value::not_known("a kernel may write it", line);
}

/// What the runtime allocated and pointers in it lead to.
void forget_behind(const Memory& memory, int line, std::set<const Memory*>& seen) {
  if (!seen.insert(&memory).second) return;
  for (const auto& [key, held] : memory.slots) {
    if (held.kind != Value::Kind::pointer && held.kind != Value::Kind::object) continue;
    const MemoryRef inner = held.place.memory;
    if (inner == nullptr || inner->text || inner->tensor_map) continue;
    if (held.kind == Value::Kind::pointer && !inner->for_device) continue;
    forget_behind(*inner, line, seen);
    if (held.kind == Value::Kind::pointer && inner.get() != &memory) forget_all(*inner, line);
  }
}

std::string stands_for_others(const Sample& sample, std::int64_t elements) {
  return "the loop at line " + std::to_string(sample.line) + " is too long to evaluate; the first " +
         std::to_string(std::min(elements, static_cast<std::int64_t>(sample.values.size()))) +
         " elements that it writes stand for the others";
}

bool any_known(const Memory& memory);

bool any_known(const Value& value) {
  return value.kind == Value::Kind::object ? value.place.memory != nullptr && any_known(*value.place.memory)
                                           : value.known();
}

bool any_known(const Memory& memory) {
  return any_known(memory.rest) ||
         std::any_of(memory.slots.begin(), memory.slots.end(), [](const auto& slot) { return any_known(slot.second); });
}

}  // namespace

/// A kernel gets the value: what it may write through it is not known from there. `itself`: also what a pointer points
/// to.
void Interpreter::forget_reachable(const Value& value, bool itself, int line) {
  const MemoryRef memory = value.place.memory;
  if (memory == nullptr || memory->text) return;
  if (value.kind != Value::Kind::pointer && value.kind != Value::Kind::object) return;
  std::set<const Memory*> seen;
  forget_behind(*memory, line, seen);
  if (value.kind == Value::Kind::pointer && itself) forget_all(*memory, line);
}

/// As the program has it, below casts to void*; null: not a pointer to a complete type.
clang::QualType Interpreter::pointee_of(const clang::Expr* pointer) const {
  const clang::QualType type = pointer->IgnoreParenCasts()->getType();
  if (type.isNull()) return {};
  if (const auto* array = context_.getAsArrayType(type)) return array->getElementType();
  return type->isPointerType() && size_of(type->getPointeeType()) > 0 ? type->getPointeeType() : clang::QualType();
}

/// Copies known values; false: they are too many or of types that are not told apart, and the target is as it was.
bool Interpreter::copy_to_device(const clang::Expr* into, const Value& to, const clang::Expr* from, const Value& source,
                                 const Value& bytes, int line) {
  const bool array = source.kind == Value::Kind::object && !from->IgnoreParenCasts()->getType().isNull() &&
                     from->IgnoreParenCasts()->getType()->isArrayType();
  if (to.kind != Value::Kind::pointer || (source.kind != Value::Kind::pointer && !array) || !bytes.is_integer())
    return false;
  const MemoryRef target = to.place.memory, origin = source.place.memory;
  if (target == nullptr || origin == nullptr || target == origin || target->text || origin->text) return false;
  const clang::QualType element = pointee_of(from);
  if (element.isNull() || element->isPointerType()) return false;
  const std::int64_t size = size_of(element);
  const clang::QualType other = into == nullptr ? clang::QualType() : pointee_of(into);
  if (size == 0 || (!other.isNull() && size_of(other) != size)) return false;
  if (!target->bytes || !target->bytes->is_integer() || bytes.integer % size != 0) return false;
  const std::int64_t count = bytes.integer / size, first = to.place.key;
  // Beside a sample, a few elements behind the copy make no difference.
  const std::int64_t most =
      origin->rest.like ? target->bytes->integer - target->bytes->integer / 10 : target->bytes->integer;
  const bool whole = first == 0 && bytes.integer >= most;
  if (!whole && (count > kMostSlots || target->element_bytes != size)) {
    if (first != 0 || count > kMostSlots) return false;
    target->slots.clear();
    if (!target->rest.never_written) target->rest = Value::not_known("contents of memory", line);
  }
  const auto begin = origin->slots.lower_bound(source.place.key);
  const auto end = origin->slots.lower_bound(source.place.key + count);
  if (std::distance(begin, end) > kMostSlots) return false;
  target->element_bytes = size;
  if (whole) {
    target->slots.clear();
    target->rest = copied(origin->rest);
    if (source.place.key != 0 && target->rest.like != nullptr && !target->rest.like->fill(0).empty())
      target->rest.like = nullptr;  // a row would begin elsewhere
  } else {
    for (std::int64_t k = 0; k < count; ++k) target->slots[first + k] = copied(origin->rest);
  }
  for (auto slot = begin; slot != end; ++slot)
    target->slots[first + slot->first - source.place.key] = copied(slot->second);
  return true;
}

/// cudaMemcpyToSymbol(VARIABLE, FROM, BYTES, OFFSET), cudaGetSymbolAddress(&POINTER, VARIABLE): the variable.
const clang::VarDecl* Interpreter::symbol_in(const clang::Expr* e) {
  const clang::Expr* named = e->IgnoreParenCasts();
  if (const auto* address = llvm::dyn_cast<clang::UnaryOperator>(named))
    named = address->getSubExpr()->IgnoreParenCasts();
  const auto* reference = llvm::dyn_cast<clang::DeclRefExpr>(named);
  return reference == nullptr ? nullptr : llvm::dyn_cast<clang::VarDecl>(reference->getDecl());
}

void Interpreter::copy_to_symbol(const clang::CallExpr* call) {
  const int line = line_of(call);
  const clang::VarDecl* symbol = symbol_in(call->getArg(0));
  const Value from = evaluate(call->getArg(1)), bytes = evaluate(call->getArg(2));
  const Value offset = call->getNumArgs() > 3 ? evaluate(call->getArg(3)) : Value::of(0);
  if (symbol == nullptr || symbol->getType()->isDependentType()) return;
  const clang::QualType element = context_.getBaseElementType(symbol->getType());
  const std::int64_t all = size_of(symbol->getType()), size = size_of(element);
  if (size <= 0 || all <= 0) return;
  auto& [memory, contents, key] = symbols_[symbol];
  if (memory == nullptr) memory = allocation(Value::of(all), line, true, true).place.memory;
  if (!offset.is_integer() || offset.integer % size != 0 ||
      !copy_to_device(nullptr, Value::pointer_to({memory, offset.integer / size}), call->getArg(1), from, bytes,
                      line)) {
    symbols_.erase(symbol);
    return;
  }
  contents = {};
  add_contents(Value::pointer_to({memory, 0}), element, all / size, contents);
  if (!contents.contents.empty() || !contents.fill.empty()) contents.elements = all / size;
  key = contents.fill + std::to_string(std::hash<std::string>()(contents.contents));
}

/// What is known of the variables that the host has written.
std::map<std::string, HostBuffer> Interpreter::globals() const {
  std::map<std::string, HostBuffer> known;
  for (const auto& [symbol, held] : symbols_)
    if (held.contents.elements) known[symbol->getNameAsString()] = held.contents;
  return known;
}

/// cudaMemset(): the same byte everywhere. False: in a part of the memory, or in a size that is not known.
bool Interpreter::set_bytes(const clang::Expr* into, const Value& to, const Value& byte, const Value& bytes) {
  Memory& memory = *to.place.memory;
  const bool whole = to.place.key == 0 && memory.bytes && memory.bytes->is_integer() && bytes.is_integer() &&
                     bytes.integer >= memory.bytes->integer;
  if (!whole || !byte.is_integer()) return false;
  const clang::QualType element = pointee_of(into);
  const bool whole_number = !element.isNull() && element->isIntegralOrEnumerationType();
  if (byte.integer != 0 && !whole_number) return false;
  const auto repeated = static_cast<std::int64_t>(0x0101010101010101U * static_cast<unsigned char>(byte.integer));
  memory.slots.clear();
  memory.rest = byte.integer == 0 ? Value::of(0) : converted(Value::of(repeated), element);
  if (!element.isNull()) memory.element_bytes = size_of(element);
  return true;
}

/// memset(), memcpy(), memmove() on the host: one element, or memory as the device's copies have it; else it is not
/// known any more.
void Interpreter::write_memory(const clang::CallExpr* call, bool set, const Value& into, const Value& from,
                               const Value& bytes) {
  const int line = line_of(call);
  const clang::Expr *target = call->getArg(0), *source = call->getArg(1);
  const clang::QualType element = pointee_of(target), other = pointee_of(source);
  const bool zero = set && from.is_integer() && from.integer == 0;
  const bool one = !element.isNull() && bytes.is_integer() && size_of(element) == bytes.integer;
  Memory& memory = *into.place.memory;
  if (one && zero) {
    store(into.place, zero_of(element));
  } else if (one && !set && from.kind == Value::Kind::pointer && from.place.memory != nullptr && !other.isNull() &&
             context_.hasSameUnqualifiedType(element, other)) {
    store(into.place, copied(load(from.place, source)));
  } else if (set ? !set_bytes(target, into, from, bytes) : !copy_to_device(target, into, source, from, bytes, line)) {
    const bool alone = memory.slots.empty() || into.place.key == 0;  // nothing that is known lies beside it
    memory.slots.clear();
    memory.rest = zero && alone
                      ? Value::of(0)
                      : Value::not_known(call->getDirectCallee()->getNameAsString() + "() is not evaluated", line);
  }
}

/// Puts the bytes behind a pointer into `b`, where each value is known. Elements that nobody wrote beside known ones
/// are taken for zero: the program does not depend on them, and random numbers would be some that it never has. Where a
/// long loop was left, what it had written stands for the rest.
void Interpreter::add_contents(const Value& pointer, clang::QualType element, std::int64_t count, HostBuffer& b) {
  const Memory& memory = *pointer.place.memory;
  if (element->isVoidType() || element->isPointerType() || count <= 0) return;
  const std::int64_t size = size_of(element);
  const auto first = memory.slots.lower_bound(pointer.place.key);
  const bool alike = first == memory.slots.end() || first->first >= pointer.place.key + count;
  const bool zero = alike && memory.rest.is_integer() && memory.rest.integer == 0;
  const Sample* sample = alike ? memory.rest.like.get() : nullptr;
  if (size <= 0 || (memory.element_bytes != size && !zero) || (sample == nullptr && !any_known(memory))) return;
  if (sample != nullptr) {
    if (!element->isRealFloatingType() && !(sample->whole && element->isIntegralOrEnumerationType())) return;
    b.fill = sample->fill(pointer.place.key);
    if (!b.fill.empty()) assume(stands_for_others(*sample, count) + ": " + b.fill);
    if (!b.fill.empty()) return;
  }
  std::int64_t repeats = 0;
  if (sample != nullptr)
    count = repeats = std::min(count, static_cast<std::int64_t>(sample->values.size()));
  else if (alike && !memory.rest.never_written && count > kMostAlone / size)
    count = repeats = 1;
  const std::int64_t room = std::min(kMostContents, contents_left_);
  if (count > room / size) return;
  std::string out(static_cast<std::size_t>(count * size), '\0');
  for (std::int64_t k = 0; k < count; ++k) {
    const auto slot = memory.slots.find(pointer.place.key + k);
    const Value& held = sample != nullptr            ? sample->values[static_cast<std::size_t>(k)]
                        : slot == memory.slots.end() ? memory.rest
                                                     : slot->second;
    if (!write_bytes(out, k * size, element, held)) return;
  }
  if (sample != nullptr) assume(stands_for_others(*sample, count));
  contents_left_ -= count * size;
  b.contents = std::move(out);
  b.repeats = repeats;
}

bool Interpreter::write_bytes(std::string& out, std::int64_t at, clang::QualType type, const Value& value) {
  const std::int64_t size = size_of(type);
  if (size <= 0 || at + size > static_cast<std::int64_t>(out.size())) return false;
  if (value.never_written) return true;  // the bytes are zero
  char* to = out.data() + at;
  if (is_wide(type) && value.is_whole()) {
    const Wide wide = value.wide();
    std::memcpy(to, &wide, sizeof wide);
    return true;
  }
  if (type->isIntegralOrEnumerationType()) {
    if (!value.is_integer() || size > 8) return false;
    const Value held = converted(value, type);
    if (!held.is_integer() || held.integer != value.integer) return false;
    std::memcpy(to, &held.integer, static_cast<std::size_t>(size));  // little-endian, as the devices are
    return true;
  }
  if (type->isRealFloatingType()) {
    if (!value.is_number()) return false;
    const double real = value.number();
    const float narrow = static_cast<float>(real);
    if (type->isSpecificBuiltinType(clang::BuiltinType::Float))
      std::memcpy(to, &narrow, sizeof narrow);
    else if (type->isSpecificBuiltinType(clang::BuiltinType::Double))
      std::memcpy(to, &real, sizeof real);
    else
      return false;
    return true;
  }
  if (type->isPointerType()) return value.kind == Value::Kind::pointer && value.place.memory == nullptr;
  if (value.is_integer() && value.integer == 0) return true;  // of memory that was cleared
  if (value.kind != Value::Kind::object || value.place.memory == nullptr) return false;
  const Memory& memory = *value.place.memory;
  if (const auto* array = context_.getAsConstantArrayType(type)) {
    const std::int64_t step = size_of(array->getElementType());
    for (std::int64_t k = 0; step > 0 && k < size / step; ++k) {
      const auto slot = memory.slots.find(k);
      if (!write_bytes(out, at + k * step, array->getElementType(),
                       slot == memory.slots.end() ? memory.rest : slot->second))
        return false;
    }
    return step > 0;
  }
  const auto* record = type->getAsCXXRecordDecl();
  return record != nullptr && write_fields(out, at, record, memory);
}

bool Interpreter::write_fields(std::string& out, std::int64_t at, const clang::CXXRecordDecl* record,
                               const Memory& memory) {
  record = record->getDefinition();
  if (record == nullptr || record->isInvalidDecl() || record->isDynamicClass() || record->getNumVBases() > 0)
    return false;
  if (record->isUnion()) {
    const clang::FieldDecl* member = written_member(record, memory);
    return member != nullptr && write_bytes(out, at, member->getType(), memory.slots.at(key_of(member)));
  }
  const clang::ASTRecordLayout& layout = context_.getASTRecordLayout(record);
  for (const clang::CXXBaseSpecifier& base : record->bases()) {
    const auto* inherited = base.getType()->getAsCXXRecordDecl();
    if (inherited == nullptr ||
        !write_fields(out, at + layout.getBaseClassOffset(inherited).getQuantity(), inherited, memory))
      return false;
  }
  for (const clang::FieldDecl* f : record->fields()) {
    if (f->isBitField()) return false;
    const auto slot = memory.slots.find(key_of(f));
    const std::int64_t offset = static_cast<std::int64_t>(layout.getFieldOffset(f->getFieldIndex())) / 8;
    if (!write_bytes(out, at + offset, f->getType(), slot == memory.slots.end() ? memory.rest : slot->second))
      return false;
  }
  return true;
}

/// What is known of a structure: what nobody wrote is not.
void Interpreter::add_fields(HostStructure& s, std::int64_t at, clang::QualType type, const Value& value) {
  const std::int64_t size = size_of(type);
  if (size <= 0 || at < 0 || at + size > static_cast<std::int64_t>(s.bytes.size())) return;
  const MemoryRef memory = value.place.memory;
  const bool whole = value.kind == Value::Kind::object && memory != nullptr;
  const auto* record = type->getAsCXXRecordDecl();
  const auto* array = context_.getAsConstantArrayType(type);
  if (array != nullptr && whole) {
    const std::int64_t step = size_of(array->getElementType());
    for (std::int64_t k = 0; step > 0 && k < size / step; ++k) {
      const auto slot = memory->slots.find(k);
      add_fields(s, at + k * step, array->getElementType(), slot == memory->slots.end() ? memory->rest : slot->second);
    }
    return;
  }
  if (record != nullptr && whole) {
    add_members(s, at, record->getDefinition(), *memory);
    return;
  }
  if (type->isPointerType() && value.kind == Value::Kind::pointer && memory != nullptr) {
    s.pointers.emplace(at, buffer_at(value, type));
    return;
  }
  if (!value.known() && record == nullptr && array == nullptr) s.unknown.emplace(at, value.unknown);
  std::string bytes(static_cast<std::size_t>(size), '\0');
  if (value.never_written || !write_bytes(bytes, 0, type, value)) return;
  s.bytes.replace(static_cast<std::size_t>(at), bytes.size(), bytes);
  s.known.replace(static_cast<std::size_t>(at), bytes.size(), bytes.size(), '\1');
}

void Interpreter::add_members(HostStructure& s, std::int64_t at, const clang::CXXRecordDecl* record,
                              const Memory& memory) {
  if (record == nullptr || record->isInvalidDecl() || record->isDynamicClass() || record->getNumVBases() > 0) return;
  if (record->isUnion()) {
    if (const clang::FieldDecl* member = written_member(record, memory))
      add_fields(s, at, member->getType(), memory.slots.at(key_of(member)));
    return;
  }
  if (record->getName() == "dim3") {
    const std::int64_t step = size_of(context_.UnsignedIntTy);
    for (std::int64_t axis = 0; axis < 3; ++axis) {
      const auto slot = memory.slots.find(dimension_key(axis));
      add_fields(s, at + axis * step, context_.UnsignedIntTy, slot == memory.slots.end() ? memory.rest : slot->second);
    }
    return;
  }
  const clang::ASTRecordLayout& layout = context_.getASTRecordLayout(record);
  for (const clang::CXXBaseSpecifier& base : record->bases())
    if (const auto* inherited = base.getType()->getAsCXXRecordDecl())
      add_members(s, at + layout.getBaseClassOffset(inherited).getQuantity(), inherited->getDefinition(), memory);
  for (const clang::FieldDecl* f : record->fields()) {
    if (f->isBitField()) continue;
    const auto slot = memory.slots.find(key_of(f));
    const std::int64_t offset = static_cast<std::int64_t>(layout.getFieldOffset(f->getFieldIndex())) / 8;
    add_fields(s, at + offset, f->getType(), slot == memory.slots.end() ? memory.rest : slot->second);
  }
}

}  // namespace kernelcast::frontend::host
