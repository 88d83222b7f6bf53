#include "ptx/print.h"

#include <algorithm>

namespace kernelcast::ptx {
namespace {

std::string_view linkage_text(Linkage linkage) {
  switch (linkage) {
    case Linkage::internal:
      return "";
    case Linkage::extern_:
      return ".extern ";
    case Linkage::visible:
      return ".visible ";
    case Linkage::weak:
      return ".weak ";
    case Linkage::common:
      return ".common ";
  }
  return "";
}

/// Name behind name: add(", ", ...).
template <typename List, typename Print>
void separated(std::string& out, const List& list, const Print& one) {
  bool first = true;
  for (const auto& entry : list) {
    if (!first) out += ", ";
    first = false;
    one(entry);
  }
}

void print_parameters(std::string& out, const std::vector<Variable>& params) {
  out += '(';
  separated(out, params, [&](const Variable& variable) {
    out += variable.space == Space::reg ? ".reg " : ".param ";
    print_declaration(out, variable);
  });
  out += ')';
}

class BodyPrinter {
 public:
  BodyPrinter(std::string& out, const Module* module, const Function& function)
      : out_(out), module_(module), function_(function) {}

  void body() {
    out_ += "{\n";
    registers();
    for (const Variable& variable : function_.variables) {
      (((out_ += '.') += name_of(variable.space))) += ' ';
      print_declaration(out_, variable);
      print_initializer(out_, variable);
      out_ += ";\n";
    }
    std::size_t label = 0, table = 0, pragma = 0;
    for (std::size_t at = 0; at <= function_.body.size(); ++at) {
      // Labels, tables and pragmas are in the order of the text.
      for (; pragma < function_.pragmas.size() && function_.pragmas[pragma].at == at; ++pragma)
        ((out_ += ".pragma \"") += function_.pragmas[pragma].text) += "\";\n";
      for (; label < function_.labels.size() && function_.labels[label].at == at; ++label)
        (out_ += function_.labels[label].name) += ":\n";
      for (; table < function_.tables.size() && function_.tables[table].at == at; ++table)
        print_table(function_.tables[table]);
      if (at == function_.body.size()) break;
      location(function_.body[at].location);
      out_ += '\t';
      instruction(function_.body[at]);
      out_ += '\n';
    }
    out_ += "}\n";
  }

  void instruction(const Instruction& what) {
    if (what.guard.reg >= 0) {
      out_ += what.guard.negated ? "@!" : "@";
      print_register(what.guard.reg);
      out_ += ' ';
    }
    out_ += what.opcode;
    for (const std::string_view modifier : what.modifiers) (out_ += '.') += modifier;
    if (!what.operands.empty()) out_ += ' ';
    separated(out_, what.operands, [&](const Operand& entry) { operand(entry); });
    out_ += ';';
  }

 private:
  void registers() {
    std::size_t skip = 0;  // those of parameters stand first
    for (const auto* list : {&function_.returns, &function_.params})
      skip += std::ranges::count(*list, Space::reg, &Variable::space);
    for (const RegisterGroup& group : function_.groups) {
      if (skip > 0) {
        --skip;
        continue;
      }
      out_ += ".reg ";
      if (group.vector > 1) out_ += ".v" + std::to_string(group.vector) + " ";
      (((out_ += '.') += name_of(group.type)) += ' ') += group.name;
      if (group.numbered) out_ += "<" + std::to_string(group.count) + ">";
      out_ += ";\n";
    }
  }

  void print_register(std::int32_t index) {
    const RegisterGroup& group = function_.groups[function_.registers[index].group];
    out_ += group.name;
    if (group.numbered) print_integer(out_, static_cast<std::uint32_t>(index) - group.first, false);
  }

