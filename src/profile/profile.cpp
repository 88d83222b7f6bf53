// The small vocabulary of profiles: shared symbols, names of enumerations, sums of counts.
#include "kernelcast/profile.h"

#include <bit>
#include <cmath>

#include "kernelcast/error.h"
#include "kernelcast/workload.h"

namespace kernelcast {
namespace {

Symbol axis_symbol(std::string_view prefix, int axis) {
  if (axis < 0 || axis > 2) throw InternalError("axis " + std::to_string(axis) + " is not 0, 1 or 2");
  return Symbol(std::string(prefix) + "xyz"[axis]);
}

}  // namespace

Symbol local_id(int axis) { return axis_symbol("lid.", axis); }
Symbol group_id(int axis) { return axis_symbol("wg.", axis); }
Symbol local_size(int axis) { return axis_symbol("lsz.", axis); }
Symbol num_groups(int axis) { return axis_symbol("nwg.", axis); }
Symbol dynamic_shared() { return Symbol("dynamic_shared"); }
Symbol argument(std::string_view parameter_name) { return Symbol("arg:" + std::string(parameter_name)); }
Symbol real_argument(std::string_view parameter_name) { return Symbol("real:" + std::string(parameter_name)); }

std::optional<std::int64_t> order_of(double value) {
  if (std::isnan(value)) return std::nullopt;
  const auto bits = std::bit_cast<std::int64_t>(std::abs(value)) >> 1;
  return value < 0 ? -bits : bits;
}

void add_arguments(const Launch& launch, std::map<Symbol, Expr>& known) {
  for (const auto& [name, value] : launch.args) {
    const auto* integer = std::get_if<std::int64_t>(&value);
    if (integer != nullptr) known.emplace(argument(name), Expr(*integer));
    const auto order = order_of(integer != nullptr ? static_cast<double>(*integer) : std::get<double>(value));
    if (order) known.emplace(real_argument(name), Expr(*order));
  }
}

std::string_view name_of(MemorySpace s) {
  switch (s) {
    case MemorySpace::global:
      return "global";
    case MemorySpace::shared:
      return "shared";
    case MemorySpace::local:
      return "local";
    case MemorySpace::constant:
      return "constant";
    case MemorySpace::texture:
      return "texture";
  }
  throw InternalError("unknown memory space");
}

std::string_view name_of(AccessKind k) {
  switch (k) {
    case AccessKind::load:
      return "load";
    case AccessKind::store:
      return "store";
    case AccessKind::atomic:
      return "atomic";
  }
  throw InternalError("unknown kind of access");
}

std::string_view name_of(AtomicKind k) {
  switch (k) {
    case AtomicKind::integer:
      return "integer";
    case AtomicKind::real:
      return "floating point";
    case AtomicKind::exchange:
      return "exchange";
    case AtomicKind::compare:
      return "compare and swap";
    case AtomicKind::count_:
      break;
  }
  throw InternalError("unknown kind of atomic");
}

std::string_view name_of(Latency l) {
  switch (l) {
    case Latency::alu:
      return "arithmetic";
    case Latency::fp64:
      return "fp64";
    case Latency::special:
      return "special";
    case Latency::shared:
      return "shared";
    case Latency::constant:
      return "constant";
    case Latency::global:
      return "global";
    case Latency::local:
      return "local";
    case Latency::tensor:
      return "tensor";
    case Latency::count_:
      break;
  }
  throw InternalError("unknown class of latency");
}

void Stalls::add(const Stalls& o, double times) {
  for (std::size_t c = 0; c < latency_count; ++c) {
    waits[c] += o.waits[c] * times;
    hidden[c] += o.hidden[c] * times;
  }
  loads += o.loads * times;
  text_order_spills += o.text_order_spills * times;
  fills += o.fills * times;
  products += o.products * times;
  cluster_barriers += o.cluster_barriers * times;
}

Stalls& Stalls::operator+=(const Stalls& o) {
  for (std::size_t c = 0; c < latency_count; ++c) {
    waits[c] += o.waits[c];
    hidden[c] += o.hidden[c];
  }
  loads += o.loads;
  text_order_spills += o.text_order_spills;
  fills += o.fills;
  products += o.products;
  cluster_barriers += o.cluster_barriers;
  return *this;
}

void BarrierPhase::add(const BarrierPhase& o, double times) {
  instructions += o.instructions * times;
  branches += o.branches * times;
  barriers += o.barriers * times;
  arithmetic += o.arithmetic * times;
  shared += o.shared * times;
  global += o.global * times;
  products += o.products * times;
  for (std::size_t c = 0; c < latency_count; ++c) {
    waits[c] += o.waits[c] * times;
    hidden[c] += o.hidden[c] * times;
  }
}

void add_events(std::vector<AsyncEvent>& to, const std::vector<AsyncEvent>& from, double slots) {
  for (AsyncEvent e : from) {
    e.first += slots;
    e.last += slots;
    if (!to.empty() && to.back().kind == e.kind && to.back().open == e.open) {
      to.back().count += e.count;
      to.back().last = e.last;
    } else {
      to.push_back(e);
    }
  }
}

void add_phases(std::vector<BarrierPhase>& to, const std::vector<BarrierPhase>& from, double times) {
  if (times <= 0) return;
  for (const BarrierPhase& p : from) {
    auto at = std::find_if(to.begin(), to.end(), [&](const BarrierPhase& o) { return o.id == p.id; });
    if (at == to.end()) at = to.insert(to.end(), BarrierPhase{.id = p.id});
    at->add(p, times);
  }
}

bool Guard::always() const {
  if (paths.size() != 1 || !paths[0].factors.empty()) return false;
  const auto known = paths[0].condition.constant();
  return known && *known != 0;
}

AccessCount& AccessCount::operator+=(const AccessCount& o) {
  requests += o.requests;
  lanes += o.lanes;
  sectors += o.sectors;
  segments += o.segments;
  bank_passes += o.bank_passes;
  bytes += o.bytes;
  words += o.words;
  return *this;
}

}  // namespace kernelcast
