// One body of PTX as LLVM IR: instruction by instruction, in the order of the text.
//
// A register is a variable of private memory (alloca), which LLVM's SROA makes values of; a predicated instruction is a
// select where it has no effect but its result, else a branch. Addresses are numbers here; recover_pointers() finds the
// pointers in them. What has no counterpart in LLVM becomes a call of `kc.ptx.OPCODE` (ir/ptx_calls.h).
#pragma once

#include <functional>
#include <string>
#include <vector>

#include "llvm/IR/IRBuilder.h"
#include "llvm/IR/Instructions.h"
#include "ptx/module.h"

namespace kernelcast::frontend {

/// Thrown: this instruction cannot be lifted.
struct NotLifted {
  std::string what;  // "vector registers are not taken apart"
  ptx::Place place;
};

/// What the body's names mean outside of it.
struct LiftNames {
  /// A variable as a pointer in its address space; null: unknown. Throws NotLifted itself if it likes.
  std::function<llvm::Value*(const ptx::Symbol&)> variable;
  std::function<llvm::Function*(const ptx::Symbol&)> function;
  std::function<llvm::DebugLoc(std::int32_t location)> location;  // may be empty
  std::function<llvm::DebugLoc(ptx::Place)> line;                 // where there is no location; may be empty
  std::function<void(llvm::IRBuilder<>&)> leave;                  // makes the return; empty: of nothing
  bool rolled = false;                                            // the module has no loop unrolled
};

class Lifter {
 public:
  /// `into` has no blocks yet. `fragment`: the text of an asm statement, which cannot leave the function.
  Lifter(llvm::Function& into, const ptx::Function& code, const LiftNames& names, bool fragment);

  /// For what must be done at the start: the builder of the entry block, and variables of registers.
  llvm::IRBuilder<>& builder() { return b_; }
  llvm::AllocaInst* variable_of(std::uint32_t reg);
  /// Lifts the body. The block that it ends in is left open for the caller, unless it is a kernel's, which returns.
  void run();

 private:
  using Operand = ptx::Operand;
  using Instruction = ptx::Instruction;
  [[noreturn]] void refuse(const std::string& what) const;
  // lifter.cpp: blocks, operands
  void instruction(const Instruction& i);
  void checked_instruction(const Instruction& i);
  void branch_around(const Instruction& i);
  bool control(const Instruction& i);
  void leave();
  void keep_rolled(const std::vector<llvm::BasicBlock*>& headers);
  bool lift(const Instruction& i);
  llvm::BasicBlock* new_block();
  void go_on_in(llvm::BasicBlock* block);
  llvm::Type* storage_type(ptx::Type t) const;
  llvm::Type* value_type(ptx::Type t) const;
  llvm::Value* as(llvm::Value* v, llvm::Type* wanted, bool is_signed);
  llvm::Value* as_integer(llvm::Value* v);
  llvm::Value* read(const Operand& o, ptx::Type t);
  llvm::Value* read_register(std::int32_t reg);
  llvm::Value* special(const Operand& o);
  llvm::Value* constant(const Operand& o, ptx::Type t);
  llvm::Value* guard_value(const Instruction& i);
  void write(const Operand& o, llvm::Value* v, bool is_signed = false);
  llvm::Value* nvvm(const std::string& name, llvm::ArrayRef<llvm::Value*> arguments);
  llvm::Value* pointer(const Operand& o, ptx::Space space);
  llvm::Value* symbol_pointer(const ptx::Symbol& s);
  // lift_arithmetic.cpp
  bool arithmetic(const Instruction& i);
  bool integer_arithmetic(const Instruction& i);
  bool bits(const Instruction& i);
  bool multiply(const Instruction& i);
  bool carry(const Instruction& i);
  llvm::Value* shifted(const Instruction& i, llvm::Value* v, llvm::Value* by);
  bool lookup3(const Instruction& i);
  bool comparison(const Instruction& i);
  llvm::Value* compare(ptx::Comparison c, ptx::Type t, llvm::Value* x, llvm::Value* y);
  // lift_float.cpp
  bool floating(const Instruction& i);
  bool function_of_one(const Instruction& i);
  bool conversion(const Instruction& i);
  llvm::Value* rounded_to_integer(llvm::Value* v, ptx::Rounding how);
  llvm::Value* clamped(llvm::Value* v);
  // lift_memory.cpp
  bool memory(const Instruction& i);
  bool load(const Instruction& i);
  bool store(const Instruction& i);
  bool atomic(const Instruction& i);
  bool move(const Instruction& i);
  llvm::Value* accessed(const Operand& o, ptx::Space space);
  bool convert_address(const Instruction& i);
  bool map_address(const Instruction& i);
  bool call(const Instruction& i);
  // lift_wmma.cpp
  struct Fragment;
  bool wmma(const Instruction& i);
  bool load_operand(const Instruction& i);
  bool move_accumulator(const Instruction& i);
  Fragment fragment(const Instruction& i, std::size_t address, std::size_t stride, int natural_stride);
  llvm::Value* element_of(const Fragment& f, llvm::Value* line, llvm::Value* within);
  // lift_warp.cpp
  bool warp(const Instruction& i);
  // lift_opaque.cpp
  void opaque(const Instruction& i);

  llvm::Function& into_;
  const ptx::Function& code_;
  const LiftNames& names_;
  bool fragment_;
  llvm::IRBuilder<> b_;
  llvm::BasicBlock* entry_ = nullptr;
  std::vector<llvm::AllocaInst*> variables_;
  std::vector<llvm::BasicBlock*> labels_;  // by label
  llvm::AllocaInst* carry_ = nullptr;
  llvm::Value* guard_ = nullptr;  // of the instruction that is being lifted as a select
  const Instruction* at_ = nullptr;
};

/// Address space of LLVM's NVPTX for a state space.
unsigned address_space(ptx::Space space);

}  // namespace kernelcast::frontend
