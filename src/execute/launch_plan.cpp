#include "execute/launch_plan.h"

#include <algorithm>
#include <bit>
#include <cstring>
#include <set>

#include "execute/half.h"
#include "kernelcast/address.h"
#include "kernelcast/error.h"
#include "kernelcast/setting.h"
#include "profile/launch_check.h"

namespace kernelcast::interpreter {
namespace {

constexpr std::int64_t assumed_dynamic_shared =
    48 << 10;  // what every NVIDIA GPU since Fermi and every AMD GPU since GCN has

double as_real(const ArgValue& v) {
  return std::holds_alternative<double>(v) ? std::get<double>(v) : static_cast<double>(std::get<std::int64_t>(v));
}
std::int64_t as_integer(const ArgValue& v) {
  return std::holds_alternative<double>(v) ? static_cast<std::int64_t>(std::get<double>(v)) : std::get<std::int64_t>(v);
}

std::set<std::uint32_t> registers_read(const Program& program) {
  std::set<std::uint32_t> read;
  for (const SimtInstruction& i : program.code) {
    read.insert(i.a);
    for (std::uint32_t k = 0; i.b != no_register && k < (i.op == Opcode::store ? i.extra : 1U); ++k)
      read.insert(i.b + k);
    read.insert(i.c);
  }
  for (const ProgramBlock& b : program.blocks) {
    read.insert(b.condition);
    for (const Edge& e : b.edges)
      for (const Copy& c : e.copies) read.insert(c.src);
  }
  return read;
}

BulkOp bulk_of(const SimtInstruction& i) { return static_cast<BulkOp>(i.imm & 0xff); }

/// What is executed is counted under the profile's numbers: both must be of one analysis.
void check_numbers(const KernelProfile& profile, const Program& program) {
  const auto blocks = static_cast<int>(profile.blocks.size()), branches = static_cast<int>(profile.branches.size());
  int accesses = 0;
  for (const Block& b : profile.blocks) accesses += static_cast<int>(b.accesses.size());
  bool good = true;
  for (const ProgramBlock& b : program.blocks)
    good = good && b.profile_block < blocks && b.last_block < blocks && b.branch < branches;
  for (const AccessSite& s : program.sites)
    for (const AccessSite::Piece& p : s.pieces) good = good && p.access < accesses && p.last < accesses;
  if (!good) throw InternalError("the kernel that is executed is not the one that was counted");
}

}  // namespace

Plan::Plan(const KernelProfile& profile, const Program& program, const Launch& launch, const MemoryGeometry& geometry,
           const ExecuteOptions& options)
    : profile_(profile), program_(program), prepared_(program, geometry.warp_size) {
  LaunchReader(profile).read(launch);  // sizes and names
  check_numbers(profile, program);
  if (geometry.warp_size > 64) throw LimitError("warps of more than 64 lanes cannot be executed");
  plan_.profile = &profile;
  plan_.program = &prepared_;
  plan_.launch = launch;
  plan_.geometry = geometry;
  plan_.options = options;
  place_shared(launch);
  take_scalars(launch);
  memory_ = std::make_unique<Memory>(profile, program, launch, options);
  plan_.memory = memory_.get();
  for (int b = 0; b < static_cast<int>(profile.buffers.size()); ++b)
    if (!relevance().of_buffer(b)) memory_->decides_nothing(b);
  fill_parameters(launch);
  plan_.total_accesses = 0;
  for (const Block& b : profile.blocks) plan_.total_accesses += static_cast<int>(b.accesses.size());
  for (const SimtInstruction& i : program.code) {
    const bool memory = i.op == Opcode::load || i.op == Opcode::store || i.op == Opcode::atomic;
    if (memory && i.pointing != Pointing::stack && (size_of(i.type) < 4 || (i.alignment > 0 && i.alignment < 4)))
      plan_.watch_unit = 1;
    const auto m = static_cast<MbarrierOp>(i.imm & 0xff);
    plan_.mbarriers =
        plan_.mbarriers || (i.op == Opcode::mbarrier &&
                            (m == MbarrierOp::init || m == MbarrierOp::wait_state || m == MbarrierOp::wait_parity));
    plan_.some_only_arrive = plan_.some_only_arrive || i.op == Opcode::barrier_arrive;
    plan_.in_order = plan_.in_order || i.op == Opcode::barrier_arrive || i.asynchronous || i.op == Opcode::mbarrier ||
                     i.op == Opcode::bulk_read;
  }
  plan_.warps_apart = warps_apart();
  const bool all_blocks = options.sample < 0 || options.sample >= launch.grid.count() || options.keep_buffers;
  if (!all_blocks) plan_.work_counters = work_counters(profile, program, registers_read(program));
  if (options.check_shared) watch_global();
}

/// Buffers that something writes plainly, or all where it is not known which: a conflict needs a write.
void Plan::watch_global() {
  constexpr std::int64_t most_threads = 4096;  // what a watched word can tell apart
  if (plan_.launch.block.count() > most_threads) return;
  std::set<int> written;
  bool unknown = false, narrow = false;
  for (const SimtInstruction& i : program_.code) {
    const bool stores = i.op == Opcode::store || (i.op == Opcode::bulk_write && bulk_of(i) != BulkOp::reduce);
    const bool memory = stores || i.op == Opcode::load || i.op == Opcode::atomic;
    if (!memory || i.pointing != Pointing::generic) continue;
    narrow = narrow || size_of(i.type) < 4 || (i.alignment > 0 && i.alignment < 4);
    if (!stores) continue;
    const AccessSite* site = i.site < 0 ? nullptr : &program_.sites[static_cast<std::size_t>(i.site)];
    if (site != nullptr && (site->space == MemorySpace::shared || site->space == MemorySpace::local)) continue;
    if (site == nullptr || site->buffer < 0)
      unknown = true;
    else
      written.insert(site->buffer);
  }
  std::vector<int> buffers;
  for (int b = 0; b < static_cast<int>(profile_.buffers.size()); ++b) {
    const MemorySpace space = profile_.buffers[static_cast<std::size_t>(b)].space;
    if (space == MemorySpace::global && (unknown || written.contains(b))) buffers.push_back(b);
  }
  memory_->watch(buffers, narrow ? 0 : 2);
  plan_.watches_global = std::any_of(buffers.begin(), buffers.end(), [this](int b) { return memory_->watched(b); });
}

void Plan::place_shared(const Launch& launch) {
  plan_.shared_place = program_.shared_offsets;
  plan_.shared_place.resize(profile_.buffers.size(), -1);
  plan_.shared_bytes = program_.shared_bytes;
  for (std::size_t b = 0; b < profile_.buffers.size(); ++b) {
    const Buffer& buffer = profile_.buffers[b];
    if (buffer.space != MemorySpace::shared || plan_.shared_place[b] >= 0) continue;
    const auto given = launch.buffers.find(buffer.name);
    std::int64_t bytes = launch.dynamic_shared_bytes;
    if (given != launch.buffers.end()) {
      bytes = given->second.elements * size_of(program_.element_types[b]);
    } else if (bytes == 0) {
      bytes = assumed_dynamic_shared;
      assumptions_.push_back(
          {"size of the shared array '" + buffer.name + "'", std::to_string(bytes) + " bytes",
           buffer.parameter >= 0 ? KC_SETTING(buffer) " " + buffer.name + "=COUNT" : KC_SETTING(shared) " BYTES"});
    }
    plan_.shared_bytes = (plan_.shared_bytes + 15) / 16 * 16;
    plan_.shared_place[b] = plan_.shared_bytes;
    // `extern __shared__` arrays all start at one place; arguments of OpenCL stand one after the other.
    if (buffer.parameter >= 0) plan_.shared_bytes += (bytes + 15) / 16 * 16;
  }
  std::int64_t behind = 0;
  for (std::size_t b = 0; b < profile_.buffers.size(); ++b)
    if (profile_.buffers[b].space == MemorySpace::shared && program_.shared_offsets[b] < 0 &&
        profile_.buffers[b].parameter < 0)
      behind = launch.dynamic_shared_bytes > 0 ? launch.dynamic_shared_bytes : assumed_dynamic_shared;
  plan_.shared_bytes += behind;
}

void Plan::take_scalars(const Launch& launch) {
  const std::set<std::uint32_t> read = registers_read(program_);
  for (const ProgramInput& in : program_.inputs) {
    if (in.kind != ProgramInput::Kind::scalar || !read.contains(in.reg)) continue;
    const auto given = launch.args.find(in.name);
    if (given != launch.args.end()) {
      plan_.scalars[in.name] = given->second;
    } else if (is_float(in.type)) {
      plan_.scalars[in.name] = 1.0;
      assumptions_.push_back({"argument '" + in.name + "'", "1.0", KC_SETTING(arg) " " + in.name + "=VALUE"});
    } else if (!plan_.options.keep_buffers && !relevance().of_register(in.reg)) {
      take_irrelevant(in.name);
      plan_.scalars[in.name] = std::int64_t{1};
    } else if (!plan_.options.keep_buffers && only_moves_addresses(profile_, in.name)) {
      assumptions_.push_back(zero_distance(in.name));
      plan_.scalars[in.name] = std::int64_t{0};
    } else {
      throw UserError("the argument '" + in.name + "' is needed to execute the kernel: give " KC_SETTING(arg) " " +
                      in.name + "=VALUE");
    }
  }
}

const Relevance& Plan::relevance() {
  if (!relevance_) relevance_.emplace(program_);
  return *relevance_;
}

void Plan::take_irrelevant(const std::string& name) {
  assumptions_.push_back(
      {"argument '" + name + "', on which no count depends", "1", KC_SETTING(arg) " " + name + "=VALUE"});
}

void Plan::fill_parameters(const Launch& launch) {
  std::vector<std::int64_t> start;
  std::int64_t total = 0;
  for (std::int64_t bytes : program_.parameter_bytes) {
    start.push_back(total);
    total += (bytes + 15) / 16 * 16;
  }
  plan_.parameters.assign(static_cast<std::size_t>(total), 0);
  for (const ParameterField& f : program_.fields) {
    unsigned char* to = plan_.parameters.data() + start[static_cast<std::size_t>(f.parameter)] + f.at;
    const auto buffer = std::find_if(profile_.buffers.begin(), profile_.buffers.end(),
                                     [&](const Buffer& b) { return b.name == f.name; });
    if (f.pointer && buffer != profile_.buffers.end()) {
      const std::uint64_t address = global_address(static_cast<int>(buffer - profile_.buffers.begin()), 0);
      std::memcpy(to, &address, 8);
      continue;
    }
    const auto given = launch.args.find(f.name);
    const bool integer = !is_float(f.type);
    if (given == launch.args.end() && integer && !plan_.options.keep_buffers && !relevance().of_field(f)) {
      take_irrelevant(f.name);
      to[0] = 1;  // the rest is zero
      continue;
    }
    if (given == launch.args.end() && integer) {
      throw UserError("the argument '" + f.name + "' is needed to execute the kernel: give " KC_SETTING(arg) " " +
                      f.name + "=VALUE");
    }
    if (given == launch.args.end())
      assumptions_.push_back({"argument '" + f.name + "'", "1.0", KC_SETTING(arg) " " + f.name + "=VALUE"});
    const double real = given == launch.args.end() ? 1.0 : as_real(given->second);
    std::uint64_t bits = 0;
    if (f.type == ValueType::f64)
      bits = std::bit_cast<std::uint64_t>(real);
    else if (f.type == ValueType::f32)
      bits = std::bit_cast<std::uint32_t>(static_cast<float>(real));
    else if (f.type == ValueType::f16)
      bits = Half(real).bits;
    else
      bits = static_cast<std::uint64_t>(as_integer(given->second));
    std::memcpy(to, &bits, static_cast<std::size_t>(std::min(size_of(f.type), 8)));
  }
}

std::vector<Assumption> Plan::assumptions() const {
  std::vector<Assumption> all = assumptions_;
  const std::vector<Assumption> memory = memory_->assumptions();
  all.insert(all.end(), memory.begin(), memory.end());
  return all;
}

bool Plan::warps_apart() const {
  if (plan_.in_order) return false;
  const std::set<std::uint32_t> read = registers_read(program_);
  return std::none_of(program_.code.begin(), program_.code.end(), [&](const SimtInstruction& i) {
    if (i.op == Opcode::barrier || i.pointing == Pointing::shared) return true;
    if (i.op == Opcode::atomic && read.contains(i.dst)) return true;
    return i.site >= 0 && program_.sites[static_cast<std::size_t>(i.site)].space == MemorySpace::shared;
  });
}

bool Plan::order_free() const {
  const std::set<std::uint32_t> read = registers_read(program_);
  std::set<int> loads, stores;
  for (const SimtInstruction& i : program_.code) {
    const bool load = i.op == Opcode::load || i.op == Opcode::bulk_read, atomic = i.op == Opcode::atomic;
    const bool store = i.op == Opcode::store || (i.op == Opcode::bulk_write && bulk_of(i) != BulkOp::reduce);
    if (i.op == Opcode::bulk_write && !store) return false;  // its updates take no locks
    if (!(load || store || atomic) || i.pointing != Pointing::generic) continue;
    int buffer = -1;
    if (i.site >= 0) {
      const AccessSite& site = program_.sites[static_cast<std::size_t>(i.site)];
      if (site.space == MemorySpace::shared || site.space == MemorySpace::local) continue;
      buffer = site.buffer;
    } else if (load) {
      continue;  // parameters
    }
    if (atomic && read.contains(i.dst)) return false;
    (load ? loads : stores).insert(buffer);
  }
  if (stores.empty()) return true;
  if (stores.contains(-1) || loads.contains(-1)) return loads.empty();
  return std::none_of(stores.begin(), stores.end(), [&](int b) { return loads.contains(b); });
}

}  // namespace kernelcast::interpreter
