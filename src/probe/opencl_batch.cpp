// Launches take turns in another order each round, as the series of the host back end do, and for the same reason.
#include <algorithm>
#include <chrono>
#include <numeric>
#include <random>

#include "kernelcast/error.h"
#include "probe/opencl_wire.h"

namespace kernelcast::probe {

OpenclBatchReply run_batch(const OpenclBatch& batch) {
  using Clock = std::chrono::steady_clock;
  OpenclBatchReply reply;
  OpenclRunner runner;
  reply.failure = runner.unavailable();
  reply.no_device = !reply.failure.empty();
  if (reply.no_device) return reply;
  reply.info = runner.info();
  const std::size_t launches = batch.launches.size(), transfers = batch.transfers.size();
  reply.launches.resize(launches);
  reply.failures.resize(launches);
  reply.transfers.resize(transfers);
  std::vector<int> prepared(launches, -1);
  for (std::size_t i = 0; i < launches; ++i) {
    try {
      prepared[i] = runner.prepare(batch.launches[i]);
    } catch (const LimitError& e) {
      reply.failures[i] = message_of(e);
    }
  }
  const auto start = Clock::now();
  std::mt19937 random(1);
  std::vector<std::size_t> order(launches + transfers);
  std::iota(order.begin(), order.end(), std::size_t{0});
  for (int round = 0; round < batch.max_rounds; ++round) {
    if (round >= batch.min_rounds && std::chrono::duration<double>(Clock::now() - start).count() > batch.seconds) break;
    std::ranges::shuffle(order, random);
    for (std::size_t i : order) {
      if (i >= launches) {
        const OpenclBatch::Transfer& t = batch.transfers[i - launches];
        reply.transfers[i - launches].push_back(runner.transfer(t.bytes, t.to_device, t.count));
      } else if (prepared[i] >= 0) {
        const bool timed = batch.clock >= 0 && prepared.at(static_cast<std::size_t>(batch.clock)) >= 0;
        const double beside = timed ? runner.run(prepared[static_cast<std::size_t>(batch.clock)]).device_s : 0;
        reply.launches[i].push_back(runner.run(prepared[i]));
        reply.launches[i].back().beside_s = beside;
      }
    }
  }
  return reply;
}

}  // namespace kernelcast::probe
