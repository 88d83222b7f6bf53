// LogGP: a message of k bytes takes L + o + (k - 1) G; messages that follow one another start g apart.
// Where no measurement is at hand, G follows from the link's packets: PCI Express moves payloads of at most
// `link.payload_bytes` behind five to seven double words of framing, header and checksum (Intel, AN 708,
// "Understanding PCI Express Throughput"). Six are taken towards the device, which reads: completions have short
// headers; seven from it: writes to 64-bit addresses have long ones. Overlap with acknowledgements is left out.
//
// L + o = 10 us: the constant part of cudaMemcpy in either direction, pageable or pinned, as measured by M. Boyer
// (University of Virginia, "Memory Transfer Overhead": GeForce GTX 280, PCI Express 2.0). It belongs to driver and host
// more than to the link; a device file's link section replaces it.
#include <algorithm>
#include <numeric>

#include "device/describe.h"
#include "kernelcast/error.h"
#include "kernelcast/offload.h"

namespace kernelcast::offload {
namespace {

constexpr double start_s = 1e-5;
constexpr double least_payload = 128;  // bytes; every PCI Express device takes it (base specification)
constexpr double double_word = 4;
constexpr double passes_of_a_copy = 3;

class LinkReader {
 public:
  LinkReader(const Device& d, Link& link) : device_(d), link_(link) {}
  double operator()(Field f, double stand_in, const std::string& why) {
    if (const auto v = device_.get(f)) return *v;
    const Assumption a{describe::key_of(f) + " of " + device_.name, describe::number(stand_in) + " (" + why + ")",
                       describe::where_to_set(device_, describe::key_of(f).c_str())};
    auto& known = link_.assumptions;
    if (std::find(known.begin(), known.end(), a) == known.end()) known.push_back(a);
    return stand_in;
  }

 private:
  const Device& device_;
  Link& link_;
};

struct Fields {
  Field latency, overhead, gap, bandwidth, pageable;
};
constexpr Fields to_fields{Field::link_to_latency_s, Field::link_to_overhead_s, Field::link_to_gap_s,
                           Field::link_to_bandwidth_bytes_per_s, Field::link_to_pageable_bandwidth_bytes_per_s};
constexpr Fields from_fields{Field::link_from_latency_s, Field::link_from_overhead_s, Field::link_from_gap_s,
                             Field::link_from_bandwidth_bytes_per_s, Field::link_from_pageable_bandwidth_bytes_per_s};

LinkDirection direction_of(const Device& gpu, const Device& cpu, HostMemory memory, const Fields& f, double header,
                           Link& link) {
  LinkReader read(gpu, link);
  LinkDirection d;
  d.latency_s = gpu.get_or(f.latency, 0);  // L and o are one number where they were not measured apart
  d.overhead_s = read(f.overhead, start_s, "constant part of a copy by the driver");
  d.gap_s = gpu.get_or(f.gap, d.overhead_s + d.latency_s);  // the driver takes one copy after the other
  const auto pinned = [&] {
    if (const auto v = gpu.get(f.bandwidth)) return *v;
    const double payload = gpu.get_or(Field::link_payload_bytes, least_payload);
    return read(f.bandwidth, gpu.require(Field::system_link_bandwidth_bytes_per_s) * payload / (payload + header),
                "raw link times " + describe::number(payload) + " of " + describe::number(payload + header) +
                    " bytes of a packet");
  };
  if (memory == HostMemory::pinned) {
    d.s_per_byte = 1 / pinned();
    return d;
  }
  if (f.bandwidth == Field::link_to_bandwidth_bytes_per_s && gpu.get(Field::link_eager_bytes)) {
    d.eager_bytes = *gpu.get(Field::link_eager_bytes);
    d.eager_s_per_byte = 1 / pinned();
  }
  if (const auto v = gpu.get(f.pageable)) {
    d.s_per_byte = 1 / *v;
    return d;
  }
  const auto one_core = cpu.get(Field::cpu_core_dram_bandwidth_bytes_per_s);
  const auto host = one_core ? one_core : cpu.get(Field::memory_dram_bandwidth_bytes_per_s);
  const double copy_s = host ? passes_of_a_copy / *host : 1 / pinned();
  d.s_per_byte =
      1 / read(f.pageable, 1 / (1 / pinned() + copy_s),
               host ? "copied into a pinned buffer of the driver first, at a third of the host's memory bandwidth"
                    : "copied into a pinned buffer of the driver first, as fast as the link");
  return d;
}

}  // namespace

double one_way_s(const LinkDirection& d, std::span<const double> messages) {
  if (messages.empty()) return 0;
  double s = d.latency_s + d.overhead_s + static_cast<double>(messages.size() - 1) * d.gap_s;
  for (const double bytes : messages)
    s += std::max(0.0, bytes - 1) * (bytes <= d.eager_bytes ? d.eager_s_per_byte : d.s_per_byte);
  return s;
}

double both_ways_s(const Link& link, std::span<const double> in, std::span<const double> out) {
  const auto sum = [](std::span<const double> v) { return std::accumulate(v.begin(), v.end(), 0.0); };
  const LinkDirection &i = link.to, &o = link.from;
  const double overhead = i.latency_s + i.overhead_s + o.latency_s + o.overhead_s - i.gap_s - o.gap_s;
  return o.s_per_byte * sum(out) + i.s_per_byte * sum(in) + static_cast<double>(in.size()) * (i.gap_s - i.s_per_byte) +
         static_cast<double>(out.size()) * (o.gap_s - o.s_per_byte) + overhead;
}

Link link_of(const Device& gpu, const Device& cpu, HostMemory memory) {
  Link link;
  link.to = direction_of(gpu, cpu, memory, to_fields, 6 * double_word, link);
  link.from = direction_of(gpu, cpu, memory, from_fields, 7 * double_word, link);
  return link;
}

}  // namespace kernelcast::offload
