// Running average power limit counters, as Linux shows them: a folder a zone with name, energy_uj and
// max_energy_range_uj. Since Linux 5.10 energy_uj is for root only.
#include <algorithm>
#include <atomic>
#include <chrono>
#include <fstream>
#include <system_error>
#include <thread>

#include "kernelcast/error.h"
#include "kernelcast/power.h"

namespace kernelcast::power {
namespace {

namespace fs = std::filesystem;

constexpr std::string_view prefix = "intel-rapl:";
constexpr double micro_per_joule = 1e6;  // microjoules
constexpr double longest_gap_s = 0.25;   // between two readings: far below the time between two wraps

std::optional<double> number_in(const fs::path& file) {
  std::ifstream in(file);
  double value = 0;
  if (in >> value) return value;
  return std::nullopt;
}

std::string name_in(const fs::path& folder) {
  std::ifstream in(folder / "name");
  std::string name;
  std::getline(in, name);
  return name;
}

/// Reads the counters now and then until the load ends.
class Watch {
 public:
  explicit Watch(Rapl& rapl) : thread_([this, &rapl] { run(rapl); }) {}
  ~Watch() {
    over_ = true;
    thread_.join();
  }
  Watch(const Watch&) = delete;
  Watch& operator=(const Watch&) = delete;

 private:
  void run(Rapl& rapl) {
    try {
      while (!over_) {
        rapl.joules();
        std::this_thread::sleep_for(std::chrono::duration<double>(longest_gap_s / 10));
      }
    } catch (const LimitError&) {  // whoever reads next meets it again
    }
  }
  std::atomic<bool> over_ = false;
  std::thread thread_;
};

}  // namespace

void Rapl::add(const fs::path& folder) {
  Zone z;
  z.name = name_in(folder);
  z.counter = folder / "energy_uj";
  const auto now = number_in(z.counter);
  const auto range = number_in(folder / "max_energy_range_uj");
  if (!now || !range || *range <= 0) {
    std::error_code ignored;
    const bool there = fs::exists(z.counter, ignored);
    reason_ = z.counter.string() + (there ? " cannot be read (Linux lets only root)" : " does not exist");
    if (now) reason_ = (folder / "max_energy_range_uj").string() + " has no number";
    return;
  }
  z.last_uj = *now;
  z.range_uj = *range;
  zones_.push_back(std::move(z));
}

Rapl::Rapl(const fs::path& powercap) {
  std::error_code error;
  std::vector<fs::path> folders;
  for (const auto& entry : fs::directory_iterator(powercap, error))
    if (entry.path().filename().string().starts_with(prefix)) folders.push_back(entry.path());
  if (error) {
    reason_ = powercap.string() + " cannot be listed: " + error.message();
    return;
  }
  std::sort(folders.begin(), folders.end());
  for (const fs::path& folder : folders) {
    const std::string id = folder.filename().string();
    const bool subzone = id.find(':', prefix.size()) != std::string::npos;
    const std::string name = name_in(folder);
    if (subzone ? name == "dram" : name.starts_with("package")) add(folder);
  }
  if (!reason_.empty())
    zones_.clear();
  else if (zones_.empty())
    reason_ = powercap.string() + " has no zone of a package";
}

std::string Rapl::zones() const {
  std::string names;
  for (const Zone& z : zones_) names += (names.empty() ? "" : ", ") + z.name;
  return names;
}

double Rapl::joules() {
  double sum = 0;
  for (Zone& z : zones_) {
    const auto now = number_in(z.counter);
    if (!now) throw LimitError(z.counter.string() + " can no longer be read");
    z.sum_uj += *now >= z.last_uj ? *now - z.last_uj : *now + z.range_uj - z.last_uj;
    z.last_uj = *now;
    sum += z.sum_uj;
  }
  return sum / micro_per_joule;
}

Power rapl_power(const fs::path& powercap, double seconds, const std::function<void(double)>& load) {
  Rapl rapl(powercap);
  if (!rapl.there()) return {std::nullopt, "no meter: " + rapl.reason()};
  try {
    const auto begin = std::chrono::steady_clock::now();
    const double before = rapl.joules();
    {
      const Watch watch(rapl);
      load(seconds);
    }
    const double joules = rapl.joules() - before;
    const double took = std::chrono::duration<double>(std::chrono::steady_clock::now() - begin).count();
    if (joules <= 0) return {std::nullopt, "no meter: the counters of " + rapl.zones() + " stand still"};
    return {joules / took, "RAPL, " + rapl.zones()};
  } catch (const LimitError& e) {
    return {std::nullopt, std::string("the meter failed: ") + message_of(e)};
  }
}

void rest(double seconds) { std::this_thread::sleep_for(std::chrono::duration<double>(seconds)); }

void compute(double seconds, int threads) {
  const auto end = std::chrono::steady_clock::now() + std::chrono::duration<double>(seconds);
  const auto work = [end] {
    constexpr int chains = 16, round = 4096;
    double x[chains];
    for (int c = 0; c < chains; ++c) x[c] = 1 + c;
    volatile double keep = 0;
    while (std::chrono::steady_clock::now() < end) {
      for (int i = 0; i < round; ++i)
        for (double& v : x) v = v * 0.999 + 0.001;
      for (const double v : x) keep = keep + v;
    }
  };
  std::vector<std::thread> team;
  for (int t = 0; t < threads; ++t) team.emplace_back(work);
  for (std::thread& t : team) t.join();
}

}  // namespace kernelcast::power
