// What the groups of figures of the host back end share.
#pragma once

#include <functional>
#include <memory>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "io/clock.h"
#include "probe/host/host_memory.h"
#include "probe/host/team.h"
#include "probe/native/native.h"
#include "probe/series.h"

namespace kernelcast::probe::host {

/// Seconds per item of `work(n)`, which does `items` things n times; n is chosen on the first call, so that a sample
/// takes about `target_s`: long beside reading the clock, short beside a time slice of the operating system.
std::function<double()> repeated(std::function<void(std::int64_t)> work, double items, double target_s = 100e-6);

/// The fields of a device file by name; those that the table does not have are left out.
std::vector<Field> fields(std::initializer_list<std::pair<std::string_view, std::string_view>> names);

struct Bench {
  Measurement& measure;
  const Device& base;
  Team& team;
  native::Sets sets;
  std::vector<std::shared_ptr<Pages>> memory{};  // lives as long as the measurement
  std::shared_ptr<Pages> stream{};               // of stream_memory()
  std::size_t memory_limit = 0;                  // bytes that one block of memory may have

  [[nodiscard]] const native::Kernels& widest() const { return *sets.sets[sets.count - 1]; }
};

/// Latency and throughput of arithmetic, scalar and at each vector width; the mathematical library; the cost table.
void add_arithmetic(Bench& b);
/// Micro-operations that a core takes in; gathers.
void add_core(Bench& b);
/// Latency by size, the levels in it, lines in flight.
void add_latency(Bench& b);
/// Bandwidth of each level and of DRAM; copies by the C library.
void add_bandwidth(Bench& b);
/// What threads add: peak, bandwidth, cost of starting them.
void add_threads(Bench& b);

/// Seconds per byte of reading, on `threads` threads of the team at a time, from blocks of DRAM that the caches no
/// longer hold. Used by bandwidth and threads.
Measurement::Handle dram_read(Bench& b, const std::shared_ptr<Pages>& pages, int threads);
/// The memory that streams go through, or nothing when too little is free: at least twice the caches.
std::shared_ptr<Pages> stream_memory(Bench& b);

}  // namespace kernelcast::probe::host
