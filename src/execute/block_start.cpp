// What a block starts from: the register files of its warps with the inputs that every lane has.
#include "execute/block_runner.h"

#include <algorithm>
#include <bit>
#include <cstring>
#include <limits>

#include "execute/for_lanes.h"
#include "execute/half.h"
#include "kernelcast/address.h"

namespace kernelcast::interpreter {
namespace {

constexpr std::uint32_t scratch_bytes = 16 * 64;  // behind the file: one row, for results of lanes that are off

std::uint64_t bits_of_scalar(const ArgValue& value, ValueType type) {
  const double* real = std::get_if<double>(&value);
  if (is_float(type)) {
    const double v = real != nullptr ? *real : static_cast<double>(std::get<std::int64_t>(value));
    return type == ValueType::f64   ? std::bit_cast<std::uint64_t>(v)
           : type == ValueType::f32 ? std::bit_cast<std::uint32_t>(static_cast<float>(v))
                                    : Half(v).bits;
  }
  const auto whole =
      static_cast<std::uint64_t>(real != nullptr ? static_cast<std::int64_t>(*real) : std::get<std::int64_t>(value));
  return type == ValueType::i1 ? static_cast<std::uint64_t>(whole != 0) : whole;
}

}  // namespace

std::int64_t BlockRunner::bytes_for(const LaunchPlan& plan) {
  constexpr std::int64_t most = std::numeric_limits<std::int64_t>::max() / 4;
  const auto threads = plan.launch.block.count();
  const auto warps = (threads + plan.geometry.warp_size - 1) / plan.geometry.warp_size;
  std::int64_t stacks = 0, files = 0;
  const std::int64_t each = plan.program->program.stack_bytes;
  if (each > most / 4 || __builtin_mul_overflow(plan.options.check_shared ? 2 * each : each, threads, &stacks))
    return most;
  if (__builtin_mul_overflow(static_cast<std::int64_t>(plan.program->file_bytes), warps, &files)) return most;
  std::int64_t shared = SharedMemory::bytes_for(plan.shared_bytes, plan.watch_unit, plan.options.check_shared);
  if (plan.in_order && plan.options.check_shared &&
      __builtin_add_overflow(
          shared,
          plan.shared_bytes / plan.watch_unit *
              SharedOrder::bytes_per_unit(static_cast<int>(threads), static_cast<int>(plan.geometry.warp_size)),
          &shared))
    return most;
  return std::min(most, shared / 4 + stacks / 4 + files / 4) == most ? most : shared + stacks + files;
}

BlockRunner::BlockRunner(const LaunchPlan& plan)
    : plan_(plan),
      prepared_(*plan.program),
      program_(plan.program->program),
      threads_(static_cast<int>(plan.launch.block.count())),
      warps_((threads_ + plan.geometry.warp_size - 1) / plan.geometry.warp_size),
      width_(plan.geometry.warp_size),
      rows_((width_ + lanes_at_once - 1) / lanes_at_once),
      requests_(plan.geometry),
      shared_(plan.shared_bytes, plan.watch_unit, plan.options.check_shared, plan.options.independent_threads),
      stack_bytes_(program_.stack_bytes) {
  counts_.blocks.resize(plan.profile->blocks.size());
  counts_.accesses.resize(static_cast<std::size_t>(plan.total_accesses));
  counts_.branches.resize(plan.profile->branches.size());
  stacks_.resize(static_cast<std::size_t>(stack_bytes_ * threads_));
  if (plan.options.check_shared) stack_written_.resize(stacks_.size());
  if (plan.in_order) shared_.keep_order(threads_, width_);
  warp_.resize(static_cast<std::size_t>(warps_));
  for (Warp& w : warp_) {
    w.storage = std::make_unique<unsigned char[]>(prepared_.file_bytes + scratch_bytes + 64);
    const auto at = reinterpret_cast<std::uintptr_t>(w.storage.get());
    w.file = w.storage.get() + ((at + 63) / 64 * 64 - at);
    fill_local_ids(w, static_cast<int>(&w - warp_.data()));
    set_inputs(w);
  }
}

// What is the same for all lanes of all blocks.
void BlockRunner::set_inputs(Warp& w) {
  for (const ProgramInput& in : program_.inputs) {
    std::uint64_t value = in.low;
    const std::uint32_t place = prepared_.place[in.reg];
    const int size = size_of(in.type);
    switch (in.kind) {
      case ProgramInput::Kind::constant:
        break;
      case ProgramInput::Kind::local_size:
        value = static_cast<std::uint64_t>(plan_.launch.block.array()[in.low]);
        break;
      case ProgramInput::Kind::num_groups:
        value = static_cast<std::uint64_t>(plan_.launch.grid.array()[in.low]);
        break;
      case ProgramInput::Kind::global_size:
        value = static_cast<std::uint64_t>(plan_.launch.grid.array()[in.low] * plan_.launch.block.array()[in.low]);
        break;
      case ProgramInput::Kind::buffer: {
        const auto b = static_cast<std::size_t>(in.low);
        value = plan_.shared_place[b] >= 0 ? static_cast<std::uint64_t>(plan_.shared_place[b])
                                           : global_address(static_cast<int>(b), static_cast<std::int64_t>(in.high));
        break;
      }
      case ProgramInput::Kind::parameter_block:
        value = (parameter_window << window_bits) + in.low;
        break;
      case ProgramInput::Kind::stack:
        value = (private_window << window_bits) + in.low;
        break;
      case ProgramInput::Kind::scalar:
        if (const auto found = plan_.scalars.find(in.name); found != plan_.scalars.end())
          value = bits_of_scalar(found->second, in.type);
        break;
      default:
        continue;
    }
    for (int l = 0; l < rows_ * lanes_at_once; ++l) {
      set_bits(w, place, std::min(size, 8), size == 16 ? 2 * l : l, value);
      if (size == 16) set_bits(w, place, 8, 2 * l + 1, in.high);
    }
  }
}

// Copies of a size that the compiler knows: a copy of 4 bytes into 8, read back as 8, would stall each time.
std::uint64_t BlockRunner::bits_at(const Warp& w, std::uint32_t at, int size, int lane) {
  const unsigned char* from = w.file + at + static_cast<std::ptrdiff_t>(size) * lane;
  const auto as = [from]<class T>(T v) {
    std::memcpy(&v, from, sizeof v);
    return std::uint64_t{v};
  };
  if (size == 4) return as(std::uint32_t{});
  if (size >= 8) return as(std::uint64_t{});
  if (size == 2) return as(std::uint16_t{});
  if (size == 1) return as(std::uint8_t{});
  std::uint64_t v = 0;
  std::memcpy(&v, from, static_cast<std::size_t>(size));
  return v;
}

void BlockRunner::set_bits(Warp& w, std::uint32_t at, int size, int lane, std::uint64_t value) {
  unsigned char* to = w.file + at + static_cast<std::ptrdiff_t>(size) * lane;
  if (size == 4)
    std::memcpy(to, &value, 4);
  else if (size == 8)
    std::memcpy(to, &value, 8);
  else
    std::memcpy(to, &value, static_cast<std::size_t>(size));
}

Dim3 BlockRunner::thread_of(int linear) const {
  const Dim3& b = plan_.launch.block;
  return {linear % b.x, linear / b.x % b.y, linear / (b.x * b.y)};
}

void BlockRunner::begin(std::int64_t index) {
  const Dim3& grid = plan_.launch.grid;
  group_ = {index % grid.x, index / grid.x % grid.y, index / (grid.x * grid.y)};
  counts_.clear();
  shared_.begin_block();
  std::fill(stacks_.begin(), stacks_.end(), 0);
  std::fill(stack_written_.begin(), stack_written_.end(), 0);
  block_ = index;
  shares_.give_back();
  looked_at_a_flag_ = false;
  mbarriers_.begin_block();
  meetings_.clear();
  fruitless_ = 0;
  barrier_count_ = barrier_lanes_ = 0;
  barrier_value_ = {};
  for (int n = 0; n < warps_; ++n) {
    Warp& w = warp_[static_cast<std::size_t>(n)];
    w.members = first_lanes(std::min(width_, threads_ - n * width_));
    w.exited = w.waiting = w.stored = w.computed = 0;
    w.state = State::ready;
    w.instructions = w.phase_start = 0;
    w.turn = 0;
    w.gives_up = false;
    w.order = 0;
    w.paths.assign(1, {0, -1, w.members});
    if (plan_.options.independent_threads) {
      w.passed.assign(program_.blocks.size(), 0);
      begin_phase(w);
    }
    fill_group_ids(w);
  }
}

void BlockRunner::fill_local_ids(Warp& w, int number) {
  for (const ProgramInput& in : program_.inputs)
    if (in.kind == ProgramInput::Kind::local_id)
      for (int l = 0; l < width_; ++l)
        set_bits(w, prepared_.place[in.reg], size_of(in.type), l,
                 static_cast<std::uint64_t>(thread_of(number * width_ + l).array()[in.low]));
}

void BlockRunner::fill_group_ids(Warp& w) {
  for (const ProgramInput& in : program_.inputs)
    if (in.kind == ProgramInput::Kind::group_id) {
      const auto id = static_cast<std::uint64_t>(group_.array()[in.low]);
      const std::uint32_t place = prepared_.place[in.reg];
      const int size = size_of(in.type);
      if (size == 4)
        std::fill_n(row<std::uint32_t>(w, place), width_, static_cast<std::uint32_t>(id));
      else
        for (int l = 0; l < width_; ++l) set_bits(w, place, size, l, id);
    }
}

}  // namespace kernelcast::interpreter
