// Cubins of ptxas with other control fields and registers. Only FFMA on registers are touched, all of them in the body
// of the loop; registers are exchanged only for others that FFMA of that body use, so address, counter and clock are
// safe.
#include <fmt/format.h>

#include <algorithm>
#include <set>

#include "kernelcast/error.h"
#include "kernelcast/setting.h"
#include "machine/sass/cubin.h"
#include "probe/cuda/assemble_ptx.h"
#include "probe/cuda/make_plan.h"
#include "probe/cuda/ptx.h"

namespace kernelcast::probe::cuda {

using namespace sass;
namespace {

/// A cubin and where its FFMA are.
struct Body {
  Cubin cubin;
  Cubin::Kernel kernel;
  std::vector<std::size_t> ffma;
  std::vector<std::uint32_t> registers;  // that they use, in order

  Body(const std::string& ptxas, const std::string& ptx, int architecture)
      : cubin(assembled(ptxas, ptx, architecture), "cubin of ptxas"), kernel(cubin.kernels().at(0)) {
    std::set<std::uint32_t> used;
    for (std::size_t i = 0; i < kernel.instructions; ++i) {
      const Instruction instruction = cubin.at(kernel, i);
      if (get(instruction, opcode) != ffma_registers) continue;
      ffma.push_back(i);
      for (const BitField& r : register_fields)
        if (get(instruction, r) != zero_register) used.insert(get(instruction, r));
    }
    registers.assign(used.begin(), used.end());
  }

  static std::string assembled(const std::string& ptxas, const std::string& ptx, int architecture) {
    Assembled a = assemble(ptxas, ptx, architecture);
    if (a.cubin.empty()) throw UserError(a.message.substr(0, a.message.find('\n')));
    return std::move(a.cubin);
  }

