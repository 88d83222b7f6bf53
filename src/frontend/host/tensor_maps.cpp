// Tensor maps: of what cuTensorMapEncodeTiled writes, the box is kept, which is all that a copy's cost depends on.
// Programs call it by its name or through a pointer that the runtime gives them, so it is known by its type.
#include "frontend/host/interpreter.h"

namespace kernelcast::frontend::host {
namespace {

constexpr unsigned kEncodeParameters = 12;
constexpr std::int64_t kMostRank = 5;

bool points_to_tensor_map(const clang::Expr* e) {
  const clang::QualType type = e->IgnoreParenImpCasts()->getType();
  const clang::QualType pointee = type->isPointerType() ? type->getPointeeType() : clang::QualType();
  const auto* record = pointee.isNull() ? nullptr : pointee->getAsCXXRecordDecl();
  return record != nullptr && record->getName() == "CUtensorMap_st";
}

/// Bits of an element by CUtensorMapDataType (CUDA driver API, "Tensor Map Object Management"); 0: of a later version.
std::int64_t element_bits(std::int64_t type) {
  constexpr std::int64_t bits[] = {8, 16, 32, 32, 64, 64, 16, 32, 64, 16, 32, 32, 32, 4, 4, 6};
  return type >= 0 && type < std::ssize(bits) ? bits[type] : 0;
}

}  // namespace

std::optional<Value> Interpreter::tensor_map_call(const clang::CallExpr* call) {
  if (call->getNumArgs() != kEncodeParameters || !points_to_tensor_map(call->getArg(0))) return std::nullopt;
  const int line = line_of(call);
  std::vector<Value> given;
  for (const clang::Expr* a : call->arguments()) given.push_back(evaluate(a));
  const Value &into = given[0], &type = given[1], &rank = given[2], &box = given[6];
  if (into.kind != Value::Kind::pointer || !into.place.memory) return Value::of(0);
  auto memory = std::make_shared<Memory>();
  memory->rest = Value::not_known("contents of a tensor map", line);
  HostTensorMap map;
  const std::int64_t bits = type.is_integer() ? element_bits(type.integer) : 0;
  bool known = bits > 0 && rank.is_integer() && rank.integer >= 1 && rank.integer <= kMostRank &&
               (box.kind == Value::Kind::pointer || box.kind == Value::Kind::object) && box.place.memory != nullptr;
  for (std::int64_t d = 0; known && d < rank.integer; ++d) {
    const Value size = load({box.place.memory, box.place.key + d}, call);
    known = size.is_integer() && size.integer > 0;
    map.box.push_back(size.integer);
  }
  if (known) {
    if (bits % 8 != 0) map.box[0] = map.box[0] * bits / 8;  // packed: 4 and 6 bits
    map.element_bytes = std::max<std::int64_t>(1, bits / 8);
    memory->tensor_map = std::move(map);
  }
  store(into.place, Value::object_of(std::move(memory)));
  return Value::of(0);
}

/// Of a map that is passed by value, or of one that a pointer leads to.
std::optional<HostTensorMap> Interpreter::tensor_map_in(const Value& value) {
  const MemoryRef& memory = value.place.memory;
  if (value.kind == Value::Kind::object) return memory == nullptr ? std::nullopt : memory->tensor_map;
  if (value.kind != Value::Kind::pointer || memory == nullptr) return std::nullopt;
  const auto held = memory->slots.find(value.place.key);
  return held == memory->slots.end() || held->second.kind != Value::Kind::object ? std::nullopt
                                                                                 : tensor_map_in(held->second);
}

/// Whether a copy of memory was one of an encoded map.
bool Interpreter::copy_tensor_map(const Value& into, const Value& from) {
  if (into.kind != Value::Kind::pointer || !into.place.memory || from.kind != Value::Kind::pointer ||
      !tensor_map_in(from))
    return false;
  store(into.place, copied(from.place.memory->slots.at(from.place.key)));
  return true;
}

}  // namespace kernelcast::frontend::host
