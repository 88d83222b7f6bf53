// Is the GPU worth it? Transfers, power, cost and decision; the published model of 2017 beside ours.
#pragma once

#include <optional>
#include <span>
#include <string>
#include <vector>

#include "kernelcast/device.h"
#include "kernelcast/estimate.h"

namespace kernelcast::offload {

// ---- transfers: LogGP (Alexandrov, Ionescu, Schauser, Scheiman: LogGP, SPAA 1995) ----

/// One direction of the link between host and device.
struct LinkDirection {
  double latency_s = 0;    // L
  double overhead_s = 0;   // o
  double gap_s = 0;        // g, between the starts of two messages
  double s_per_byte = 0;   // G
  double eager_bytes = 0;  // messages up to this size move at eager_s_per_byte
  double eager_s_per_byte = 0;
};
struct Link {
  LinkDirection to, from;  // host to device, device to host
  std::vector<Assumption> assumptions;
};

/// Seconds for messages of these sizes in bytes, one after the other: L + o + sum (k - 1) G + (n - 1) g (formula 12 of
/// the model of 2017). 0 without messages.
double one_way_s(const LinkDirection& direction, std::span<const double> messages);
/// Both directions as the model of 2017 writes them (13 to 16, with the sign of 14 that follows from 12): equal to the
/// sum of both one_way_s when there are messages in both and none is eager.
double both_ways_s(const Link& link, std::span<const double> in, std::span<const double> out);

enum class HostMemory : std::uint8_t { pageable, pinned };
/// LogGP terms of a GPU's link. What the device file does not have is stated in `assumptions`:
/// - payload rate: raw link bandwidth times payload / (payload + header of a packet); PCI Express.
/// - pageable: the driver copies each piece into a pinned buffer before it moves. Copying takes three passes over the
///   host's memory for a byte (read, fetch of the line to be written, write back), and copy and transfer alternate.
///   Messages to the device of at most link.eager_bytes go with the command, at the rate of pinned memory.
/// - L + o of a message: 10 us (docs/reference/offload.md).
/// Throws UserError when the GPU has no link bandwidth.
Link link_of(const Device& gpu, const Device& cpu, HostMemory memory);

// ---- power and cost ----

/// Watt by instructions, in place of the thermal design power (busy_power.h): idle + instructions per second * energy of one (20).
double busy_power_by_instructions(double idle_w, double instructions_per_s, double instruction_j);

struct Weights {
  double time = 1, energy = 0;
};
/// Throws UsageError unless both are 0 or more and add up to 1.
void check(const Weights& w);
/// w1 * Time + w2 * Energy of transfers at idle power and execution at busy power (21 to 23); seconds and joules are
/// added as numbers, as the model of 2017 has it.
double cost(const Weights& w, double transfer_s, double idle_w, double execution_s, double busy_w);

// ---- the model of 2017: Roofline, LogGP and power ----

struct Node2017 {
  double clock_hz = 0, units = 0, bandwidth_bytes_per_s = 0;
};
struct Workload2017 {
  double operations = 0;           // N_ops
  double memory_instructions = 0;  // N_mem
  double access_bytes = 8;         // of one of these
  std::vector<double> in, out;     // messages, bytes
};
/// What is printed wrongly in the source; all off: the corrected equations.
struct Faults2017 {
  bool larger_roof = false;               // (8) and (10): the larger of the two roofs
  bool intensity_by_instruction = false;  // (5): operations per memory instruction taken for operations per byte
  bool cpu_bandwidth_tenth = false;       // table of platforms: 2.56 GB/s for 25.6
  bool gap_added = false;                 // (14): + g to the device, where (12) and (13) give - g
};
inline constexpr Faults2017 as_printed{true, true, true, true};

/// A fault under the name that `--faults` takes.
struct FaultName2017 {
  std::string_view name;
  bool Faults2017::* fault;
  std::string_view what;
};
std::span<const FaultName2017> fault_names_2017();
/// "none", "as-printed" (all of them) or names from `fault_names_2017`; none at all is "none". Throws UsageError that
/// names --faults and the nearest name.
Faults2017 faults_2017(std::span<const std::string> names);
/// The names of those that are in.
std::vector<std::string> names_of(const Faults2017& faults);

/// Operations a second: min(BW * AI, f * N), or as printed (4 to 8).
double performance_2017(const Node2017& node, const Workload2017& work, const Faults2017& faults);

struct Times2017 {
  double cpu_s = 0, transfer_s = 0, execution_s = 0;
  double cpu_performance = 0, gpu_performance = 0;  // operations a second
  [[nodiscard]] double gpu_s() const { return transfer_s + execution_s; }
  [[nodiscard]] bool gpu() const { return gpu_s() < cpu_s; }
};
/// Times by (2), (3), (9) and (11); the decision for weights time = 1, energy = 0.
Times2017 offload_2017(const Node2017& cpu, const Node2017& gpu, const Link& link, const Workload2017& work,
                        const Faults2017& faults);

/// Clock, units and bandwidth as the source counts them: cores on a CPU, FP32 lanes of all units on a GPU, base clocks.
/// Throws UserError for what the device file does not have.
Node2017 node_2017(const Device& device);

// ---- our decision ----

/// A time with its 90 % interval, symmetric in the logarithm.
struct SideTime {
  double time_s = 0;
  double factor = 1;  // the interval is time / factor to time * factor
};

enum class Decision : std::uint8_t { cpu, gpu, too_close };
std::string_view name_of(Decision d);

struct Verdict {
  Decision decision = Decision::too_close;
  double probability = 0.5;    // that the cheaper side, as forecast, is the cheaper one
  double tie_probability = 0;  // that the dearer side costs at most tie_ratio times the cheaper one
  bool has_margin = true;      // false: by a model that knows no error; the probabilities say nothing
};
/// Sides this close are a tie.
inline constexpr double tie_ratio = 1.10;
/// Errors of the two sides are taken as independent and normal in the logarithm. "Too close" claims a tie: it is said
/// where a tie is likelier than that the cheaper side, as forecast, is the cheaper one; and where the probability of
/// that is below `confidence` (0.5: no such wish).
Verdict decide(const SideTime& cpu, const SideTime& gpu, double confidence);

}  // namespace kernelcast::offload
