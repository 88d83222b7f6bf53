// The assembly text for micro-benchmarks (docs/model/sm.md): a line is empty, a comment (#), a directive or an
// instruction.
//
//   .access chain step=128 span=65536 lane=4 bytes=4      names the addresses of a memory instruction
//   loop 2                                               runs the lines up to `end` twice (a BRA at the end); 2.25:
//   three
//                                                        times in a quarter of all entries
//   skip 0.75                                            passes over the lines up to `end` in three of four executions
//     repeat 4                                           writes the lines up to `end` four times
//       FFMA R4, R0, R1, R4 {0x20}                       destination, sources, control code
//       LDG R6, R6, [chain] {stall=2 wr=0}
//       MMA R8, R0, R4, R8, [p]                          a product, by .product p type=f16_f32 fma=2048
//     end
//   end
#include <algorithm>
#include <charconv>
#include <map>
#include <set>

#include "device/field_table.h"
#include "kernelcast/error.h"
#include "kernelcast/sm.h"

namespace kernelcast::sm {
namespace {

constexpr std::size_t most_instructions = 1'000'000;

std::string_view trimmed(std::string_view text) {
  const std::size_t begin = text.find_first_not_of(" \t\r");
  if (begin == std::string_view::npos) return {};
  return text.substr(begin, text.find_last_not_of(" \t\r") - begin + 1);
}

/// Cuts up to the separator off the front.
std::string_view take(std::string_view& text, std::string_view separators) {
  const std::size_t end = std::min(text.find_first_of(separators), text.size());
  const std::string_view word = text.substr(0, end);
  text.remove_prefix(std::min(end + 1, text.size()));
  text = trimmed(text);
  return trimmed(word);
}

std::optional<std::int64_t> whole(std::string_view text) {
  int base = 10;
  if (text.starts_with("0x")) {
    text.remove_prefix(2);
    base = 16;
  }
  std::int64_t value = 0;
  const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), value, base);
  if (error != std::errc() || end != text.data() + text.size() || text.empty()) return std::nullopt;
  return value;
}

/// A share from 0 to 1.
std::optional<double> share(std::string_view text) {
  double value = 0;
  const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), value);
  if (error != std::errc() || end != text.data() + text.size() || !(value >= 0 && value <= 1)) return std::nullopt;
  return value;
}

/// Not below zero.
std::optional<double> number(std::string_view text) {
  double value = 0;
  const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), value);
  if (error != std::errc() || end != text.data() + text.size() || !(value >= 0 && value <= 1e12)) return std::nullopt;
  return value;
}

/// In as many digits as it takes to read the same number again.
std::string digits(double value) {
  std::array<char, 40> text{};
  return {text.data(), std::to_chars(text.data(), text.data() + text.size(), value, std::chars_format::fixed).ptr};
}

std::string trips_text(const Instruction& branch) {
  if (branch.fraction <= 0 || branch.fraction >= 1) return std::to_string(branch.trips + (branch.fraction > 0 ? 1 : 0));
  return std::to_string(branch.trips) + digits(branch.fraction).substr(1);
}

/// A word as a message can hold it: text of a length that a line of a terminal takes.
std::string shown(std::string_view word) {
  std::string out(word.substr(0, 40));
  for (char& c : out)
    if (c < ' ' || c > '~') c = '?';
  return out + (word.size() > out.size() ? "..." : "");
}

bool has_destination(Op op) {
  switch (op) {
    case Op::store_global:
    case Op::store_shared:
    case Op::barrier:
    case Op::branch:
    case Op::nop:
    case Op::exit:
    case Op::copy_async:
    case Op::copy_bulk:
    case Op::copy_commit:
    case Op::copy_wait:
    case Op::matrix_async:
    case Op::matrix_commit:
    case Op::matrix_wait:
    case Op::arrive:
    case Op::mbarrier_wait:
      return false;
    default:
      return true;
  }
}

bool names_mbarrier(Op op) { return op == Op::copy_bulk || op == Op::arrive || op == Op::mbarrier_wait; }
bool is_product(Op op) { return op == Op::matrix || op == Op::matrix_async; }
bool is_group_wait(Op op) { return op == Op::copy_wait || op == Op::matrix_wait; }

std::optional<TensorType> tensor_type(std::string_view name) {
  for (std::size_t t = 0; t < tensor_type_count; ++t)
    if (name_of(static_cast<TensorType>(t)) == name) return static_cast<TensorType>(t);
  return std::nullopt;
}

class Assembler {
 public:
  explicit Assembler(std::string name) { out_.name = std::move(name); }

