// A PTX text as plain data: module, functions, instructions, operands.
//
// Names are views into `Module::text` or `Fragment::text`, which the module keeps alive. Places do not take part in
// comparisons: two modules are equal when they say the same.
#pragma once

#include <array>
#include <cstdint>
#include <memory>
#include <string>
#include <string_view>
#include <vector>

#include "ptx/operations.h"
#include "ptx/types.h"

namespace kernelcast::ptx {

/// Line and column in the PTX text, from 1. Equal to every other place.
struct Place {
  std::uint32_t line = 0, column = 0;
  bool operator==(const Place&) const { return true; }
};

/// A `.loc`: where in the source an instruction comes from.
struct Location {
  std::uint32_t file = 0, line = 0, column = 0;  // file: number of a `.file`
  std::int32_t inlined_at = -1;                  // index into Module::locations: the call
  std::string_view function;                     // label of the inlined function's name in .debug_str; empty: none
  std::int64_t function_offset = 0;
  bool operator==(const Location&) const = default;
};

struct File {
  std::uint32_t number = 0;
  std::string_view path;
  bool operator==(const File&) const = default;
};

/// A string of .debug_str, by its label: names of inlined functions.
struct DebugString {
  std::string_view label, text;
  bool operator==(const DebugString&) const = default;
};

enum class Linkage : std::uint8_t { internal, extern_, visible, weak, common };

/// What a symbol names. `unknown` only in a fragment: a variable or function of the program around it.
enum class SymbolKind : std::uint8_t { unknown, global, function, param, return_, local };

/// `index` into Module::globals, Module::functions, Function::params, ::returns or ::variables.
struct Symbol {
  std::string_view name;  // unique in its function or module, not always as written
  SymbolKind kind = SymbolKind::unknown;
  std::int32_t index = -1;
  bool operator==(const Symbol&) const = default;
};

/// An element of an initializer that is an address.
struct AddressValue {
  std::uint64_t element = 0;  // of the flat initializer
  Symbol symbol;
  std::int64_t offset = 0;
  bool generic = false;    // generic(symbol)
  std::uint64_t mask = 0;  // mask(symbol), e.g. 0xff00; 0: the whole address
  bool operator==(const AddressValue&) const = default;
};

/// A variable of any space but .reg: globals, parameters, shared and local arrays, parameters of calls.
struct Variable {
  std::string_view name;
  Space space = Space::generic;
  Type type = Type::none;
  std::uint8_t vector = 1;  // .v2 .v4
  Linkage linkage = Linkage::internal;
  bool is_array = false;
  bool unsized = false;                   // the first dimension is [] : extern shared memory
  std::uint32_t alignment = 0;            // bytes; 0: none written, the element's size
  std::vector<std::uint64_t> dimensions;  // 0 for []
  bool is_pointer = false;                // .ptr of a parameter
  Space pointer_space = Space::generic;
  std::uint32_t pointer_alignment = 0;  // bytes; 0: none written
  bool has_initializer = false;
  std::vector<std::uint64_t> values;  // flat, without zeros at the end; floating point as bits of the type
  std::vector<AddressValue> addresses;
  std::vector<std::string_view> attributes;  // .attribute(...), as written
  Place place;
  bool operator==(const Variable&) const = default;
};

/// Bytes of an element (vector included), and of the whole variable; 0 for an unsized one.
std::uint64_t element_bytes(const Variable& variable);
std::uint64_t bytes_of(const Variable& variable);
/// As written, or the element's size.
std::uint64_t alignment_of(const Variable& variable);

/// One declaration: `.reg .b32 %r<100>;` or one name of `.reg .pred p, q;`.
struct RegisterGroup {
  std::string_view name;  // unique in the function
  Type type = Type::none;
  std::uint8_t vector = 1;
  bool numbered = false;               // name0, name1, ...
  std::uint32_t first = 0, count = 1;  // indices of registers
  bool operator==(const RegisterGroup&) const = default;
};

struct Register {
  Type type = Type::none;
  std::uint8_t vector = 1;
  std::uint32_t group = 0;
  bool operator==(const Register&) const = default;
};

enum class OperandKind : std::uint8_t {
  sink,     // _
  reg,      // %r1, !%p1, %v.x
  special,  // %tid.x
  integer,  // 4, -1, 0xffU
  real,     // 0f3F800000, 0d..., 1.5
  symbol,   // smem+4 as a value: the address of a variable or function
  address,  // [%rd1+8], [smem+4], [4096], [%rd1, {%r1, %r2}]
  vector,   // {%f1, %f2, _}
  pair,     // %p1|%p2
  list,     // (a, b) of a call
  label,    // target of a branch
  table,    // .branchtargets, .calltargets or .callprototype
};

struct Operand {
  OperandKind kind = OperandKind::sink;
  bool negated = false;        // !p
  bool minus = false;          // -r of vmad
  bool unified = false;        // address: [p].unified
  std::uint8_t real_bits = 0;  // real: 32 or 64
  bool is_unsigned = false;    // integer: written with U, or above the signed range
  /// address: what the base is: reg, symbol, integer (an absolute address, in `bits`), special never.
  OperandKind base = OperandKind::sink;
  /// reg (address: base register): index into Function::registers. label: index into Function::labels.
  /// special: index into special_registers(). table: index into Function::tables.
  std::int32_t index = -1;
  std::uint64_t bits = 0;      // integer: two's complement; real: bits of a float or double
  std::int64_t offset = 0;     // symbol, address
  Symbol symbol;               // symbol, address with a symbol as base
  std::string_view component;  // x y z w (r g b a are written so, too), b0..b3, h0, h1 and such; empty: none
  /// vector, pair, list: elements. address: what follows the first comma: coordinates, samplers.
  std::vector<Operand> elements;
  bool operator==(const Operand&) const = default;
};

struct Guard {
  std::int32_t reg = -1;  // -1: none
  bool negated = false;
  bool operator==(const Guard&) const = default;
};

struct MatrixShape {
  std::uint16_t m = 0, n = 0, k = 0;
  bool operator==(const MatrixShape&) const = default;
};

struct Instruction {
  Op op = Op::unknown;
  std::string_view opcode;  // the part that `op` stands for: "ld", "cp.async.bulk.tensor"
  std::vector<std::string_view>
      modifiers;  // what follows, in order, without dots: "global", "L1::no_allocate", "v4", "f32"
  Guard guard;
  std::vector<Operand> operands;  // as written; destination first

