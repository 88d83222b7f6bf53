// Every number is { value = ..., source = "..." } or { value = ..., hypothesis = "..." }; one that is neither cited nor
// named as a guess is refused. Keys are rows of tables.
#include "machine/sm/spec_file.h"

#include <algorithm>
#include <cmath>
#include <functional>

#include "device/field_table.h"
#include "kernelcast/error.h"

namespace kernelcast::sm {
namespace {

struct WholeKey {
  std::string_view section, key;
  int Spec::* member;
  int minimum, maximum;
};
constexpr std::array whole_keys = {
    WholeKey{"issue", "schedulers", &Spec::schedulers, 1, 16},
    WholeKey{"issue", "warp_size", &Spec::warp_size, 1, 128},
    WholeKey{"issue", "dispatch_per_turn", &Spec::dispatch_per_turn, 1, 2},
    WholeKey{"issue", "turn_cycles", &Spec::turn_cycles, 1, 16},
    WholeKey{"issue", "warps_per_turn", &Spec::warps_per_turn, 1, 8},
    WholeKey{"control", "suspend_cycles", &Spec::suspend_cycles, 0, 1000},
    WholeKey{"control", "unpaired_stall_cycles", &Spec::unpaired_stall_cycles, 0, 1000},
    WholeKey{"fetch", "group_instructions", &Spec::group_instructions, 1, 64},
    WholeKey{"fetch", "group_bytes", &Spec::group_bytes, 4, 1024},
    WholeKey{"fetch", "line_bytes", &Spec::line_bytes, 4, 1024},
    WholeKey{"fetch", "icache_bytes", &Spec::icache_bytes, 0, 10'000'000},
    WholeKey{"fetch", "icache_miss_cycles", &Spec::icache_miss_cycles, 0, 10'000},
    WholeKey{"fetch", "branch_cycles", &Spec::branch_cycles, 0, 1000},
    WholeKey{"registers", "ports_per_bank", &Spec::ports_per_bank, 0, 8},
    WholeKey{"registers", "late_request_cycles", &Spec::late_request_cycles, 0, 100},
    WholeKey{"memory", "shared_banks", &Spec::shared_banks, 1, 128},
    WholeKey{"memory", "shared_pairs", &Spec::shared_pairs, 0, 1},
    WholeKey{"memory", "shared_bank_bytes", &Spec::shared_bank_bytes, 1, 32},
    WholeKey{"memory", "shared_latency", &Spec::shared_latency, 1, 2000},
    WholeKey{"memory", "l1_latency", &Spec::l1_latency, 0, 2000},
    WholeKey{"memory", "l2_latency", &Spec::l2_latency, 0, 5000},
    WholeKey{"memory", "dram_latency", &Spec::dram_latency, 1, 10'000},
    WholeKey{"memory", "atomic_shared_latency", &Spec::atomic_shared_latency, 0, 5000},
    WholeKey{"memory", "atomic_shared_cycles", &Spec::atomic_shared_cycles, 1, 1000},
    WholeKey{"memory", "atomic_global_latency", &Spec::atomic_global_latency, 0, 10'000},
    WholeKey{"memory", "atomic_global_cycles", &Spec::atomic_global_cycles, 1, 1000},
    WholeKey{"memory", "max_requests", &Spec::max_requests, 1, 100'000},
    WholeKey{"limits", "max_warps", &Spec::max_warps, 1, 1024},
    WholeKey{"limits", "max_blocks", &Spec::max_blocks, 1, 1024},
};

struct CodeKey {
  std::string_view key;
  std::uint32_t Spec::* member;
};
constexpr std::array code_keys = {CodeKey{"suspend_code", &Spec::suspend_code}, CodeKey{"dual_code", &Spec::dual_code},
                                  CodeKey{"default_code", &Spec::default_code}};

struct TruthKey {
  std::string_view section, key;
  bool Spec::* member;
};
constexpr std::array truth_keys = {
    TruthKey{"issue", "turns_alternate", &Spec::turns_alternate},
    TruthKey{"issue", "dual_needs_other_unit", &Spec::dual_needs_other_unit},
    TruthKey{"issue", "dual_slot0_leads", &Spec::dual_slot0_leads},
    TruthKey{"control", "interlock", &Spec::interlock},
    TruthKey{"fetch", "turn_ends_with_line", &Spec::turn_ends_with_line},
};

class SpecReader {
 public:
  SpecReader(Spec& spec, std::string file) : spec_(spec), file_(std::move(file)) {}

  void read(const DataNode& root) {
    for (const auto& [key, node] : root.entries) {
      if (key == "id") {
        spec_.id = text(node, key);
      } else if (key == "name") {
        spec_.name = text(node, key);
      } else if (key == "inherits") {
        text(node, key);
      } else if (key == "architectures") {
        spec_.architectures = texts(node, key);
      } else if (key == "unit") {
        units(node);
      } else if (key == "latency") {
        latencies(node);
      } else if (key == "interval") {
        intervals(node);
      } else if (node.kind == DataNode::Kind::table) {
        section(key, node);
      } else {
        fail(node, "unknown key " + key);
      }
    }
  }

  [[noreturn]] void fail(const DataNode& at, const std::string& what) const {
    throw UserError(file_ + ":" + std::to_string(std::max(at.line, 1)) + ": " + what);
  }

 private:
  std::string text(const DataNode& node, const std::string& what) const {
    if (node.kind != DataNode::Kind::text || node.text.empty()) fail(node, what + " must be a text");
    return node.text;
  }

  std::vector<std::string> texts(const DataNode& node, const std::string& what) const {
    if (node.kind != DataNode::Kind::list) fail(node, what + " must be a list of texts");
    std::vector<std::string> out;
    for (const DataNode& item : node.items) out.push_back(text(item, "an entry of " + what));
    return out;
  }

  int whole(const DataNode& node, const std::string& what, int minimum, int maximum) const {
    if (node.kind != DataNode::Kind::number || node.number != std::floor(node.number))
      fail(node, what + " must be a whole number");
    if (node.number < minimum || node.number > maximum)
      fail(node, what + " = " + std::to_string(static_cast<long long>(node.number)) + " is outside " +
                     std::to_string(minimum) + ".." + std::to_string(maximum));
    return static_cast<int>(node.number);
  }

  /// The value of { value, source | hypothesis }, noted in Spec::numbers.
  const DataNode& cited(const DataNode& node, const std::string& what) {
    if (node.kind != DataNode::Kind::table || node.find("value") == nullptr)
      fail(node, what + " must be { value = ..., source = \"...\" } or { value = ..., hypothesis = \"...\" }");
    for (const auto& [part, ignored] : node.entries)
      if (part != "value" && part != "source" && part != "hypothesis")
        fail(node, what + " has an unknown part " + part + "; it may have value and source or hypothesis");
    const DataNode& value = *node.find("value");
    note(node, what, value.kind == DataNode::Kind::number ? value.number : 0);
    return value;
  }

  void note(const DataNode& node, const std::string& what, double value) {
    const DataNode* source = node.find("source");
    const DataNode* hypothesis = node.find("hypothesis");
    if ((source == nullptr) == (hypothesis == nullptr))
      fail(node, what + " needs either a source or a hypothesis (what is supposed, and why)");
    SpecNumber number{what, value, source != nullptr ? text(*source, what + ": source") : "",
                      hypothesis != nullptr ? text(*hypothesis, what + ": hypothesis") : ""};
    std::erase_if(spec_.numbers, [&](const SpecNumber& n) { return n.key == what; });
    spec_.numbers.push_back(std::move(number));
  }

  void section(const std::string& name, const DataNode& node) {
    for (const auto& [key, entry] : node.entries) {
      const std::string what = name + "." + key;
      if (name == "control" && key == "range") {
        ranges(entry);
      } else if (what == "control.kind") {
        spec_.control = choice<ControlKind>(cited(entry, what), what, {"none", "eight_bit", "twenty_one_bit"});
      } else if (what == "issue.dual") {
        spec_.dual = choice<DualIssue>(cited(entry, what), what, {"none", "by_control_code", "by_hardware"});
      } else if (what == "registers.operand_cache") {
        spec_.operand_cache =
            choice<OperandCache>(cited(entry, what), what, {"none", "last_read_per_bank", "by_reuse_flags"});
      } else if (what == "registers.bank_bits") {
        const DataNode& value = cited(entry, what);
        if (value.kind != DataNode::Kind::list) fail(value, what + " must be a list of bit numbers");
        spec_.bank_bits.clear();
        for (const DataNode& bit : value.items) spec_.bank_bits.push_back(whole(bit, what, 0, 8));
      } else if (!plain_number(name, key, entry, what)) {
        std::vector<std::string> known;
        for (const WholeKey& k : whole_keys) known.push_back(std::string(k.section) + "." + std::string(k.key));
        for (const TruthKey& k : truth_keys) known.push_back(std::string(k.section) + "." + std::string(k.key));
        fail(entry, "unknown key " + what + nearest_hint(what, known));
      }
    }
  }

  bool plain_number(const std::string& name, const std::string& key, const DataNode& entry, const std::string& what) {
    for (const WholeKey& k : whole_keys)
      if (k.section == name && k.key == key) {
        spec_.*k.member = whole(cited(entry, what), what, k.minimum, k.maximum);
        return true;
      }
    for (const CodeKey& k : code_keys)
      if (name == "control" && k.key == key) {
        spec_.*k.member = static_cast<std::uint32_t>(whole(cited(entry, what), what, 0, (1 << 21) - 1));
        return true;
      }
    for (const TruthKey& k : truth_keys)
      if (k.section == name && k.key == key) {
        const DataNode& value = cited(entry, what);
        if (value.kind != DataNode::Kind::truth) fail(value, what + " must be true or false");
        spec_.*k.member = value.truth;
        return true;
      }
    return false;
  }

  template <class T>
  T choice(const DataNode& value, const std::string& what, std::initializer_list<std::string_view> names) const {
    const std::string chosen = text(value, what);
    int index = 0;
    std::string list;
    for (std::string_view name : names) {
      if (name == chosen) return static_cast<T>(index);
      list += (list.empty() ? "" : ", ") + std::string(name);
      ++index;
    }
    fail(value, what + " = \"" + chosen + "\" must be one of " + list);
  }

  void ranges(const DataNode& list) {
    if (list.kind != DataNode::Kind::list) fail(list, "write [[control.range]]");
    spec_.control_ranges.clear();
    for (const DataNode& node : list.items) {
      const std::string what = "control.range";
      const auto part = [&](std::string_view key, int maximum) {
        const DataNode* entry = node.find(key);
        if (entry == nullptr) fail(node, what + " has no " + std::string(key));
        return whole(*entry, what + "." + std::string(key), 0, maximum);
      };
      ControlRange range;
      range.first = static_cast<std::uint32_t>(part("first", 255));
      range.last = static_cast<std::uint32_t>(part("last", 255));
      range.mask = static_cast<std::uint32_t>(part("mask", 255));
      range.scale = part("scale", 100);
      range.offset = part("offset", 100);
      range.cap_from = part("cap_from", 256);
      range.cap = part("cap", 1000);
      note(node, what + " " + std::to_string(range.first) + ".." + std::to_string(range.last), range.scale);
      spec_.control_ranges.push_back(range);
    }
  }

  void units(const DataNode& list) {
    if (list.kind != DataNode::Kind::list) fail(list, "write [[unit]]");
    spec_.units.clear();
    for (const DataNode& node : list.items) {
      if (node.kind != DataNode::Kind::table) fail(node, "write [[unit]]");
      Unit unit;
      const auto need = [&](std::string_view key) -> const DataNode& {
        const DataNode* entry = node.find(key);
        if (entry == nullptr) fail(node, "unit has no " + std::string(key));
        return *entry;
      };
      unit.name = text(need("name"), "unit.name");
      for (const std::string& name : texts(need("ops"), "unit.ops")) unit.ops.push_back(op(need("ops"), name));
      unit.schedulers = whole(need("schedulers"), "unit.schedulers", 1, 16);
      unit.interval = whole(need("interval"), "unit.interval", 1, 1024);
      note(node, "unit " + unit.name, unit.interval);
      spec_.units.push_back(std::move(unit));
    }
  }

  void latencies(const DataNode& node) {
    for (const auto& [key, entry] : node.entries) {
      const Op which = op(entry, key);
      if (info(which).memory) fail(entry, "the latency of " + key + " belongs in [memory]");
      spec_.latency[static_cast<std::size_t>(which)] = whole(cited(entry, "latency." + key), "latency." + key, 1, 1000);
    }
  }

  void intervals(const DataNode& node) {
    for (const auto& [key, entry] : node.entries) {
      const Op which = op(entry, key);
      if (info(which).memory && which != Op::atomic_global && which != Op::atomic_shared)
        fail(entry, "the time of " + key + " follows from its unit and [memory]");
      spec_.interval[static_cast<std::size_t>(which)] =
          whole(cited(entry, "interval." + key), "interval." + key, 1, 1024);
    }
  }

  Op op(const DataNode& at, const std::string& name) const {
    if (const std::optional<Op> found = op_named(name)) return *found;
    std::vector<std::string> known;
    for (std::size_t i = 0; i < op_count; ++i) known.emplace_back(info(static_cast<Op>(i)).name);
    fail(at, "there is no instruction " + name + nearest_hint(name, known));
  }

  Spec& spec_;
  std::string file_;
};

}  // namespace

void apply_spec_file(Spec& spec, const std::string& file, const DataNode& root) { SpecReader(spec, file).read(root); }

void check_spec(const Spec& spec, const std::string& file) {
  const auto fail = [&](const std::string& what) { throw UserError(file + ":1: " + what); };
  if (spec.id.empty()) fail("id is missing");
  if (spec.units.empty()) fail("there is no [[unit]]");
  if (spec.line_bytes % spec.group_bytes != 0) fail("fetch.group_bytes does not divide fetch.line_bytes");
  for (const Unit& unit : spec.units)
    if (spec.schedulers % unit.schedulers != 0)
      fail("unit " + unit.name + ": its schedulers do not divide issue.schedulers");
  for (const Unit& unit : spec.units)
    for (Op op : unit.ops)
      if (!info(op).memory && op != Op::matrix && op != Op::matrix_async &&
          spec.latency[static_cast<std::size_t>(op)] == 0)
        fail("unit " + unit.name + " executes " + std::string(info(op).name) + ", whose latency is missing");
}

}  // namespace kernelcast::sm
