// NVML without its headers: the few functions that are used, as its reference manual declares them, by dlsym.
#include <dlfcn.h>

#include <algorithm>
#include <cctype>
#include <chrono>
#include <thread>

#include "kernelcast/power.h"

namespace kernelcast::power {
namespace {

using Handle = void*;
constexpr int success = 0;
constexpr double milli_per_joule = 1e3, milli_per_watt = 1e3;  // millijoules, milliwatts
constexpr double sample_s = 0.02;

/// The library while it is open.
class Nvml {
 public:
  explicit Nvml(const std::string& library) : library_(dlopen(library.c_str(), RTLD_NOW | RTLD_LOCAL)) {
    if (!library_) {
      const char* text = dlerror();
      reason_ = text ? text : library + " cannot be opened";
      return;
    }
    const bool all = find(init_, "nvmlInit_v2") && find(shutdown_, "nvmlShutdown") &&
                     find(count_, "nvmlDeviceGetCount_v2") && find(by_index_, "nvmlDeviceGetHandleByIndex_v2") &&
                     find(name_, "nvmlDeviceGetName") && find(power_, "nvmlDeviceGetPowerUsage");
    if (!all) return;
    energy_ = reinterpret_cast<Energy>(dlsym(library_, "nvmlDeviceGetTotalEnergyConsumption"));
    error_ = reinterpret_cast<ErrorText>(dlsym(library_, "nvmlErrorString"));
    const int status = init_();
    if (status != success)
      reason_ = "nvmlInit_v2: " + text_of(status);
    else
      open_ = true;
  }
  ~Nvml() {
    if (open_) shutdown_();
    if (library_) dlclose(library_);
  }
  Nvml(const Nvml&) = delete;
  Nvml& operator=(const Nvml&) = delete;

  [[nodiscard]] const std::string& reason() const { return reason_; }
  [[nodiscard]] std::string text_of(int status) const {
    const char* text = error_ ? error_(status) : nullptr;
    return text ? text : "status " + std::to_string(status);
  }

  struct Gpu {
    Handle handle;
    std::string name;
  };
  [[nodiscard]] std::vector<Gpu> gpus() const {
    std::vector<Gpu> out;
    unsigned n = 0;
    if (count_(&n) != success) return out;
    for (unsigned i = 0; i < n; ++i) {
      Handle handle = nullptr;
      char name[96] = "";
      if (by_index_(i, &handle) == success && name_(handle, name, sizeof name) == success)
        out.push_back({handle, name});
    }
    return out;
  }
  /// Joules since the driver was loaded; nothing before Volta.
  [[nodiscard]] std::optional<double> joules(Handle gpu) const {
    unsigned long long value = 0;
    if (!energy_ || energy_(gpu, &value) != success) return std::nullopt;
    return static_cast<double>(value) / milli_per_joule;
  }
  int watts(Handle gpu, double& value) const {
    unsigned milliwatts = 0;
    const int status = power_(gpu, &milliwatts);
    value = milliwatts / milli_per_watt;
    return status;
  }

 private:
  using Energy = int (*)(Handle, unsigned long long*);
  using ErrorText = const char* (*)(int);
  template <class F>
  bool find(F& function, const char* name) {
    function = reinterpret_cast<F>(dlsym(library_, name));
    if (!function) reason_ = std::string("the library has no ") + name;
    return function != nullptr;
  }

  void* library_;
  std::string reason_;
  bool open_ = false;
  int (*init_)() = nullptr;
  int (*shutdown_)() = nullptr;
  int (*count_)(unsigned*) = nullptr;
  int (*by_index_)(unsigned, Handle*) = nullptr;
  int (*name_)(Handle, char*, unsigned) = nullptr;
  int (*power_)(Handle, unsigned*) = nullptr;
  Energy energy_ = nullptr;
  ErrorText error_ = nullptr;
};

/// Letters and digits alone, small: "NVIDIA Tesla K20c" and "tesla-k20c" differ by the vendor only.
std::string plain(const std::string& name) {
  std::string out;
  for (const char c : name)
    if (std::isalnum(static_cast<unsigned char>(c)) != 0)
      out += static_cast<char>(std::tolower(static_cast<unsigned char>(c)));
  return out.starts_with("nvidia") ? out.substr(6) : out;
}

Power mean_of_samples(const Nvml& nvml, const Nvml::Gpu& gpu, double seconds) {
  double sum = 0;
  int n = 0;
  for (const auto end = std::chrono::steady_clock::now() + std::chrono::duration<double>(seconds);
       std::chrono::steady_clock::now() < end; ++n) {
    double watts = 0;
    const int status = nvml.watts(gpu.handle, watts);
    if (status != success) return {std::nullopt, "no meter: nvmlDeviceGetPowerUsage: " + nvml.text_of(status)};
    sum += watts;
    rest(sample_s);
  }
  if (n == 0 || sum <= 0) return {std::nullopt, "no meter: NVML reads 0 W"};
  return {sum / n, "NVML, mean of " + std::to_string(n) + " readings"};
}

}  // namespace

Power nvml_power(const std::string& library, const std::vector<std::string>& names, double seconds) {
  const Nvml nvml(library);
  if (!nvml.reason().empty()) return {std::nullopt, "no meter: " + nvml.reason()};
  std::string seen;
  for (const Nvml::Gpu& gpu : nvml.gpus()) {
    seen += (seen.empty() ? "" : ", ") + gpu.name;
    const bool asked = std::any_of(names.begin(), names.end(),
                                   [&](const std::string& name) { return plain(name) == plain(gpu.name); });
    if (!asked) continue;
    const auto begin = std::chrono::steady_clock::now();
    const auto before = nvml.joules(gpu.handle);
    if (!before) return mean_of_samples(nvml, gpu, seconds);
    rest(seconds);
    const auto after = nvml.joules(gpu.handle);
    const double took = std::chrono::duration<double>(std::chrono::steady_clock::now() - begin).count();
    if (!after || *after <= *before) return mean_of_samples(nvml, gpu, seconds);
    return {(*after - *before) / took, "NVML, its energy counter"};
  }
  return {std::nullopt, "no meter: NVML sees " + (seen.empty() ? "no GPU" : seen)};
}

}  // namespace kernelcast::power