  Program run(std::string_view text) {
    while (!text.empty()) {
      const std::size_t end = std::min(text.find('\n'), text.size());
      ++line_;
      statement(text.substr(0, end));
      text.remove_prefix(std::min(end + 1, text.size()));
    }
    if (!open_.empty()) {
      line_ = open_.back().line;
      fail(open_.back().word + " has no end");
    }
    line_ = std::max(line_, 1);
    if (out_.instructions.empty()) fail("there is no instruction");
    return std::move(out_);
  }

 private:
  struct Open {
    std::string word;  // loop, repeat, skip
    int count, line;
    std::size_t start;
    double fraction = 0;
  };

  [[noreturn]] void fail(const std::string& what) const {
    throw UserError(out_.name + ":" + std::to_string(line_) + ": " + what);
  }

  void statement(std::string_view text) {
    text = trimmed(text.substr(0, text.find('#')));
    if (text.empty()) return;
    std::string_view rest = text;
    const std::string word(take(rest, " \t"));
    if (word == ".access") return access(rest);
    if (word == ".product") return product(rest);
    if (word == ".mbarrier") return mbarrier(rest);
    if (word == ".role") return role(rest);
    if (word == ".joint") return joint(rest);
    if (word == "loop" || word == "repeat") return open(word, rest);
    if (word == "skip") return open_skip(rest);
    if (word == "end") {
      if (!rest.empty()) fail("end stands alone on its line");
      return close();
    }
    instruction(word, rest);
  }

  void open(const std::string& word, std::string_view rest) {
    const std::size_t point = word == "loop" ? std::min(rest.find('.'), rest.size()) : rest.size();
    const std::optional<std::int64_t> count = whole(rest.substr(0, point));
    const std::optional<double> fraction = point < rest.size() ? share(rest.substr(point)) : 0;
    if (!count || *count < 1 || *count > 1'000'000 || !fraction)
      fail(word + " needs a count from 1 to 1000000, not \"" + std::string(rest) + "\"");
    nest({word, static_cast<int>(*count), line_, out_.instructions.size(), *fraction});
  }

  void open_skip(std::string_view rest) {
    const std::optional<double> fraction = share(rest);
    if (!fraction) fail("skip needs a share from 0 to 1, not \"" + std::string(rest) + "\"");
    nest({"skip", 1, line_, out_.instructions.size(), *fraction});
    Instruction branch;
    branch.op = Op::branch;
    branch.fraction = *fraction;
    add(branch);
  }

  void nest(Open o) {
    if (open_.size() >= 8) fail("loops nest at most eight deep");
    open_.push_back(std::move(o));
  }

  void close() {
    if (open_.empty()) fail("end without loop, repeat or skip");
    const Open o = open_.back();
    open_.pop_back();
    const std::size_t length = out_.instructions.size() - o.start;
    if (length == (o.word == "skip" ? 1U : 0U)) fail(o.word + " of nothing");
    if (o.word == "skip") {
      out_.instructions[o.start].target = static_cast<int>(out_.instructions.size());
      return;
    }
    if (o.word == "loop") {
      Instruction branch;
      branch.op = Op::branch;
      branch.target = static_cast<int>(o.start);
      branch.trips = o.count;
      branch.fraction = o.fraction;
      add(branch);
      return;
    }
    for (int i = 1; i < o.count; ++i)
      for (std::size_t k = 0; k < length; ++k) {
        Instruction copy = out_.instructions[o.start + k];
        if (copy.target >= 0) copy.target += static_cast<int>(length) * i;
        add(copy, copy.line);
      }
  }

  void add(Instruction i, int line = 0) {
    if (out_.instructions.size() >= most_instructions) fail("more than a million instructions");
    i.line = line > 0 ? line : line_;
    for (const std::int16_t reg : {i.destination, i.sources[0], i.sources[1], i.sources[2]})
      out_.registers = std::max(out_.registers, reg + 1);
    out_.instructions.push_back(i);
  }

