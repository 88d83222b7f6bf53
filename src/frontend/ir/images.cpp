// On NVIDIA: PTX ISA 8.3, 9.7.10 and 9.7.11 (tex, suld and sust, txq), as inline assembly, which the reader of PTX
// counts like any other. On AMD an image takes a descriptor of eight scalar registers that nobody made here: a comment
// stands in its place, which keeps operands and result alive and counts as nothing.
#include "frontend/ir/images.h"

#include "frontend/ir/builtins.h"
#include "llvm/Demangle/Demangle.h"
#include "llvm/IR/IRBuilder.h"
#include "llvm/IR/InlineAsm.h"
#include "llvm/IR/InstIterator.h"
#include "llvm/IR/Instructions.h"
#include "llvm/IR/Module.h"

namespace kernelcast::frontend {
namespace {

using namespace llvm;

constexpr const char* amd_text = "; image access";

/// What an access takes, whatever function wrote it.
struct ImageAccess {
  bool write = false;
  Value* image = nullptr;
  std::vector<Value*> coordinates;  // 32 bits each
  std::vector<Value*> values;       // of a write: 32 bits each
  Type* element = nullptr;          // of a read: i32 or float
};

std::string braces(unsigned first, std::size_t count) {
  std::string text = "{";
  for (std::size_t k = 0; k < count; ++k) text += (k ? ", $" : "$") + std::to_string(first + k);
  return text + "}";
}

char letter_of(Type* t) { return t->isFloatTy() ? 'f' : 'r'; }

/// The four words that a read gives.
std::vector<Value*> emit_access(IRBuilder<>& b, const ImageAccess& a, TargetFamily family) {
  const bool nvidia = family == TargetFamily::nvidia;
  std::vector<Value*> coordinates = a.coordinates;
  const std::size_t dimensions = std::min<std::size_t>(3, coordinates.size());
  coordinates.resize(dimensions);
  if (dimensions == 3) coordinates.push_back(coordinates.back());  // PTX takes four for three
  std::vector<Value*> operands{a.image};
  std::string constraints, text;
  const std::size_t results = a.write ? 0 : 4;
  for (std::size_t k = 0; k < results; ++k)
    constraints += std::string("=") + (nvidia ? letter_of(a.element) : 'v') + ",";
  constraints += nvidia ? "l" : "v";
  for (const std::vector<Value*>* list : {static_cast<const std::vector<Value*>*>(&coordinates), &a.values})
    for (Value* v : *list) {
      operands.push_back(v);
      constraints += std::string(",") + (nvidia ? letter_of(v->getType()) : 'v');
    }
  const std::string place =
      "[$" + std::to_string(results) + ", " + braces(static_cast<unsigned>(results) + 1, coordinates.size()) + "]";
  const std::string shape = std::to_string(dimensions) + "d";
  if (!nvidia) {
    text = amd_text;
  } else if (a.write) {
    const std::size_t n = a.values.size();
    text = "sust.b." + shape + (n > 1 ? ".v" + std::to_string(n) : "") + ".b32.trap " + place + ", " +
           braces(static_cast<unsigned>(1 + coordinates.size()), n) + ";";
  } else {
    text = "tex." + shape + ".v4." + (a.element->isFloatTy() ? "f32." : "s32.") +
           (coordinates.front()->getType()->isFloatTy() ? "f32 " : "s32 ") + braces(0, 4) + ", " + place + ";";
  }
  Type* result = a.write ? b.getVoidTy() : StructType::get(b.getContext(), std::vector<Type*>(4, a.element));
  std::vector<Type*> types;
  for (const Value* v : operands) types.push_back(v->getType());
  auto* assembly = InlineAsm::get(FunctionType::get(result, types, false), text, constraints, a.write);
  CallInst* call = b.CreateCall(assembly, operands);
  if (!a.write) call->setDoesNotAccessMemory();
  std::vector<Value*> words;
  for (unsigned k = 0; k < results; ++k) words.push_back(b.CreateExtractValue(call, k));
  return words;
}

Value* as_address(IRBuilder<>& b, Value* image) {
  return image->getType()->isPointerTy() ? b.CreatePtrToInt(image, b.getInt64Ty())
                                         : b.CreateZExtOrTrunc(image, b.getInt64Ty());
}

/// A scalar or vector as words of 32 bits; `most`: no more of them.
std::vector<Value*> words_of(IRBuilder<>& b, Value* v, std::size_t most) {
  std::vector<Value*> words;
  const auto add = [&](Value* e) {
    if (e->getType()->isHalfTy()) e = b.CreateFPExt(e, b.getFloatTy());
    if (e->getType()->isIntegerTy()) e = b.CreateZExtOrTrunc(e, b.getInt32Ty());
    if (words.size() < most) words.push_back(e);
  };
  auto* vector = dyn_cast<FixedVectorType>(v->getType());
  if (vector == nullptr)
    add(v);
  else
    for (unsigned k = 0; k < vector->getNumElements(); ++k) add(b.CreateExtractElement(v, k));
  return words;
}

std::uint64_t constant_in(const Value* v, std::uint64_t otherwise) {
  const auto* c = dyn_cast<ConstantInt>(v);
  return c == nullptr ? otherwise : c->getZExtValue();
}

/// kc_texture_read(texel, bytes, object, dimensions, x, y, z) and kc_texture_write with the same.
void lower_texture(CallInst& call, bool write, TargetFamily family) {
  IRBuilder<> b(&call);
  ImageAccess a;
  a.write = write;
  a.image = as_address(b, call.getArgOperand(2));
  Value* texel = call.getArgOperand(0);
  const std::uint64_t bytes = constant_in(call.getArgOperand(1), 4);
  const auto dimensions = static_cast<unsigned>(constant_in(call.getArgOperand(3), 2));
  for (unsigned k = 0; k < std::clamp(dimensions, 1U, 3U); ++k) a.coordinates.push_back(call.getArgOperand(4 + k));
  const std::uint64_t words = std::clamp<std::uint64_t>(bytes / 4, 1, 4);
  Type* part = bytes >= 4 ? b.getInt32Ty() : bytes >= 2 ? b.getInt16Ty() : static_cast<Type*>(b.getInt8Ty());
  const auto place = [&](std::uint64_t k) { return b.CreateConstGEP1_64(b.getInt32Ty(), texel, k); };
  if (write) {
    const std::uint64_t count = words == 3 ? 4 : words;
    for (std::uint64_t k = 0; k < count; ++k)
      a.values.push_back(k < words ? b.CreateZExt(b.CreateAlignedLoad(part, place(k), Align(1)), b.getInt32Ty())
                                   : static_cast<Value*>(b.getInt32(0)));
    emit_access(b, a, family);
  } else {
    a.element = b.getInt32Ty();
    const std::vector<Value*> read = emit_access(b, a, family);
    for (std::uint64_t k = 0; k < words; ++k) b.CreateAlignedStore(b.CreateTrunc(read[k], part), place(k), Align(1));
  }
  call.eraseFromParent();
}

Value* query(IRBuilder<>& b, Value* image, bool width, TargetFamily family) {
  const bool nvidia = family == TargetFamily::nvidia;
  const std::string text = !nvidia ? amd_text : width ? "txq.width.b32 $0, [$1];" : "txq.height.b32 $0, [$1];";
  auto* assembly =
      InlineAsm::get(FunctionType::get(b.getInt32Ty(), {b.getInt64Ty()}, false), text, nvidia ? "=r,l" : "=v,v", false);
  CallInst* call = b.CreateCall(assembly, {image});
  call->setDoesNotAccessMemory();
  return call;
}

/// `v` as the type that the function returns: element by element, what is wider or narrower converted.
Value* as_result(IRBuilder<>& b, const std::vector<Value*>& words, Type* type) {
  const auto fitted = [&](Value* v, Type* t) -> Value* {
    if (v->getType() == t) return v;
    if (t->isHalfTy()) return b.CreateFPTrunc(v, t);
    if (t->isIntegerTy()) return b.CreateZExtOrTrunc(v, t);
    return b.CreateBitCast(v, t);
  };
  auto* vector = dyn_cast<FixedVectorType>(type);
  if (vector == nullptr) return fitted(words.front(), type);
  Value* out = PoisonValue::get(vector);
  for (unsigned k = 0; k < vector->getNumElements(); ++k)
    out = b.CreateInsertElement(out,
                                fitted(words[std::min<std::size_t>(k, words.size() - 1)], vector->getElementType()), k);
  return out;
}

/// read_image*(image[, sampler], coordinates[, ...]), write_image*(image, coordinates[, ...], value),
/// get_image_*(image).
void lower_opencl_image(CallInst& call, StringRef name, TargetFamily family) {
  IRBuilder<> b(&call);
  Value* image = as_address(b, call.getArgOperand(0));
  if (name.starts_with("get_image")) {
    Value* size = query(b, image, !name.contains("height"), family);
    call.replaceAllUsesWith(as_result(b, {size}, call.getType()));
    call.eraseFromParent();
    return;
  }
  ImageAccess a;
  a.write = name.starts_with("write");
  a.image = image;
  for (unsigned k = 1; k < call.arg_size() && a.coordinates.empty(); ++k)
    if (!call.getArgOperand(k)->getType()->isPointerTy()) a.coordinates = words_of(b, call.getArgOperand(k), 3);
  if (a.coordinates.empty()) a.coordinates = {b.getInt32(0)};
  if (a.write) {
    a.values = words_of(b, call.getArgOperand(call.arg_size() - 1), 4);
    if (a.values.size() == 3) a.values.push_back(a.values.back());
    emit_access(b, a, family);
  } else {
    a.element =
        call.getType()->getScalarType()->isFloatingPointTy() ? b.getFloatTy() : static_cast<Type*>(b.getInt32Ty());
    call.replaceAllUsesWith(as_result(b, emit_access(b, a, family), call.getType()));
  }
  call.eraseFromParent();
}

bool is_image_function(StringRef symbol) { return symbol.contains("ocl_image"); }

}  // namespace

void lower_image_accesses(Module& module, TargetFamily family) {
  std::vector<CallInst*> calls;
  for (Function& f : module)
    for (Instruction& i : instructions(f))
      if (auto* call = dyn_cast<CallInst>(&i);
          call && call->getCalledFunction() && call->getCalledFunction()->isDeclaration())
        calls.push_back(call);
  for (CallInst* call : calls) {
    const std::string symbol = call->getCalledFunction()->getName().str();
    const std::string name = demangle(symbol);
    if (symbol == "kc_texture_read" || symbol == "kc_texture_write") {
      lower_texture(*call, symbol == "kc_texture_write", family);
    } else if (is_image_function(symbol) && call->arg_size() > 0 &&
               (call->arg_size() > 1 || name.starts_with("get_image"))) {
      lower_opencl_image(*call, name, family);
    } else if (symbol == "__translate_sampler_initializer") {
      call->replaceAllUsesWith(Constant::getNullValue(call->getType()));
      call->eraseFromParent();
    }
  }
}

bool accesses_image(const CallBase& call) {
  if (const auto* assembly = dyn_cast<InlineAsm>(call.getCalledOperand())) {
    const StringRef text = StringRef(assembly->getAsmString()).trim();
    return text == amd_text || text.starts_with("tex.") || text.starts_with("tld4.") || text.starts_with("suld.") ||
           text.starts_with("sust.") || text.starts_with("txq.");
  }
  const Function* callee = call.getCalledFunction();
  return callee != nullptr && (callee->getName().starts_with("kc_texture_") || is_image_function(callee->getName()));
}

}  // namespace kernelcast::frontend
