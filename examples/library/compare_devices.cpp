// One launch of a kernel with a parameter n on several GPUs: compare_devices FILE DEVICE...
#include <cstdio>
#include <exception>
#include <fstream>
#include <sstream>

#include "kernelcast/error.h"
#include "kernelcast/forecast.h"

int main(int argc, char** argv) try {
  if (argc < 3) {
    std::fprintf(stderr, "usage: compare_devices FILE DEVICE...\ndevices:\n");
    for (const kernelcast::DeviceEntry& d : kernelcast::devices_in(DEVICES_DIR)) std::fprintf(stderr, "  %s\n", d.id.c_str());
    return 2;
  }
  std::ostringstream text;
  text << std::ifstream(argv[1]).rdbuf();

  kernelcast::Source source;
  source.path = argv[1];
  source.text = text.str();
  kernelcast::ForecastOptions options;
  options.devices.assign(argv + 2, argv + argc);
  options.device_folder = DEVICES_DIR;
  options.grid = kernelcast::Dim3{4096, 1, 1};
  options.launch.block = {256, 1, 1};
  options.launch.args["n"] = std::int64_t{1048576};

  for (const kernelcast::DeviceForecast& f : kernelcast::forecast(source, options).devices) {
    if (f.time_s()) std::printf("%s: %s takes %.3g us, limited by %s\n", f.name.c_str(), f.kernel.c_str(), *f.time_s() * 1e6, f.estimates[0].limiter.c_str());
    if (f.counts) std::printf("%s: %.2g MFLOP\n", f.name.c_str(), f.counts->flop32 / 1e6);
    for (const std::string& failure : f.failures) std::printf("%s: %s\n", f.name.c_str(), failure.c_str());
  }
} catch (const kernelcast::Error& e) {
  std::fprintf(stderr, "compare_devices: %s\n", e.what());
  return 1;
}