  void access(std::string_view rest) {
    const std::string name = new_name(".access", rest);
    Access a;
    const std::map<std::string_view, std::int64_t Access::*> wholes = {{"base", &Access::base},
                                                                       {"warp", &Access::warp_step},
                                                                       {"step", &Access::step},
                                                                       {"span", &Access::span},
                                                                       {"lane", &Access::lane_step}};
    while (!rest.empty()) {
      std::string_view value = take(rest, " \t");
      const std::string key(take(value, "="));
      const std::optional<std::int64_t> n = whole(value);
      if (!n || *n < 0 || *n > (std::int64_t{1} << 40))
        fail(".access " + name + ": " + key + " needs a whole number from 0, not \"" + std::string(value) + "\"");
      if (const auto member = wholes.find(key); member != wholes.end()) {
        a.*member->second = *n;
      } else if (key == "bytes" && (*n == 1 || *n == 2 || *n == 4 || *n == 8 || *n == 16)) {
        a.bytes = static_cast<int>(*n);
      } else if (key == "bytes") {
        fail(".access " + name + ": bytes is 1, 2, 4, 8 or 16");
      } else if (key == "lanes" && *n >= 1 && *n <= 128) {
        a.lanes = static_cast<int>(*n);
      } else if (key == "lanes") {
        fail(".access " + name + ": lanes is 1 to 128");
      } else {
        fail(".access " + name + ": unknown key " + key +
             nearest_hint(key, {"base", "warp", "step", "span", "lane", "lanes", "bytes"}));
      }
    }
    accesses_[name] = static_cast<int>(out_.accesses.size());
    out_.accesses.push_back(a);
  }

  std::string new_name(const std::string& directive, std::string_view& rest) {
    std::string name(take(rest, " \t"));
    if (name.empty()) fail(directive + " needs a name");
    if (!names_.insert(name).second) fail("there is an access, product or mbarrier " + name + " already");
    return name;
  }

  void product(std::string_view rest) {
    const std::string name = new_name(".product", rest);
    Product p;
    while (!rest.empty()) {
      std::string_view value = take(rest, " \t");
      const std::string key(take(value, "="));
      const std::optional<double> n = number(value);
      if (key == "type") {
        const std::optional<TensorType> type = tensor_type(value);
        if (!type)
          fail(".product " + name + ": there is no type " + shown(value) + nearest_hint(std::string(value), types()));
        p.type = *type;
      } else if (key == "whole" && n && (*n == 0 || *n == 1)) {
        p.whole = *n == 1;
      } else if ((key == "fma" || key == "shared") && n) {
        (key == "fma" ? p.multiply_adds : p.shared_bytes) = *n;
      } else if (key == "fma" || key == "shared" || key == "whole") {
        fail(".product " + name + ": " + key + " needs a number from 0" + (key == "whole" ? " to 1" : "") + ", not \"" +
             std::string(value) + "\"");
      } else {
        fail(".product " + name + ": unknown key " + key + nearest_hint(key, {"type", "fma", "shared", "whole"}));
      }
    }
    if (!(p.multiply_adds > 0)) fail(".product " + name + " needs fma=, the multiply-adds of one execution");
    products_[name] = static_cast<int>(out_.products.size());
    out_.products.push_back(p);
  }

  static std::vector<std::string> types() {
    std::vector<std::string> all;
    for (std::size_t t = 0; t < tensor_type_count; ++t) all.emplace_back(name_of(static_cast<TensorType>(t)));
    return all;
  }

  void mbarrier(std::string_view rest) {
    const std::string name = new_name(".mbarrier", rest);
    Mbarrier b;
    while (!rest.empty()) {
      std::string_view value = take(rest, " \t");
      const std::string key(take(value, "="));
      const std::optional<std::int64_t> n = whole(value);
      const int least = key == "arrivals" ? 1 : 0;
      if (key != "arrivals" && key != "ahead")
        fail(".mbarrier " + name + ": unknown key " + key + nearest_hint(key, {"arrivals", "ahead"}));
      if (!n || *n < least || *n > 4096)
        fail(".mbarrier " + name + ": " + key + " goes from " + std::to_string(least) + " to 4096");
      (key == "arrivals" ? b.arrivals : b.ahead) = static_cast<int>(*n);
    }
    mbarriers_[name] = static_cast<int>(out_.mbarriers.size());
    out_.mbarriers.push_back(b);
  }

  void joint(std::string_view rest) {
    if (!rest.empty()) fail(".joint stands alone on its line");
    out_.joint = true;
  }

  /// What follows is run by so many warps of each block; before it the warps of the role above end.
  void role(std::string_view rest) {
    const std::optional<std::int64_t> n = whole(rest);
    if (!n || *n < 1 || *n > 1024)
      fail(".role needs a number of warps from 1 to 1024, not \"" + std::string(rest) + "\"");
    if (!open_.empty()) fail(".role stands outside of " + open_.back().word);
    if (out_.roles.empty() && !out_.instructions.empty()) fail("the first .role stands before all instructions");
    if (!out_.roles.empty()) {
      if (out_.roles.back().start == static_cast<int>(out_.instructions.size()))
        fail("the role above has no instruction");
      Instruction end;
      end.op = Op::exit;
      add(end);
    }
    out_.roles.push_back({static_cast<int>(*n), static_cast<int>(out_.instructions.size())});
  }

