// folder: probe device
// A device file made of measured numbers is read again: the numbers that were not measured are those of the base to the
// last bit, the others one of the measured ones, and the name is the driver's.
#include <cmath>
#include <cstdlib>
#include <vector>

#include "device/raw_file.h"
#include "fuzz/drawn.h"
#include "io/printable.h"
#include "kernelcast/error.h"
#include "kernelcast/probe.h"

using namespace kernelcast;

namespace {

std::vector<Device> all_devices() {
  const DeviceCatalog catalog("");
  std::vector<Device> devices;
  for (const std::string& id : catalog.ids()) devices.push_back(catalog.find(id));
  return devices;
}

void require(bool holds) {
  if (!holds) std::abort();
}

bool may_stand_for(Field field, double got, const std::vector<probe::Result>& results) {
  for (const probe::Result& r : results)
    for (const Field f : r.fields)
      if (f == field && r.value && (info(field).integer ? std::abs(got - *r.value) <= 0.5 : got == *r.value))
        return true;
  return false;
}

}  // namespace

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  static const std::vector<Device> devices = all_devices();
  static constexpr const char* confidences[] = {"exact", "high", "unstable", "none"};
  static constexpr const char* backends[] = {"sim", "host", "opencl", "cuda"};
  fuzz::Drawn drawn(data, size);
  probe::Report report;
  report.device = devices[drawn.below(devices.size())];
  report.backend = backends[drawn.below(4)];
  if (drawn.below(2) != 0) report.device.name = drawn.text(40);
  while (!drawn.empty()) {
    probe::Result r;
    r.id = drawn.text(8);
    r.fields.push_back(static_cast<Field>(drawn.below(field_count)));
    r.value = drawn.below(4) == 0 ? info(r.fields[0]).minimum + drawn.value<std::uint16_t>() : drawn.value<double>();
    r.method = drawn.text(16);
    r.reason = drawn.text(16);
    r.spread = static_cast<double>(drawn.below(200)) / 100;
    r.confidence = confidences[drawn.below(4)];
    report.results.push_back(std::move(r));
  }
  const RawDevice again = read_raw("again.toml", probe::device_file(report, "again"));
  std::vector<int> seen(field_count, 0);
  for (const RawNumber& n : again.numbers) {
    const FieldValue& base = report.device.values[static_cast<std::size_t>(n.field)];
    ++seen[static_cast<std::size_t>(n.field)];
    const bool same = n.value == base.value;
    require(same || (n.value && may_stand_for(n.field, *n.value, report.results)));
  }
  for (std::size_t f = 0; f < field_count; ++f)
    require(seen[f] == 1 || (seen[f] == 0 && !report.device.values[f].value));
  if (printable(report.device.name) == report.device.name &&
      report.device.name.find_first_of("\n\t") == std::string::npos)
    require(again.name.text == report.device.name + ", measured");
  return 0;
}
