// The two files of measurements. Unknown columns are let through, as people keep notes beside their data, unless they
// are a slip of the pen away from a column that would have been read.
#include "validate/measurement.h"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <span>

#include "execute/fill.h"
#include "io/nearest.h"
#include "kernelcast/error.h"
#include "kernelcast/setting.h"
#include "kernelcast/source.h"
#include "validate/csv.h"

namespace kernelcast::validate {
namespace {

constexpr std::array<std::string_view, 22> row_columns{
    "dataset", "kernel_id", "gpu",     "defines", "grid_x",         "grid_y", "grid_z",
    "block_x", "block_y",   "block_z", "problem", "dyn_smem_bytes", "args",   "buffers",
    "symbol",  "time_ms",   "stat",    "note",    "flags",          "status", "buffer_elem_bytes",
    "id"};
constexpr std::array<std::string_view, 13> kernel_columns{
    "id",    "language",    "repo",       "path",   "entry",      "symbol", "wrapper", "fixed_defines",
    "fills", "cache_state", "flags_argv", "commit", "tensor_maps"};

void check_spelling(const CsvTable& table, std::span<const std::string_view> known) {
  for (const std::string& column : table.columns) {
    if (std::find(known.begin(), known.end(), column) != known.end()) continue;
    for (std::string_view k : known) {
      const std::size_t longer = std::max(column.size(), k.size()), shorter = std::min(column.size(), k.size());
      if (shorter > 3 && longer - shorter <= 1 && edit_distance(column, k) == 1) {
        throw UserError(fmt::format("{}:1: unknown column \"{}\"; did you mean \"{}\"?", table.path, column, k));
      }
    }
  }
}

Language language_of_cell(const CsvCells& cells) {
  static const std::map<std::string, Language> names{
      {"opencl", Language::opencl}, {"cuda", Language::cuda},       {"hip", Language::hip}, {"c", Language::c},
      {"c++", Language::cxx},       {"llvm-ir", Language::llvm_ir}, {"ptx", Language::ptx}};
  const std::string& name = cells.text("language");
  if (name.empty()) return Language::automatic;
  const auto found = names.find(name);
  if (found == names.end()) {
    cells.fail("language", fmt::format("\"{}\" is not one of opencl, cuda, hip, c, c++, llvm-ir", name));
  }
  return found->second;
}

/// Compiler flags that change the code. Optimisation levels and the like say nothing new.
void read_flags(const CsvCells& cells, KernelEntry& kernel) {
  const std::vector<std::string> flags = split(cells.text("flags_argv"), ' ');
  for (std::size_t i = 0; i < flags.size(); ++i) {
    const std::string& flag = flags[i];
    const std::size_t equals = flag.find('=');
    if (flag.starts_with("-I")) {
      if (flag.size() == 2 && i + 1 == flags.size()) cells.fail("flags_argv", "-I without a folder");
      kernel.include_dirs.push_back(flag.size() > 2 ? flag.substr(2) : flags[++i]);
    } else if (flag == "-use_fast_math" || flag == "--use_fast_math" || flag == "-cl-fast-relaxed-math") {
      kernel.fast_math = true;
    } else if (flag.starts_with("-cl-std=") || flag.starts_with("-std=")) {
      kernel.standard = flag.substr(equals + 1);
    } else if (flag.starts_with("-D") && flag.size() > 2) {
      kernel.defines.push_back(flag.substr(2));
    } else if (!flag.starts_with("-O")) {
      cells.fail("flags_argv",
                 fmt::format("\"{}\" is not understood; there are -use_fast_math, -std=, -cl-std=, -D, -I", flag));
    }
  }
}

/// Rows that are not executed would never see it. Which numbers fit depends on the parameter, which no table names.
void check_fill(const CsvCells& cells, const std::string& name, const std::string& fill) {
  constexpr std::string_view file = "file:";
  if (fill.starts_with(file)) return;  // found, or not, from the folder of the table
  const std::string word = fill.substr(0, fill.find('('));
  const std::span<const std::string_view> known = interpreter::fill_names();
  if (number_in(word) || std::find(known.begin(), known.end(), word) != known.end()) return;
  cells.fail("fills", fmt::format("{}={}: there is no such fill; known are {} and a plain number", name, fill,
                                  fmt::join(known, ", ")));
}

/// Folders of repositories are called OWNER+NAME.
std::string path_in_sources(const CsvCells& cells) {
  if (!cells.text("wrapper").empty()) return cells.text("wrapper");
  std::string folder = cells.text("repo");
  std::replace(folder.begin(), folder.end(), '/', '+');
  return (folder.empty() ? "" : folder + "/") + cells.required("path");
}

KernelEntry kernel_in(const std::string& path, const CsvTable& table, const CsvTable::Record& record) {
  const CsvCells cells(table, record);
  KernelEntry k;
  k.place = fmt::format("{}:{}", path, record.line);
  k.id = cells.required("id");
  k.language = language_of_cell(cells);
  k.path = path_in_sources(cells);
  k.entry = cells.text("entry");
  k.defines = split(cells.text("fixed_defines"), ';');
  k.fills = cells.pairs("fills");
  for (const auto& [name, fill] : k.fills) check_fill(cells, name, fill);
  k.cache_state = cells.text("cache_state");
  for (const std::string& map : split(cells.text("tensor_maps"), ';')) {
    try {
      k.tensor_maps.push_back(tensor_box(map));
    } catch (const UsageError& e) {
      cells.fail("tensor_maps", plain_text(e.what()));
    }
  }
  read_flags(cells, k);
  return k;
}

ArgValue argument_value(const CsvCells& cells, const std::string& name, const std::string& value) {
  if (const auto whole = whole_in(value)) return *whole;
  const auto real = number_in(value);
  if (!real) cells.fail("args", fmt::format("{}={}: expected a number", name, value));
  return *real;
}

std::int64_t element_count(const CsvCells& cells, std::string_view column, const std::string& name,
                           const std::string& value) {
  const auto n = whole_in(value);
  if (!n || *n < 1) cells.fail(column, fmt::format("{}={}: expected a whole number of at least 1", name, value));
  return *n;
}

Launch launch_in(const CsvCells& cells) {
  Launch l;
  l.grid = {cells.whole("grid_x", 1, 1), cells.whole("grid_y", 1, 1), cells.whole("grid_z", 1, 1)};
  l.block = {cells.whole("block_x", 1, 1), cells.whole("block_y", 1, 1), cells.whole("block_z", 1, 1)};
  l.dynamic_shared_bytes = cells.whole("dyn_smem_bytes", 0, 0);
  for (const auto& [name, value] : cells.pairs("args")) l.args[name] = argument_value(cells, name, value);
  for (const auto& [name, value] : cells.pairs("buffers")) {
    l.buffers[name] = {element_count(cells, "buffers", name, value), ""};
  }
  return l;
}

Measurement row_in(const std::string& path, const CsvTable& table, const CsvTable::Record& record) {
  const CsvCells cells(table, record);
  Measurement m;
  m.place = fmt::format("{}:{}", path, record.line);
  m.dataset = cells.text("dataset");
  m.kernel_id = cells.required("kernel_id");
  m.gpu = cells.required("gpu");
  for (const auto& [name, value] : cells.pairs("defines")) m.defines.push_back(name + "=" + value);
  cells.required("grid_x");
  cells.required("block_x");
  m.launch = launch_in(cells);
  for (const auto& [name, value] : cells.pairs("buffer_elem_bytes")) {
    m.element_bytes[name] = element_count(cells, "buffer_elem_bytes", name, value);
  }
  m.symbol = cells.text("symbol");
  m.problem = cells.text("problem");
  m.statistic = cells.text("stat");
  m.note = cells.text("note");
  m.flags = split(cells.text("flags"), ';');
  if (!cells.text("status").empty()) m.status = cells.text("status");
  if (m.status == "ok") {
    m.measured_s = cells.number("time_ms") / 1e3;
    if (*m.measured_s <= 0) cells.fail("time_ms", "is not positive");
  }
  return m;
}

}  // namespace

std::map<std::string, KernelEntry> read_kernels(const std::string& path, const std::string& text) {
  const CsvTable table = parse_csv(path, text);
  check_spelling(table, kernel_columns);
  std::map<std::string, KernelEntry> kernels;
  for (const CsvTable::Record& record : table.records) {
    KernelEntry k = kernel_in(path, table, record);
    const auto [there, fresh] = kernels.try_emplace(k.id, k);
    if (!fresh)
      throw UserError(fmt::format("{}: kernel \"{}\" stands already in {}", k.place, k.id, there->second.place));
  }
  return kernels;
}

std::vector<Measurement> read_rows(const std::string& path, const std::string& text) {
  const CsvTable table = parse_csv(path, text);
  check_spelling(table, row_columns);
  std::vector<Measurement> rows;
  for (const CsvTable::Record& record : table.records) rows.push_back(row_in(path, table, record));
  return rows;
}

std::string problem_key(const Measurement& m) {
  std::string key;
  for (const auto& [name, value] : m.launch.args) {
    key += std::visit([&](auto v) { return fmt::format("{}={};", name, v); }, value);
  }
  for (const auto& [name, buffer] : m.launch.buffers) {
    const auto bytes = m.element_bytes.find(name);
    key += fmt::format("{}:{};", name, buffer.elements * (bytes == m.element_bytes.end() ? 1 : bytes->second));
  }
  for (const PositionalArgument& a : m.positional) {
    key +=
        a.scalar ? fmt::format("{}={};", a.name, a.value) : fmt::format("{}:{};", a.name, a.elements * a.element_bytes);
  }
  return key;
}

const std::vector<std::string>& excluding_flags() {
  static const std::vector<std::string> flags{"launch_overhead", "near_launch_floor", "replicate",
                                              "out_of_range_access"};
  return flags;
}

bool is_excluding_flag(const std::string& flag) {
  return std::find(excluding_flags().begin(), excluding_flags().end(), flag) != excluding_flags().end();
}

bool is_excluded(const Measurement& m) { return std::any_of(m.flags.begin(), m.flags.end(), is_excluding_flag); }

bool matches(std::string_view pattern, std::string_view name) {
  const std::size_t star = pattern.find('*');
  if (star == std::string_view::npos) return pattern == name;
  if (!name.starts_with(pattern.substr(0, star))) return false;
  for (std::size_t skipped = star; skipped <= name.size(); ++skipped) {
    if (matches(pattern.substr(star + 1), name.substr(skipped))) return true;
  }
  return false;
}

}  // namespace kernelcast::validate
