// Parsers of the operating system's tables: proc(5) for /proc/cpuinfo and /proc/meminfo, and the kernel's
// Documentation/ABI/testing/sysfs-devices-system-cpu for the cache folders. Only Linux has these; elsewhere all is
// unknown, which the caller reports.
#include <algorithm>
#include <charconv>
#include <filesystem>
#include <fstream>
#include <map>
#include <sstream>

#include "device/host.h"

namespace kernelcast {
namespace {

namespace fs = std::filesystem;

std::string_view trimmed(std::string_view text) {
  std::size_t begin = text.find_first_not_of(" \t\r\n");
  if (begin == std::string_view::npos) return {};
  return text.substr(begin, text.find_last_not_of(" \t\r\n") - begin + 1);
}

std::optional<double> number(std::string_view text) {
  double value = 0;
  auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), value);
  if (error != std::errc() || end == text.data()) return std::nullopt;
  return value;
}

std::optional<int> whole(std::string_view text) {
  int value = 0;
  auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), value);
  if (error != std::errc() || end != text.data() + text.size()) return std::nullopt;
  return value;
}

std::string first_line(const fs::path& file) {
  std::ifstream in(file);
  std::string line;
  std::getline(in, line);
  return std::string(trimmed(line));
}

// "Intel(R) Core(TM) i7-4710MQ CPU @ 2.50GHz" -> 2.5e9.
std::optional<double> clock_in_name(std::string_view name) {
  std::size_t at = name.rfind("@ ");
  if (at == std::string_view::npos) return std::nullopt;
  std::string_view rest = name.substr(at + 2);
  std::optional<double> value = number(rest);
  if (!value) return std::nullopt;
  if (rest.ends_with("GHz")) return *value * 1e9;
  if (rest.ends_with("MHz")) return *value * 1e6;
  return std::nullopt;
}

std::set<std::string, std::less<>> words(std::string_view text) {
  std::istringstream in{std::string(text)};
  std::set<std::string, std::less<>> out;
  for (std::string word; in >> word;) out.insert(word);
  return out;
}

}  // namespace

CpuInfo parse_cpuinfo(std::string_view text) {
  CpuInfo cpu;
  std::set<std::pair<std::string, std::string>> cores;
  std::string physical_id;
  std::string implementer, part;  // Arm has these instead of a model name
  while (!text.empty()) {
    std::size_t end = std::min(text.find('\n'), text.size());
    std::string_view line = text.substr(0, end);
    text.remove_prefix(std::min(end + 1, text.size()));
    std::size_t colon = line.find(':');
    if (colon == std::string_view::npos) continue;
    std::string_view key = trimmed(line.substr(0, colon)), value = trimmed(line.substr(colon + 1));
    if (key == "processor" && whole(value)) ++cpu.threads;
    if (key == "physical id") physical_id = value;
    if (key == "core id") cores.emplace(physical_id, value);
    if (cpu.threads > 1) continue;  // the rest is taken from the first processor
    if (key == "model name") cpu.model_name = value;
    if (key == "vendor_id") cpu.vendor_id = value;
    if (key == "cpu family") cpu.family = whole(value);
    if (key == "model") cpu.model = whole(value);
    if (key == "cpu MHz")
      if (std::optional<double> mhz = number(value); mhz && *mhz > 0) cpu.clock_hz = *mhz * 1e6;
    if (key == "flags" || key == "Features") cpu.flags = words(value);
    if (key == "CPU implementer") implementer = value;
    if (key == "CPU part") part = value;
  }
  cpu.cores = cores.empty() ? cpu.threads : static_cast<int>(cores.size());
  cpu.name_clock_hz = clock_in_name(cpu.model_name);
  if (cpu.model_name.empty() && !implementer.empty())
    cpu.model_name = "Arm implementer " + implementer + " part " + part;
  return cpu;
}

std::optional<double> parse_size(std::string_view text) {
  std::optional<double> value = number(text);
  if (!value || text.empty()) return std::nullopt;
  switch (text.back()) {
    case 'K':
      return *value * 1024;
    case 'M':
      return *value * 1024 * 1024;
    case 'G':
      return *value * 1024 * 1024 * 1024;
    default:
      return whole(text) ? value : std::nullopt;
  }
}

std::optional<double> parse_memory_total(std::string_view text) {
  std::size_t at = text.find("MemTotal:");
  if (at == std::string_view::npos) return std::nullopt;
  std::optional<double> kib = number(trimmed(text.substr(at + 9)));
  if (!kib) return std::nullopt;
  return *kib * 1024;  // the table says kB and means KiB, proc(5)
}

std::vector<CacheLevel> read_caches(const std::string& cpu_root) {
  std::map<int, CacheLevel> levels;
  std::map<int, std::set<std::string>> seen;  // processors that share one instance, by level
  std::vector<fs::path> folders;
  std::error_code ignored;
  for (const auto& cpu : fs::directory_iterator(cpu_root, ignored)) {
    std::string name = cpu.path().filename();
    if (name.size() < 4 || !name.starts_with("cpu") || !whole(std::string_view(name).substr(3))) continue;
    for (const auto& index : fs::directory_iterator(cpu.path() / "cache", ignored))
      if (index.path().filename().string().starts_with("index")) folders.push_back(index.path());
  }
  std::sort(folders.begin(), folders.end());
  for (const fs::path& folder : folders) {
    std::optional<int> level = whole(first_line(folder / "level"));
    std::optional<double> bytes = parse_size(first_line(folder / "size"));
    if (!level || !bytes || first_line(folder / "type") == "Instruction") continue;
    std::string shared = first_line(folder / "shared_cpu_list");
    if (shared.empty()) shared = folder.parent_path().string();  // not said: its own
    if (!seen[*level].insert(shared).second) continue;
    CacheLevel& c = levels[*level];
    c.bytes_all += *bytes;
    if (++c.instances > 1) continue;
    c.level = *level;
    c.bytes_each = *bytes;
    c.line_bytes = whole(first_line(folder / "coherency_line_size")).value_or(0);
    c.ways = whole(first_line(folder / "ways_of_associativity")).value_or(0);
    c.source = folder.string();
  }
  std::vector<CacheLevel> out;
  for (auto& [level, c] : levels) out.push_back(std::move(c));
  return out;
}

}  // namespace kernelcast