  // Decoded from the modifiers.
  std::array<Type, 6> types{};  // in order: cvt.rn.f16.f32: f16, f32; mma: d, a, b, c
  std::uint8_t type_count = 0;
  std::array<Space, 2> spaces{};  // in order: cp.async: destination, source
  std::uint8_t space_count = 0;
  std::uint8_t vector = 1;  // .v2 .v4 .v8
  std::uint8_t repeat = 1;  // .x1 .x2 .. .x128 of matrix loads and stores
  CacheOperator cache = CacheOperator::none;
  Order order = Order::none;
  Scope scope = Scope::none;
  Rounding rounding = Rounding::none;
  Comparison comparison = Comparison::none;
  Combine combine = Combine::none;
  Half half = Half::none;
  MatrixShape shape;  // .m16n8k16; .m8n8 has k = 0

  std::int32_t location = -1;  // index into Module::locations (Fragment::locations): the `.loc` that holds
  Place place;

  [[nodiscard]] bool has(std::string_view modifier) const;
  [[nodiscard]] Type type() const { return types[0]; }
  [[nodiscard]] Space space() const { return spaces[0]; }
  bool operator==(const Instruction&) const = default;
};

/// `at`: index of the instruction that follows; body.size() at the function's end.
struct Label {
  std::string_view name;  // unique in the function
  std::uint32_t at = 0;
  bool operator==(const Label&) const = default;
};

enum class TableKind : std::uint8_t { branch_targets, call_targets, prototype };

/// `name: .branchtargets L1, L2;` and its kin.
struct Table {
  std::string_view name;
  TableKind kind = TableKind::branch_targets;
  std::vector<std::uint32_t> labels;      // branch_targets: indices into Function::labels
  std::vector<Symbol> functions;          // call_targets
  std::vector<Variable> params, returns;  // prototype; names may be "_"
  bool noreturn = false;
  std::int32_t abi_preserve = -1, abi_preserve_control = -1;
  std::uint32_t at = 0;  // index of the instruction that follows
  bool operator==(const Table&) const = default;
};

struct Pragma {
  std::string_view text;
  std::uint32_t at = 0;  // index of the instruction that follows
  bool operator==(const Pragma&) const = default;
};

/// Performance directives. 0 or {0, 0, 0}: not written.
struct Directives {
  std::array<std::uint32_t, 3> maxntid{}, reqntid{}, reqnctapercluster{};
  std::uint32_t maxnreg = 0, minnctapersm = 0, maxnctapersm = 0, maxclusterrank = 0;
  bool explicitcluster = false, blocksareclusters = false, noreturn = false;
  std::int32_t abi_preserve = -1, abi_preserve_control = -1;
  std::vector<std::string_view> pragmas;
  bool operator==(const Directives&) const = default;
};

struct Function {
  std::string_view name;
  bool is_entry = false;
  bool has_body = false;  // false: a declaration
  Linkage linkage = Linkage::internal;
  std::vector<Variable> params, returns;
  Directives directives;
  std::vector<std::string_view> attributes;
  std::vector<RegisterGroup> groups;
  std::vector<Register> registers;
  std::vector<Variable> variables;  // .shared .local .param .const .global of the body, of all its scopes
  std::vector<Label> labels;
  std::vector<Table> tables;
  std::vector<Pragma> pragmas;
  std::vector<Instruction> body;  // scopes are flattened
  Place place;
  bool operator==(const Function&) const = default;
};

/// "%r17"
std::string register_name(const Function& function, std::uint32_t index);

struct Module {
  std::shared_ptr<const std::string> text;  // what was parsed
  std::string name;                         // of the file, for messages
  int version_major = 0, version_minor = 0;
  std::vector<std::string_view> targets;  // sm_90a, and debug, texmode_independent
  int address_size = 64;                  // bits
  std::vector<File> files;
  std::vector<Location> locations;
  std::vector<DebugString> strings;
  std::vector<Variable> globals;
  std::vector<Function> functions;  // declarations, too; a definition takes its declaration's place
  struct Alias {
    std::string_view name, of;
    bool operator==(const Alias&) const = default;
  };
  std::vector<Alias> aliases;
  std::vector<std::string_view> pragmas;
  std::vector<std::string_view> sections;  // `.section name {...}` as written: debug information
};

/// Same contents, whatever the text, the places and the file's name.
bool same(const Module& left, const Module& right);

const Function* find_function(const Module& module, std::string_view name);

/// %tid and its kin, in alphabetic order; an Operand's index refers to it.
struct SpecialRegister {
  std::string_view name;  // "%tid"
  Type type = Type::u32;  // of a component
  bool is_vector = false;
};
const std::vector<SpecialRegister>& special_registers();

}  // namespace kernelcast::ptx