  void print_table(const Table& table) {
    out_ += table.name;
    switch (table.kind) {
      case TableKind::branch_targets:
        out_ += ": .branchtargets ";
        separated(out_, table.labels, [&](std::uint32_t label) { out_ += function_.labels[label].name; });
        break;
      case TableKind::call_targets:
        out_ += ": .calltargets ";
        separated(out_, table.functions, [&](const Symbol& symbol) { out_ += symbol.name; });
        break;
      case TableKind::prototype:
        out_ += ": .callprototype ";
        print_parameters(out_, table.returns);
        out_ += " _ ";
        print_parameters(out_, table.params);
        if (table.noreturn) out_ += " .noreturn";
        if (table.abi_preserve >= 0) out_ += " .abi_preserve " + std::to_string(table.abi_preserve);
        if (table.abi_preserve_control >= 0)
          out_ += " .abi_preserve_control " + std::to_string(table.abi_preserve_control);
        break;
    }
    out_ += ";\n";
  }

  /// The calls that it was inlined at first: the reader takes each from the last .loc of its place.
  void location(std::int32_t index) {
    if (module_ == nullptr || index < 0 || index == location_) return;
    location_ = index;
    std::vector<std::int32_t> chain;
    for (std::int32_t at = index; at >= 0; at = module_->locations[at].inlined_at) chain.push_back(at);
    for (std::size_t i = chain.size(); i-- > 0;) {
      const Location& entry = module_->locations[chain[i]];
      const auto point = [&](const Location& of) {
        out_ += std::to_string(of.file) + " " + std::to_string(of.line) + " " + std::to_string(of.column);
      };
      out_ += "\t.loc ";
      point(entry);
      if (!entry.function.empty()) {
        (out_ += ", function_name ") += entry.function;
        print_offset(out_, entry.function_offset);
      }
      if (entry.inlined_at >= 0) {
        out_ += ", inlined_at ";
        point(module_->locations[entry.inlined_at]);
      }
      out_ += '\n';
    }
  }

  void list(const std::vector<Operand>& elements, char open, char close) {
    out_ += open;
    separated(out_, elements, [&](const Operand& entry) { operand(entry); });
    out_ += close;
  }

  void component(const Operand& what) {
    if (!what.component.empty()) (out_ += '.') += what.component;
  }

  void operand(const Operand& what) {
    if (what.negated) out_ += '!';
    if (what.minus) out_ += '-';
    switch (what.kind) {
      case OperandKind::sink:
        out_ += '_';
        break;
      case OperandKind::reg:
        print_register(what.index);
        component(what);
        print_offset(out_, what.offset);
        break;
      case OperandKind::special:
        out_ += special_registers()[what.index].name;
        component(what);
        break;
      case OperandKind::integer:
        print_integer(out_, what.bits, what.is_unsigned);
        break;
      case OperandKind::real:
        print_real(out_, what.bits, what.real_bits);
        break;
      case OperandKind::symbol:
        out_ += what.symbol.name;
        print_offset(out_, what.offset);
        break;
      case OperandKind::address:
        print_address(what);
        break;
      case OperandKind::vector:
        list(what.elements, '{', '}');
        break;
      case OperandKind::pair:
        operand(what.elements[0]);
        out_ += '|';
        operand(what.elements[1]);
        break;
      case OperandKind::list:
        list(what.elements, '(', ')');
        break;
      case OperandKind::label:
        out_ += function_.labels[what.index].name;
        break;
      case OperandKind::table:
        out_ += function_.tables[what.index].name;
        break;
    }
  }

  void print_address(const Operand& what) {
    out_ += '[';
    if (what.base == OperandKind::reg) {
      print_register(what.index);
      component(what);
    } else if (what.base == OperandKind::symbol) {
      out_ += what.symbol.name;
    } else {
      print_integer(out_, what.bits, static_cast<std::int64_t>(what.bits) < 0);
    }
    print_offset(out_, what.offset);
    for (const Operand& element : what.elements) {
      out_ += ", ";
      operand(element);
    }
    out_ += what.unified ? "].unified" : "]";
  }