  void instruction(const std::string& word, std::string_view rest) {
    const std::optional<Op> op = op_named(word);
    if (!op || *op == Op::branch) {
      std::vector<std::string> known;
      for (std::size_t i = 0; i < op_count; ++i) known.emplace_back(info(static_cast<Op>(i)).name);
      fail(op ? "write loop N ... end instead of BRA"
              : "there is no instruction " + shown(word) + nearest_hint(word, known));
    }
    Instruction i;
    i.op = *op;
    if (const std::size_t brace = rest.find('{'); brace != std::string_view::npos) {
      std::string_view control = rest.substr(brace + 1);
      if (!control.ends_with('}')) fail("the control code has no closing brace");
      control.remove_suffix(1);
      i.control = control_code(trimmed(control));
      rest = trimmed(rest.substr(0, brace));
    }
    operands(i, word, rest);
    if (info(i.op).memory && i.access < 0) fail(word + " needs an access in brackets, such as [data]");
    if (is_product(i.op) && i.product < 0) fail(word + " needs a .product in brackets");
    if (names_mbarrier(i.op) && i.op != Op::copy_bulk && i.mbarrier < 0) fail(word + " needs a .mbarrier in brackets");
    add(i);
  }

  void operands(Instruction& i, const std::string& word, std::string_view rest) {
    bool destination = has_destination(i.op);
    if (destination && rest.empty() && i.op != Op::clock) fail(word + " needs a destination register");
    std::size_t source = 0;
    while (!rest.empty()) {
      const std::string_view text = take(rest, ",");
      if (text.starts_with('[')) {
        if (!info(i.op).memory && !is_product(i.op) && !names_mbarrier(i.op)) fail(word + " takes no access");
        if (!text.ends_with(']')) fail("the access has no closing bracket");
        bracket(i, std::string(trimmed(text.substr(1, text.size() - 2))));
      } else if (is_group_wait(i.op)) {
        const std::optional<std::int64_t> n = whole(text);
        if (!n || *n < 0 || *n > 64) fail(word + " needs a number of groups from 0 to 64");
        i.open = static_cast<int>(*n);
      } else if (destination) {
        i.destination = reg(text);
        destination = false;
      } else {
        if (source >= static_cast<std::size_t>(info(i.op).max_sources))
          fail(word + " has at most " + std::to_string(info(i.op).max_sources) + " source registers");
        i.sources[source++] = reg(text);
      }
    }
  }

  void bracket(Instruction& i, const std::string& name) {
    const auto find = [&](const std::map<std::string, int>& of, int& index) {
      const auto found = of.find(name);
      if (found == of.end()) return false;
      index = found->second;
      return true;
    };
    if (info(i.op).memory && find(accesses_, i.access)) return;
    if (is_product(i.op) && find(products_, i.product)) return;
    if (names_mbarrier(i.op) && find(mbarriers_, i.mbarrier)) return;
    const char* const kind = is_product(i.op) ? ".product " : info(i.op).memory ? ".access " : ".mbarrier ";
    fail("there is no " + std::string(kind) + name);
  }

  std::int16_t reg(std::string_view text) const {
    if (text == "RZ") return -1;
    std::optional<std::int64_t> n;
    if (text.starts_with('R')) n = whole(text.substr(1));
    if (!n || *n < 0 || *n > 255) fail("expected a register R0 to R255 or RZ, not \"" + std::string(text) + "\"");
    return static_cast<std::int16_t>(*n);
  }

  /// A number, or the fields of the 21-bit form: stall=4 yield wr=0 rd=1 wait=0x3 reuse=0x1.
  std::uint32_t control_code(std::string_view text) const {
    if (const std::optional<std::int64_t> code = whole(text)) {
      if (*code < 0 || *code >= (1 << 21)) fail("a control code has at most 21 bits");
      return static_cast<std::uint32_t>(*code);
    }
    Control control;
    while (!text.empty()) {
      std::string_view value = take(text, " \t");
      const std::string key(take(value, "="));
      if (key == "yield" && value.empty()) {
        control.yield = true;
        continue;
      }
      const auto field = [&](int maximum) {
        const std::optional<std::int64_t> n = whole(value);
        if (!n || *n < 0 || *n > maximum) fail("control code: " + key + " goes from 0 to " + std::to_string(maximum));
        return static_cast<int>(*n);
      };
      if (key == "stall") {
        control.stall = field(15);
        control.dual = control.stall == 0;
      } else if (key == "wr") {
        control.write_barrier = field(5);
      } else if (key == "rd") {
        control.read_barrier = field(5);
      } else if (key == "wait") {
        control.wait_mask = static_cast<std::uint8_t>(field(63));
      } else if (key == "reuse") {
        control.reuse = static_cast<std::uint8_t>(field(15));
      } else {
        fail("control code: expected a number or stall=, yield, wr=, rd=, wait=, reuse=, not \"" + key + "\"");
      }
    }
    return encode_control(control);
  }

