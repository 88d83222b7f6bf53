#include "cli/measure.h"

#include <fmt/format.h>

#include <cstring>
#include <filesystem>

#include "kernelcast/error.h"
#include "probe/opencl_wire.h"

namespace kernelcast::cli {
namespace {

using probe::OpenclArgument;

/// A forecast may do without what a run needs.
class MissingArgument : public LimitError {
  using LimitError::LimitError;
};

template <class T>
std::vector<unsigned char> bytes_of_value(T value, std::size_t size) {
  std::vector<unsigned char> bytes(size);
  std::memcpy(bytes.data(), &value, std::min(size, sizeof value));
  return bytes;
}

OpenclArgument scalar(const Parameter& p, const Launch& launch) {
  const auto given = launch.args.find(p.name);
  if (given == launch.args.end())
    throw MissingArgument(fmt::format("the value of {} is not known: give --arg {}=VALUE", p.name, p.name));
  OpenclArgument a;
  a.kind = OpenclArgument::Kind::scalar;
  const auto size = static_cast<std::size_t>(std::max(1, p.bytes));
  const auto* whole = std::get_if<std::int64_t>(&given->second);
  const double real = whole != nullptr ? static_cast<double>(*whole) : std::get<double>(given->second);
  if (p.integer) {
    a.value = bytes_of_value(whole != nullptr ? *whole : static_cast<std::int64_t>(real), size);
  } else if (size == 8) {
    a.value = bytes_of_value(real, size);
  } else {
    a.value = bytes_of_value(static_cast<float>(real), size);
  }
  return a;
}

/// Bytes of an element: the parameter's, or, where they are not known, the widest access through it.
std::size_t element_bytes(const Parameter& p, std::size_t index, const KernelProfile& profile) {
  if (p.bytes > 0) return static_cast<std::size_t>(p.bytes);
  int widest = 1;
  for (const Block& block : profile.blocks) {
    for (const Access& a : block.accesses) {
      const bool through =
          a.buffer >= 0 && profile.buffers[static_cast<std::size_t>(a.buffer)].parameter == static_cast<int>(index);
      if (through) widest = std::max(widest, a.bytes);
    }
  }
  return static_cast<std::size_t>(widest);
}

OpenclArgument pointer(const Parameter& p, std::size_t index, const KernelProfile& profile, const tune::Candidate& c) {
  OpenclArgument a;
  for (const Buffer& b : profile.buffers) {
    if (b.parameter != static_cast<int>(index) || b.space != MemorySpace::shared) continue;
    a.kind = OpenclArgument::Kind::local;
    a.bytes = static_cast<std::size_t>(c.shape.dynamic_shared_bytes);
    return a;
  }
  const auto given = c.launch.buffers.find(p.name);
  if (given == c.launch.buffers.end())
    throw MissingArgument(fmt::format("the size of {} is not known: give --buffer {}=COUNT", p.name, p.name));
  a.bytes = static_cast<std::size_t>(given->second.elements) * element_bytes(p, index, profile);
  a.real = p.type.find("float") != std::string::npos;
  return a;
}

probe::OpenclLaunch launch_of(const Source& source, const KernelProfile& profile, const tune::Candidate& c) {
  probe::OpenclLaunch l;
  l.source = source.text;
  l.kernel = profile.symbol.empty() ? profile.kernel : profile.symbol;
  l.options = "-cl-std=" + (source.standard.empty() ? std::string("CL1.2") : source.standard);
  for (const std::string& d : source.defines) l.options += " -D " + d;
  for (const std::string& d : c.defines) l.options += " -D " + d;
  for (const std::string& d : source.include_dirs) l.options += " -I " + d;
  if (source.fast_math) l.options += " -cl-fast-relaxed-math";
  const auto grid = c.shape.grid.array(), block = c.shape.block.array();
  for (std::size_t i = 0; i < 3; ++i) {
    l.grid[i] = static_cast<std::size_t>(grid[i]);
    l.block[i] = static_cast<std::size_t>(block[i]);
  }
  for (std::size_t i = 0; i < profile.parameters.size(); ++i) {
    const Parameter& p = profile.parameters[i];
    l.arguments.push_back(p.pointer ? pointer(p, i, profile, c) : scalar(p, c.launch));
  }
  return l;
}

}  // namespace

std::string runner_program(const std::string& name) {
  std::error_code ignored;
  return (std::filesystem::read_symlink("/proc/self/exe", ignored).parent_path() / name).string();
}

void measure_opencl(const Source& source, report::TuneReport& report,
                    const std::function<void(const std::string&)>& progress) {
  if (source.language != Language::opencl) throw UsageError("--measure opencl runs OpenCL C sources only");
  const std::string runner = runner_program("kernelcast-opencl");
  const tune::DeviceTuning& device = report.result.devices.front();
  for (std::size_t rank = 0; rank < device.best.size(); ++rank) {
    progress(fmt::format("run {} of {}", rank + 1, device.best.size()));
    report::Measured m;
    m.rank = rank;
    try {
      const probe::OpenclReply reply =
          probe::run_in_process(runner, launch_of(source, *device.best[rank].profile, device.best[rank]));
      if (reply.no_device) throw LimitError("--measure opencl: " + reply.failure);
      if (!reply.device.empty()) report.measured_on = reply.device;
      m.failure = reply.failure;
      m.time_s = reply.timing.median_s;
      m.spread = reply.timing.fastest_s > 0 ? reply.timing.slowest_s / reply.timing.fastest_s - 1 : 0;
    } catch (const MissingArgument& e) {
      m.failure = message_of(e);
    }
    report.measured.push_back(std::move(m));
  }
  if (report.measured_on.empty() && !report.measured.empty())
    throw LimitError("--measure opencl: " + report.measured.front().failure);
}

}  // namespace kernelcast::cli
