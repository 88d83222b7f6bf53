// Sizes must come out whole and positive; Python's ceil in a T1 file, or the division here, has rounded them.
#include "validate/recorded_space.h"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>

#include "kernelcast/error.h"
#include "validate/csv.h"

namespace kernelcast::validate {
namespace {

class Launcher {
 public:
  Launcher(const SpaceDescription& space, const Configuration& c) : space_(space), configuration_(c) {
    for (const auto& [name, value] : c.parameters) {
      if (const auto number = number_in(value)) names_[name] = {*number};
    }
    std::vector<double> problem;
    problem.reserve(space.problem.size());
    for (const std::string& p : space.problem) problem.push_back(value_of(p));
    names_["ProblemSize"] = problem;
    names_["problem_size"] = problem;
  }

  Measurement run() {
    Measurement m;
    m.place = configuration_.place;
    m.kernel_id = configuration_.kernel_id.empty() ? space_.kernel_id : configuration_.kernel_id;
    m.gpu = configuration_.gpu;
    m.measured_s = configuration_.measured_s;
    m.status = configuration_.status;
    for (const auto& [name, value] : configuration_.parameters) m.defines.push_back(name + "=" + value);
    set_launch(m);
    if (space_.like) {
      take_from(*space_.like, m);
    } else {
      set_arguments(m);
    }
    return m;
  }

 private:
  void set_launch(Measurement& m) {
    m.block_of_kernel = space_.block[0].empty();
    const std::array<std::int64_t*, 3> block{&m.launch.block.x, &m.launch.block.y, &m.launch.block.z};
    const std::array<std::int64_t*, 3> grid{&m.launch.grid.x, &m.launch.grid.y, &m.launch.grid.z};
    for (std::size_t axis = 0; axis < 3; ++axis) {
      if (!space_.block[axis].empty()) *block[axis] = size_of("block size", space_.block[axis]);
      if (axis < space_.problem.size()) *grid[axis] = blocks(axis);
    }
    for (std::size_t axis = 0; axis < 3; ++axis) {
      m.defines.push_back(fmt::format("grid_size_{}={}", "xyz"[axis], *grid[axis]));  // as Kernel Tuner does
    }
    const double shared = value_of(space_.dynamic_shared);
    m.launch.dynamic_shared_bytes = shared == 0 ? 0 : whole("dynamic shared memory", shared);
  }

  std::int64_t blocks(std::size_t axis) {
    double divisor = 1;
    for (const std::string& d : space_.grid_divisors[axis]) divisor *= value_of(d);
    if (divisor <= 0)
      throw UserError(fmt::format("{}: the grid divisors of axis {} give {}", space_.place, axis, divisor));
    return whole("grid size", std::ceil(value_of(space_.problem[axis]) / divisor));
  }

  void set_arguments(Measurement& m) {
    for (const tune::SpaceArgument& a : space_.arguments) {
      PositionalArgument p;
      p.name = a.name;
      p.scalar = a.scalar;
      p.constant_memory = a.constant_memory;
      p.element_bytes = a.element_bytes;
      if (a.scalar) {
        p.value = value_of(a.value);
      } else {
        p.elements = size_of("size of argument " + a.name, a.size);
      }
      m.positional.push_back(std::move(p));
    }
  }

  static void take_from(const Measurement& like, Measurement& m) {
    m.launch.args = like.launch.args;
    m.launch.buffers = like.launch.buffers;
    m.element_bytes = like.element_bytes;
    m.problem = like.problem;
    m.dataset = like.dataset;
  }

  std::int64_t size_of(const std::string& what, const std::string& expression) {
    return whole(what, value_of(expression));
  }

  [[nodiscard]] std::int64_t whole(const std::string& what, double value) const {
    if (value < 1 || value > 1e15 || value != std::floor(value)) {
      throw UserError(fmt::format("{}: {} {} of {} is not a whole number of at least 1", space_.place, what, value,
                                  configuration_.place));
    }
    return static_cast<std::int64_t>(value);
  }

  double value_of(const std::string& expression) {
    try {
      return tune::evaluate(expression, names_);
    } catch (const UserError& e) {
      throw UserError(fmt::format("{}: {} (for {})", space_.place, message_of(e), configuration_.place));
    }
  }

  const SpaceDescription& space_;
  const Configuration& configuration_;
  tune::Names names_;
};

constexpr std::array<std::string_view, 5> own_columns{"kernel_id", "gpu", "time_ms", "status", "note"};

}  // namespace

Measurement measurement_of(const SpaceDescription& space, const Configuration& configuration) {
  return Launcher(space, configuration).run();
}

std::vector<Configuration> read_space_csv(const std::string& path, const std::string& text) {
  const CsvTable table = parse_csv(path, text);
  if (table.column("time_ms") < 0)
    throw UserError(path +
                    ": no measurements: it has neither a column grid_x, as rows have, nor time_ms, as spaces have");
  std::vector<Configuration> all;
  for (const CsvTable::Record& record : table.records) {
    const CsvCells cells(table, record);
    Configuration c;
    c.place = fmt::format("{}:{}", path, record.line);
    c.kernel_id = cells.text("kernel_id");
    c.gpu = cells.text("gpu");
    if (!cells.text("status").empty()) c.status = cells.text("status");
    for (std::size_t i = 0; i < table.columns.size(); ++i) {
      const bool own = std::find(own_columns.begin(), own_columns.end(), table.columns[i]) != own_columns.end();
      if (!own && !record.cells[i].empty()) c.parameters.emplace_back(table.columns[i], record.cells[i]);
    }
    if (c.status == "ok") {
      c.measured_s = cells.number("time_ms") / 1e3;
      if (*c.measured_s <= 0) cells.fail("time_ms", "is not positive");
    }
    all.push_back(std::move(c));
  }
  return all;
}

bool is_rows_csv(const std::string& text) {
  const std::vector<std::string> columns = split(std::string_view(text).substr(0, text.find_first_of("\r\n")), ',');
  return std::any_of(columns.begin(), columns.end(),
                     [](const std::string& c) { return c == "grid_x" || c == "\"grid_x\""; });
}

}  // namespace kernelcast::validate