  Program out_;
  int line_ = 0;
  std::vector<Open> open_;
  std::set<std::string> names_;  // of all three
  std::map<std::string, int> accesses_, products_, mbarriers_;
};

}  // namespace

Program assemble(std::string_view text, const std::string& name) { return Assembler(name).run(text); }

std::string disassemble(const Program& program) {
  std::string out;
  for (std::size_t i = 0; i < program.accesses.size(); ++i) {
    const Access& a = program.accesses[i];
    out += ".access a" + std::to_string(i) + " base=" + std::to_string(a.base) +
           " warp=" + std::to_string(a.warp_step) + " step=" + std::to_string(a.step) +
           " span=" + std::to_string(a.span) + " lane=" + std::to_string(a.lane_step) +
           " bytes=" + std::to_string(a.bytes) + (a.lanes > 0 ? " lanes=" + std::to_string(a.lanes) : "") + "\n";
  }
  for (std::size_t i = 0; i < program.products.size(); ++i) {
    const Product& p = program.products[i];
    out += ".product p" + std::to_string(i) + " type=" + std::string(name_of(p.type)) +
           " fma=" + digits(p.multiply_adds) + (p.shared_bytes > 0 ? " shared=" + digits(p.shared_bytes) : "") +
           (p.whole ? " whole=1" : "") + "\n";
  }
  for (std::size_t i = 0; i < program.mbarriers.size(); ++i)
    out += ".mbarrier b" + std::to_string(i) + " arrivals=" + std::to_string(program.mbarriers[i].arrivals) +
           " ahead=" + std::to_string(program.mbarriers[i].ahead) + "\n";
  if (program.joint) out += ".joint\n";
  const auto starts_role = [&program](std::size_t index) {
    return std::ranges::find(program.roles, static_cast<int>(index), &Role::start);
  };
  const auto name = [](std::int16_t reg) { return reg < 0 ? std::string("RZ") : "R" + std::to_string(reg); };
  for (std::size_t index = 0; index < program.instructions.size(); ++index) {
    for (std::size_t b = 0; b < index; ++b)
      if (const Instruction& skip = program.instructions[b];
          skip.op == Op::branch && skip.target == static_cast<int>(index) && skip.target > static_cast<int>(b))
        out += "end\n";
    if (const auto r = starts_role(index); r != program.roles.end()) out += ".role " + std::to_string(r->warps) + "\n";
    // The innermost loop that starts here is written last.
    for (std::size_t b = program.instructions.size(); b-- > index;)
      if (const Instruction& branch = program.instructions[b];
          branch.op == Op::branch && branch.target == static_cast<int>(index))
        out += "loop " + trips_text(branch) + "\n";
    const Instruction& i = program.instructions[index];
    if (i.op == Op::branch) {
      out += i.target > static_cast<int>(index) ? "skip " + digits(i.fraction) + "\n" : "end\n";
      continue;
    }
    // The assembler ends the role itself.
    if (i.op == Op::exit && starts_role(index + 1) != program.roles.end()) continue;
    out += info(i.op).name;
    std::string separator = " ";
    const auto operand = [&](const std::string& text) {
      out += separator + text;
      separator = ", ";
    };
    int sources = 0;
    for (int k = 0; k < 3; ++k)
      if (i.sources[static_cast<std::size_t>(k)] >= 0) sources = k + 1;
    if (has_destination(i.op) && (i.destination >= 0 || i.op != Op::clock)) operand(name(i.destination));
    for (int k = 0; k < sources; ++k) operand(name(i.sources[static_cast<std::size_t>(k)]));
    if (i.access >= 0) operand("[a" + std::to_string(i.access) + "]");
    if (i.product >= 0) operand("[p" + std::to_string(i.product) + "]");
    if (i.mbarrier >= 0) operand("[b" + std::to_string(i.mbarrier) + "]");
    if (is_group_wait(i.op)) operand(std::to_string(i.open));
    if (i.control) out += " {" + std::to_string(*i.control) + "}";
    out += "\n";
  }
  for (std::size_t b = 0; b < program.instructions.size(); ++b)
    if (program.instructions[b].op == Op::branch &&
        program.instructions[b].target == static_cast<int>(program.instructions.size()))
      out += "end\n";
  return out;
}

}  // namespace kernelcast::sm
