// Power meters of the machine that we run on: RAPL through Linux's powercap tree, NVML opened at run time.
#pragma once

#include <filesystem>
#include <functional>
#include <optional>
#include <string>
#include <vector>

namespace kernelcast::power {

/// Where meters are looked for.
struct Places {
  std::string powercap = "/sys/class/powercap";
  std::string nvml = "libnvidia-ml.so.1";
};

/// A power in watt with how it was got, or the reason why there is none.
struct Power {
  std::optional<double> watts;
  std::string how;
};

/// Energy of all packages and their DRAM since construction (Linux, Documentation/power/powercap). A counter counts
/// microjoules up to max_energy_range_uj and begins again at 0: with less than a minute between two wraps on a large
/// machine, read it at least every few seconds.
class Rapl {
 public:
  /// Finds the zones intel-rapl:N (packages; AMD's have the same names) and their subzones "dram". Zones "psys" and
  /// intel-rapl-mmio:N measure the same energy once more and are left out. `reason` says why there is none.
  explicit Rapl(const std::filesystem::path& powercap);
  [[nodiscard]] bool there() const { return reason_.empty(); }
  [[nodiscard]] const std::string& reason() const { return reason_; }
  /// "package-0, dram"
  [[nodiscard]] std::string zones() const;
  /// Joules since construction. Throws LimitError when a counter can no longer be read.
  double joules();

 private:
  struct Zone {
    std::string name;
    std::filesystem::path counter;
    double last_uj = 0, range_uj = 0, sum_uj = 0;
  };
  void add(const std::filesystem::path& folder);
  std::vector<Zone> zones_;
  std::string reason_;
};

/// Mean power over so many seconds while `load` runs; `load` gets the seconds and returns after about as long.
Power rapl_power(const std::filesystem::path& powercap, double seconds, const std::function<void(double)>& load);
/// A load for it: nothing, or multiply-adds on so many threads.
void rest(double seconds);
void compute(double seconds, int threads);

/// Mean power of the GPU of that name while nothing of ours runs on it: difference of its energy counter (NVIDIA from
/// Volta on), or the mean of its power readings. `names` are the names under which the device may be found; one GPU of
/// another name is not taken for it.
Power nvml_power(const std::string& library, const std::vector<std::string>& names, double seconds);

}  // namespace kernelcast::power