  std::string& out_;
  const Module* module_;
  const Function& function_;
  std::int32_t location_ = -1;
};

void print_directives(std::string& out, const Directives& what) {
  const auto number = [&](std::string_view name, std::uint32_t value) {
    if (value != 0) ((out += '.') += name) += " " + std::to_string(value) + "\n";
  };
  const auto extents = [&](std::string_view name, const std::array<std::uint32_t, 3>& value) {
    if (value != std::array<std::uint32_t, 3>{})
      ((out += '.') += name) +=
          " " + std::to_string(value[0]) + ", " + std::to_string(value[1]) + ", " + std::to_string(value[2]) + "\n";
  };
  extents("maxntid", what.maxntid);
  extents("reqntid", what.reqntid);
  extents("reqnctapercluster", what.reqnctapercluster);
  number("maxnreg", what.maxnreg);
  number("minnctapersm", what.minnctapersm);
  number("maxnctapersm", what.maxnctapersm);
  number("maxclusterrank", what.maxclusterrank);
  if (what.explicitcluster) out += ".explicitcluster\n";
  if (what.blocksareclusters) out += ".blocksareclusters\n";
  if (what.noreturn) out += ".noreturn\n";
  if (what.abi_preserve >= 0) out += ".abi_preserve " + std::to_string(what.abi_preserve) + "\n";
  if (what.abi_preserve_control >= 0)
    out += ".abi_preserve_control " + std::to_string(what.abi_preserve_control) + "\n";
  for (const std::string_view pragma : what.pragmas) ((out += ".pragma \"") += pragma) += "\";\n";
}

void print_head(std::string& out, const Function& function) {
  out += linkage_text(function.linkage);
  out += function.is_entry ? ".entry " : ".func ";
  if (!function.attributes.empty()) {
    out += ".attribute(";
    separated(out, function.attributes, [&](std::string_view attribute) { (out += '.') += attribute; });
    out += ") ";
  }
  if (!function.returns.empty()) {
    print_parameters(out, function.returns);
    out += ' ';
  }
  out += function.name;
  print_parameters(out, function.params);
  out += '\n';
  print_directives(out, function.directives);
}

/// Bodies and initializers name functions that come later in the list.
bool needs_declarations(const Module& module) {
  for (const Variable& variable : module.globals)
    for (const AddressValue& value : variable.addresses)
      if (value.symbol.kind == SymbolKind::function) return true;
  for (std::size_t i = 0; i < module.functions.size(); ++i) {
    const auto later = [&](const Symbol& symbol) {
      return symbol.kind == SymbolKind::function && symbol.index > static_cast<std::int32_t>(i);
    };
    for (const Instruction& instruction : module.functions[i].body)
      for (const Operand& operand : instruction.operands)
        if (later(operand.symbol)) return true;
    for (const Table& table : module.functions[i].tables)
      if (std::ranges::any_of(table.functions, later)) return true;
  }
  return false;
}

}  // namespace

std::string print(const Instruction& instruction, const Function& function) {
  std::string out;
  BodyPrinter(out, nullptr, function).instruction(instruction);
  return out;
}

std::string print(const Module& module) {
  std::string out =
      ".version " + std::to_string(module.version_major) + "." + std::to_string(module.version_minor) + "\n";
  if (!module.targets.empty()) {
    out += ".target ";
    separated(out, module.targets, [&](std::string_view target) { out += target; });
    out += '\n';
  }
  out += ".address_size " + std::to_string(module.address_size) + "\n";
  for (const File& file : module.files)
    ((out += ".file " + std::to_string(file.number) + " \"") += file.path) += "\"\n";
  for (const std::string_view pragma : module.pragmas) ((out += ".pragma \"") += pragma) += "\";\n";
  if (needs_declarations(module))
    for (const Function& function : module.functions) {
      print_head(out, function);
      out += ";\n";
    }
  for (const Variable& variable : module.globals) {
    (((out += linkage_text(variable.linkage)) += '.') += name_of(variable.space)) += ' ';
    print_declaration(out, variable);
    print_initializer(out, variable);
    out += ";\n";
  }
  for (const Function& function : module.functions) {
    print_head(out, function);
    if (function.has_body)
      BodyPrinter(out, &module, function).body();
    else
      out += ";\n";
  }
  for (const Module::Alias& alias : module.aliases)
    (((out += ".alias ") += alias.name) += ", ") += std::string(alias.of) + ";\n";
  for (const std::string_view section : module.sections) (out += section) += '\n';
  return out;
}

}  // namespace kernelcast::ptx
