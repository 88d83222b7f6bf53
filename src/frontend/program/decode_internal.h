// The decoder's parts. A value of LLVM becomes a list of registers, one an element; pointers keep constant
// displacements beside the register, so that a load folds them.
#pragma once

#include <map>
#include <string>
#include <vector>

#include "frontend/program/decode_function.h"
#include "kernelcast/address.h"
#include "kernelcast/error.h"
#include "llvm/ADT/DenseMap.h"
#include "llvm/IR/Constants.h"
#include "llvm/IR/DataLayout.h"
#include "llvm/IR/Instructions.h"
#include "llvm/IR/IntrinsicInst.h"
#include "llvm/IR/Operator.h"
#include "ptx/module.h"

namespace kernelcast::frontend {

struct Slots {
  std::vector<std::uint32_t> regs;
  std::int64_t displacement = 0;  // pointers: bytes to add
};

class Decoder {
 public:
  Decoder(llvm::Function& kernel, KernelModel& model, const KernelProfile& profile, const ProfilePlaces& places);
  Program run();

 private:
  // decode.cpp: blocks and control flow
  void place_memory();
  void bind_arguments();
  void number_blocks();
  void decode_block(llvm::BasicBlock& block);
  void decode_instruction(llvm::Instruction& i);
  void end_block(llvm::BasicBlock& block, ProgramBlock& out);
  Edge edge(llvm::BasicBlock& from, llvm::BasicBlock& to);
  void mark_kept();
  void collect_images();
  bool fill_image(const llvm::Constant& c, std::int64_t at, BufferImage& image);
  // decode_values.cpp: types, registers, constants
  std::vector<ValueType> types_of(llvm::Type* type) const;
  std::vector<std::int64_t> places_of(llvm::Type* type, std::int64_t base = 0) const;
  ValueType type_of(llvm::Type* type) const;
  static unsigned width_of(llvm::Type* type);
  std::uint32_t fresh(ValueType t);
  std::uint32_t constant(ValueType t, std::uint64_t low, std::uint64_t high = 0);
  std::uint32_t input(ProgramInput in);
  Slots value(llvm::Value* v);
  Slots constant_value(llvm::Constant* c);
  Slots pointer_constant(llvm::Constant* c);
  std::uint32_t one(llvm::Value* v);  // the only register, pointers with their displacement added
  std::uint32_t materialised(const Slots& s);
  std::uint32_t signed_view(llvm::Value* v, std::uint32_t reg);  // odd widths: sign-extended
  void define(llvm::Value& v, Slots s) { values_[&v] = std::move(s); }
  void define(llvm::Value& v, std::uint32_t reg) { values_[&v] = Slots{{reg}, 0}; }
  std::uint32_t result(llvm::Value& v);  // fresh register for a scalar value
  SimtInstruction& emit(Opcode op, ValueType type, std::uint32_t dst, std::uint32_t a = no_register,
                        std::uint32_t b = no_register, std::uint32_t c = no_register);
  std::uint32_t binary(Opcode op, ValueType type, std::uint32_t a, std::uint32_t b);
  std::uint32_t convert(Opcode op, ValueType from, ValueType to, std::uint32_t a);
  std::uint32_t math(MathFunction f, ValueType type, std::uint32_t a, std::uint32_t b = no_register,
                     std::uint32_t c = no_register);
  void trim(llvm::Type* type, std::uint32_t reg);  // odd widths: drop the bits above
  [[noreturn]] void unsupported(const llvm::Instruction& i, const std::string& what) const;
  // decode_ops.cpp: arithmetic
  bool arithmetic(llvm::Instruction& i);
  void binary_operator(llvm::BinaryOperator& i);
  void comparison(llvm::CmpInst& i);
  void cast_value(llvm::CastInst& i);
  void vector_shape(llvm::Instruction& i);
  // decode_memory.cpp
  void gep(llvm::GEPOperator& i, llvm::Value& into);
  void load(llvm::LoadInst& i);
  void load_from(llvm::Instruction& i, llvm::Value* pointer, llvm::Type* type);
  void store(llvm::StoreInst& i);
  void store_to(llvm::Instruction& i, llvm::Value* pointer, llvm::Value* v);
  void store_register(llvm::Instruction& i, llvm::Value* pointer, ValueType type, std::uint32_t reg);
  void atomic(llvm::Instruction& i, AtomicOp op, llvm::Value* pointer, llvm::Value* operand, llvm::Value* compare);
  void copy(llvm::MemTransferInst& i);
  void fill(llvm::MemSetInst& i);
  int site(llvm::Instruction& i, AccessKind kind, int from, int to);
  Pointing pointing(llvm::Value* pointer) const;
  static bool needed_where_computed(const llvm::Instruction& i);
  void note_element(llvm::Value* pointer, ValueType type);
  // decode_calls.cpp, decode_targets.cpp
  void call(llvm::CallInst& i);
  bool id_call(llvm::Instruction& i);
  bool common_intrinsic(llvm::IntrinsicInst& i);
  bool tabled_intrinsic(llvm::IntrinsicInst& i);
  bool nvidia_intrinsic(llvm::IntrinsicInst& i);
  bool nvidia_math(llvm::IntrinsicInst& i, llvm::StringRef name);
  bool nvidia_warp(llvm::IntrinsicInst& i, llvm::StringRef name);
  bool amd_intrinsic(llvm::IntrinsicInst& i);
  bool math_call(llvm::CallInst& i, const std::string& name);
  bool inline_assembly(llvm::CallInst& i);
  // decode_narrow.cpp
  bool narrow_floats(llvm::CallInst& i, const ptx::Instruction& what);
  bool packed_atomic(llvm::CallInst& i, const ptx::Instruction& what);
  bool narrow_conversion(llvm::CallInst& i, const ptx::Instruction& what);
  std::uint32_t narrow_value(std::uint32_t bits, unsigned lane, ptx::Type t, ValueType as);
  std::uint32_t narrow_bits(std::uint32_t number, ptx::Type t);
  std::uint32_t small_value(std::uint32_t bits, unsigned lane, ptx::Type t);
  std::uint32_t small_bits(std::uint32_t number, ptx::Type t);
  std::uint32_t rounded_toward(std::uint32_t number, ptx::Type t, ptx::Rounding how);
  std::uint32_t moved(std::uint32_t reg, ValueType to);
  std::uint32_t word_of(std::uint32_t reg);
  // decode_ptx.cpp, decode_matrix.cpp
  void ptx_call(llvm::CallInst& i);
  std::uint32_t integer_operand(llvm::CallInst& i, unsigned n, ValueType t);
  void insert_bits(llvm::CallInst& i);
  void extract_bits(llvm::CallInst& i, bool is_signed);
  std::uint32_t selected(ValueType t, std::uint32_t condition, std::uint32_t yes, std::uint32_t no);
  bool ptx_bits(llvm::CallInst& i, const ptx::Instruction& what);
  void copy_async(llvm::CallInst& i);
  void copy_group(llvm::CallInst& i, CopyGroup what);
  void mbarrier(llvm::CallInst& i, const ptx::Instruction& what);
  void copy_in_bulk(llvm::CallInst& i, const ptx::Instruction& what);
  void load_matrix(llvm::CallInst& i, const ptx::Instruction& what);
  void store_matrix(llvm::CallInst& i, const ptx::Instruction& what);
  void transpose_matrix(llvm::CallInst& i, const ptx::Instruction& what);
  void matrix_product(llvm::CallInst& i, const ptx::Instruction& what);
  std::uint32_t matrix_element(std::uint32_t reg, int e, ptx::Type t);
  std::uint32_t from_lane(std::uint32_t value, std::uint32_t lane);  // the value as lane number `lane` has it
  bool odd_bits(llvm::IntrinsicInst& i);
  std::uint32_t lane_mask(llvm::StringRef relation);
  /// For each element of the result: `make(type, element)` gives its register.
  template <class Make>
  void elementwise(llvm::Instruction& i, Make make) {
    Slots out;
    const auto types = types_of(i.getType());
    for (std::size_t k = 0; k < types.size(); ++k) out.regs.push_back(make(types[k], k));
    define(i, std::move(out));
  }
  std::uint32_t element(llvm::Value* v, std::size_t k) {
    const Slots s = value(v);
    if (s.regs.size() == 1) return materialised(s);
    return s.regs.at(k);
  }

  /// element(), of bfloat as f32. `result` makes a value of `type` of what was computed as computed_as() says.
  std::uint32_t operand(llvm::Value* v, std::size_t k);
  static ValueType computed_as(llvm::Type* type, ValueType stored);
  std::uint32_t result(llvm::Type* type, std::uint32_t number);

  llvm::Function& kernel_;
  KernelModel& model_;
  const KernelProfile& profile_;
  const ProfilePlaces& places_;
  const llvm::DataLayout& layout_;
  Program program_;
  llvm::DenseMap<const llvm::Value*, Slots> values_;
  std::map<std::tuple<ValueType, std::uint64_t, std::uint64_t>, std::uint32_t> constants_;
  std::map<std::tuple<int, int, int>, std::uint32_t> ids_;
  llvm::DenseMap<const llvm::BasicBlock*, int> number_;
  std::vector<llvm::BasicBlock*> order_;
  std::vector<int> block_of_code_;  // parallel to program_.code
  std::vector<int> first_access_;   // of each profile block
  std::map<const llvm::Value*, std::int64_t> stack_place_;
  std::vector<std::map<ValueType, int>> element_votes_;
  int current_ = 0;
  SourceLine line_;
};

}  // namespace kernelcast::frontend
