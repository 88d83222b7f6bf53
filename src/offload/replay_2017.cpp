// Programs: level 1 of a public OpenACC suite (EPCCed/epcc-openacc-benchmarks). Which loops become work-items and which
// arrays move follows its directives; the loop nests are ours (examples/offload), in the form of the suite's host code,
// which is what ran on the CPU. Where the innermost marked loop is a reduction, a group of vector lanes runs along it,
// one sum after another, and gangs share the outermost loop, also where the loop between them is triangular. Our
// mapping has no reductions, so these programs have an OpenCL form for the GPU.
#include "kernelcast/offload_replay.h"

#include <algorithm>
#include <array>
#include <charconv>
#include <cmath>

#include "kernelcast/error.h"

namespace kernelcast::offload {
namespace {

std::vector<std::string_view> split(std::string_view line) {
  std::vector<std::string_view> cells;
  while (true) {
    const std::size_t comma = line.find(',');
    cells.push_back(line.substr(0, comma));
    if (comma == std::string_view::npos) return cells;
    line.remove_prefix(comma + 1);
  }
}

double number(std::string_view text, const std::string& where) {
  double value = 0;
  const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), value);
  if (error != std::errc() || end != text.data() + text.size() || !(value > 0))
    throw UserError(where + ": '" + std::string(text) + "' is no number above 0");
  return value;
}

constexpr std::array<std::string_view, 5> needed{"program", "size_mib", "predicted", "cpu_cost", "gpu_cost"};

}  // namespace

std::vector<ReplayCell> parse_replay(std::string_view csv, const std::string& name) {
  std::vector<ReplayCell> cells;
  std::array<std::size_t, needed.size()> at{};
  int line_number = 0;
  while (!csv.empty()) {
    const std::size_t end = std::min(csv.find('\n'), csv.size());
    std::string_view line = csv.substr(0, end);
    csv.remove_prefix(std::min(end + 1, csv.size()));
    if (line.ends_with('\r')) line.remove_suffix(1);
    const std::string where = name + ":" + std::to_string(++line_number);
    if (line.empty()) continue;
    const auto parts = split(line);
    if (line_number == 1) {
      for (std::size_t k = 0; k < needed.size(); ++k) {
        const auto found = std::find(parts.begin(), parts.end(), needed[k]);
        if (found == parts.end()) throw UserError(where + ": no column '" + std::string(needed[k]) + "'");
        at[k] = static_cast<std::size_t>(found - parts.begin());
      }
      continue;
    }
    const std::size_t most = *std::max_element(at.begin(), at.end());
    if (parts.size() <= most) throw UserError(where + ": too few columns");
    ReplayCell c;
    c.program = parts[at[0]];
    c.size_mib = number(parts[at[1]], where);
    const std::string_view said = parts[at[2]];
    if (said != "CPU" && said != "GPU")
      throw UserError(where + ": predicted is '" + std::string(said) + "', not CPU or GPU");
    c.printed = said == "CPU" ? Decision::cpu : Decision::gpu;
    c.cpu_cost = number(parts[at[3]], where);
    c.gpu_cost = number(parts[at[4]], where);
    cells.push_back(std::move(c));
  }
  if (cells.empty()) throw UserError(name + ": no cells");
  return cells;
}

std::span<const ReplayProgram> replay_programs() {
  using enum Role;
  static const std::vector<ReplayProgram> programs{
      {"2DCONV", "2dconv.c", {"convolve"}, {}, 2, 2},
      {"2MM", "2mm.c", {"product1", "product2"}, {{"c", temp}, {"e", out}}, 5, 2, "2mm.cl"},
      {"3DCONV", "3dconv.c", {"convolve"}, {}, 2, 3},
      {"3MM", "3mm.c", {"product1", "product2", "product3"}, {{"e", temp}, {"f", temp}, {"g", out}}, 7, 2},
      {"ATAX", "atax.c", {"row_sums", "column_sums"}, {{"t", temp}}, 1, 2, "atax.cl"},
      {"BICG", "bicg.c", {"row_sums", "column_sums"}, {}, 1, 2, "bicg.cl"},
      {"COR",
       "cor.c",
       {"mean_of_columns", "deviation_of_columns", "standardise", "products"},
       {{"data", in}, {"mean", temp}, {"deviation", temp}, {"result", out}},
       2,
       2,
       "cor.cl"},
      {"COV",
       "cov.c",
       {"mean_of_columns", "centre", "products"},
       {{"data", in}, {"mean", temp}, {"result", out}},
       2,
       2,
       "cov.cl"},
      {"GEMM", "gemm.c", {"gemm"}, {}, 3, 2},
      {"GESUMMV", "gesummv.c", {"gesummv"}, {{"t", temp}, {"y", out}}, 2, 2, "gesummv.cl"},
      {"MVT", "mvt.c", {"row_sums", "column_sums"}, {}, 1, 2, "mvt.cl"},
      {"SYR2K", "syr2k.c", {"scale", "update"}, {}, 4, 2, "syr2k.cl"},
      {"SYRK", "syrk.c", {"scale", "update"}, {}, 3, 2}};
  return programs;
}

std::int64_t side_of(const ReplayProgram& p, double size_mib) {
  constexpr double mib = 1048576, bytes_of_double = 8;
  const double elements = std::floor(size_mib * mib / bytes_of_double / p.arrays);
  auto n = static_cast<std::int64_t>(p.dimensions == 3 ? std::cbrt(elements) : std::sqrt(elements));
  const auto volume = [&](std::int64_t side) { return std::pow(static_cast<double>(side), p.dimensions); };
  while (volume(n + 1) <= elements) ++n;
  while (volume(n) > elements) --n;
  return n;
}

ReplayScore score(std::span<const ReplayCell> cells, std::span<const Decision> decisions) {
  if (cells.size() != decisions.size()) throw InternalError("as many decisions as cells are needed");
  ReplayScore s;
  double log_loss = 0;
  for (std::size_t i = 0; i < cells.size(); ++i) {
    const ReplayCell& c = cells[i];
    const double low = std::min(c.cpu_cost, c.gpu_cost), high = std::max(c.cpu_cost, c.gpu_cost);
    const Decision d = decisions[i];
    ++s.cells;
    s.too_close += d == Decision::too_close ? 1 : 0;
    s.right += (d == Decision::too_close ? high / low <= tie_ratio : d == c.cheaper()) ? 1 : 0;
    const double paid = d == Decision::too_close ? high : d == Decision::cpu ? c.cpu_cost : c.gpu_cost;
    log_loss += std::log(paid / low);
    if (c.cheaper() == Decision::cpu) {
      ++s.cpu_cells;
      s.cpu_found += d != Decision::gpu ? 1 : 0;
    }
  }
  if (s.cells > 0) s.loss = std::exp(log_loss / s.cells);
  return s;
}

}  // namespace kernelcast::offload