  void set(std::size_t ffma_index, BitField field, std::uint32_t value) {
    cubin.patch(kernel, ffma[ffma_index], field, value);
  }
  void set_all(BitField field, std::uint32_t value) {
    for (std::size_t i = 0; i < ffma.size(); ++i) set(i, field, value);
  }
};

/// Phases share how their launches look.
Phase phase_of(const std::string& name) {
  Phase p;
  p.name = name;
  p.buffers = {{Buffer::Fill::zero, 8 * (1 + 2 * 32)}, {Buffer::Fill::data, operand_bytes().size(), operand_bytes()}};
  return p;
}

void add(Phase& p, const std::string& name, const Body& body, unsigned threads, unsigned turns, double texts) {
  p.images.push_back(body.cubin.bytes());
  PlannedLaunch l;
  l.name = name;
  l.image = static_cast<int>(p.images.size()) - 1;
  l.kernel = body.kernel.name;
  l.block[0] = threads;
  l.arguments = arguments_of({0, 1, -1, turns, 0});
  l.clocks = 0;
  l.items = texts * turns * threads;
  p.launches.push_back(std::move(l));
}

/// Each value of the stall field on independent FFMA (time between issues) and on a chain (is the result right?).
Phase stall_sweep(const std::string& ptxas, int architecture) {
  Phase p = phase_of("control fields");
  const std::vector<Operation> all = operations(architecture);
  const Operation& ffma = *std::ranges::find_if(all, [](const Operation& o) { return o.name == std::string("ffma"); });
  for (int longer = 0; longer < 2; ++longer) {
    const int texts = longer != 0 ? 192 : 64;
    Body apart(ptxas, fma_body(48, texts), architecture);
    // Factor and summand of an even and an odd number: no bank has to give all three.
    for (const auto& [field, parity] : {std::pair{source_b, 0U}, std::pair{source_c, 1U}}) {
      const std::uint32_t odd = parity;
      const auto found = std::ranges::find_if(apart.registers, [odd](std::uint32_t r) { return r % 2 == odd; });
      if (found != apart.registers.end()) apart.set_all(field, *found);
    }
    const Body& independent = apart;
    const Body chain(ptxas, chain_module(ffma, texts), architecture);
    for (const auto& [name, original] : {std::pair{"independent", &independent}, std::pair{"chain", &chain}})
      for (unsigned value = 0; value < stalls; ++value) {
        Body body = *original;
        body.set_all(stall, value);
        body.set_all(yield, 1);
        add(p, fmt::format("stall.{}.{}.{}", name, value, lengths[longer]), body, 32, 8, texts);
        p.launches.back().items = texts * 8.0;
      }
  }
  return p;
}

/// FFMA on every triple of registers, and on one triple under each reuse flag.
Phase banks(const std::string& ptxas, int architecture) {
  Phase p = phase_of("register banks");
  constexpr int texts = 192;
  Body original(ptxas, fma_body(48, texts), architecture);
  original.set_all(reuse, 0);
  original.set_all(stall, 1);
  // Sources are registers of consecutive numbers where there are such; the others take turns as destinations.
  std::vector<std::uint32_t> sources(original.registers.begin(), original.registers.begin() + bank_registers),
      destinations(original.registers.begin() + bank_registers, original.registers.end());
  for (std::size_t i = 0; i < original.ffma.size(); ++i)
    original.set(i, destination, destinations[i % destinations.size()]);
  const auto test = [&](const std::string& name, std::array<std::uint32_t, 3> of, std::uint32_t flags) {
    Body body = original;
    const std::array fields{source_a, source_b, source_c};
    for (std::size_t k = 0; k < 3; ++k) body.set_all(fields[k], of[k]);
    body.set_all(reuse, flags);
    add(p, name, body, wide_threads, 8, texts);
  };
  for (std::size_t a = 0; a < sources.size(); ++a)
    for (std::size_t b = a + 1; b < sources.size(); ++b)
      for (std::size_t c = b + 1; c < sources.size(); ++c)
        test(fmt::format("bank.{}.{}.{}", sources[a], sources[b], sources[c]), {sources[a], sources[b], sources[c]}, 0);
  // Three registers whose numbers agree in the lowest bits lie in one bank, if any three do.
  std::vector<std::uint32_t> alike;
  for (std::uint32_t r : sources)
    if (r % 4 == sources.front() % 4) alike.push_back(r);
  if (alike.size() >= 3)
    for (std::uint32_t flags : {0U, 1U, 2U, 4U, 7U})
      test(fmt::format("reuse.{}", flags), {alike[0], alike[1], alike[2]}, flags);
  return p;
}

/// Rows and columns of a tile in the order of a path.
std::vector<std::pair<int, int>> path_of(const Order& o) {
  std::vector<std::pair<int, int>> out;
  if (o.path == Order::Path::columns) {
    for (int c = 0; c < o.columns; ++c)
      for (int r = 0; r < o.rows; ++r) out.emplace_back(r, c);
    return out;
  }
  for (int r = 0; r < o.rows; ++r)
    for (int c = 0; c < o.columns; ++c)
      out.emplace_back(r, o.path == Order::Path::serpentine && r % 2 == 1 ? o.columns - 1 - c : c);
  return out;
}

/// Registers of the factors, then of the accumulators; nothing where there are too few of a parity.
std::vector<std::uint32_t> registers_of(const Order& o, const std::vector<std::uint32_t>& all) {
  std::vector<std::uint32_t> left = all, out;
  const auto take = [&](int count, int parity) {
    for (auto i = left.begin(); i != left.end() && count > 0;) {
      if (parity >= 0 && static_cast<int>(*i % 2) != parity) {
        ++i;
        continue;
      }
      out.push_back(*i);
      i = left.erase(i);
      --count;
    }
    return count == 0;
  };
  const int of_a = o.parity == Order::Parity::mixed ? -1 : 0;
  const int of_b = o.parity == Order::Parity::mixed ? -1 : o.parity == Order::Parity::apart ? 1 : 0;
  if (!take(o.rows, of_a) || !take(o.columns, of_b) || !take(o.rows * o.columns, -1)) return {};
  return out;
}

Phase order_search(const std::string& ptxas, int architecture) {
  Phase p = phase_of("order of FFMA");
  const Body original(ptxas, fma_body(48, order_texts), architecture);
  add(p, "order.assembler", original, wide_threads, 16, order_texts);
  int index = -1;
  for (const Order& o : orders()) {
    ++index;
    const std::vector<std::uint32_t> registers = registers_of(o, original.registers);
    if (registers.empty()) continue;
    const auto rows = static_cast<std::size_t>(o.rows), columns = static_cast<std::size_t>(o.columns);
    const std::vector<std::pair<int, int>> path = path_of(o);
    Body body = original;
    for (std::size_t i = 0; i < body.ffma.size(); ++i) {
      const auto [r, c] = path[i % path.size()];
      const auto [next_r, next_c] = path[(i + 1) % path.size()];
      const std::uint32_t a = registers[static_cast<std::size_t>(r)], b = registers[rows + static_cast<std::size_t>(c)];
      const std::uint32_t sum =
          registers[rows + columns + static_cast<std::size_t>(r) * columns + static_cast<std::size_t>(c)];
      body.set(i, destination, sum);
      body.set(i, source_a, a);
      body.set(i, source_b, b);
      body.set(i, source_c, sum);
      const bool last = i + 1 == body.ffma.size();
      body.set(i, reuse, o.reuse && !last ? (next_r == r ? 1U : 0U) | (next_c == c ? 2U : 0U) : 0U);
      body.set(i, stall, o.stall);
      body.set(i, yield, o.yield ? 0 : 1);
    }
    add(p, fmt::format("order.{}", index), body, wide_threads, 16, order_texts);
  }
  return p;
}

}  // namespace

std::vector<Order> orders() {
  std::vector<Order> out;
  for (const auto& [rows, columns] : {std::pair{4, 8}, std::pair{6, 8}})
    for (auto path : {Order::Path::rows, Order::Path::serpentine, Order::Path::columns})
      for (auto parity : {Order::Parity::apart, Order::Parity::alike, Order::Parity::mixed})
        for (bool reuse_flags : {false, true})
          for (unsigned stall_value : {1U, 2U})
            for (bool yields : {false, true})
              out.push_back({rows, columns, path, parity, reuse_flags, stall_value, yields});
  return out;
}

std::string words_of(const Order& o) {
  const char* paths[] = {"by rows", "by rows to and fro", "by columns"};
  const char* parities[] = {"factors of even and odd registers", "factors of even registers",
                            "factors of any registers"};
  return fmt::format("{} x {} accumulators {}, {}, {} reuse flags, stall {}, {}", o.rows, o.columns,
                     paths[static_cast<int>(o.path)], parities[static_cast<int>(o.parity)], o.reuse ? "with" : "no",
                     o.stall, o.yield ? "yielding" : "not yielding");
}

void add_patched(Plan& plan, const PlanOptions& options) {
  constexpr int first_patched = 70;
  if (plan.info.architecture < first_patched) {
    plan.notes.emplace_back("patched cubins: control fields are known from compute capability 7.0 on");
    return;
  }
  if (options.ptxas.empty()) {
    plan.notes.emplace_back("patched cubins: ptxas is not found; name it by " KC_SETTING(ptxas) " PATH");
    return;
  }
  try {
    std::vector<Phase> phases{stall_sweep(options.ptxas, plan.info.architecture),
                              banks(options.ptxas, plan.info.architecture),
                              order_search(options.ptxas, plan.info.architecture)};
    std::ranges::move(phases, std::back_inserter(plan.phases));
  } catch (const Error& e) {
    plan.notes.push_back("patched cubins: " + options.ptxas + ": " + message_of(e));
  }
}

}  // namespace kernelcast::probe::cuda
