// Tables of measured errors, taken from the documents that hold them: one place for each number.
#include "report/page_parts.h"
#include "report/page_views.h"

namespace kernelcast::report {
namespace {

std::string_view trimmed(std::string_view s) {
  const auto first = s.find_first_not_of(" \t");
  if (first == std::string_view::npos) return {};
  return s.substr(first, s.find_last_not_of(" \t") - first + 1);
}

std::vector<std::string> cells_of(std::string_view line) {
  std::vector<std::string> cells;
  line = trimmed(line);
  line.remove_prefix(1);
  while (!line.empty()) {
    const auto end = line.find('|');
    cells.emplace_back(trimmed(line.substr(0, end)));
    line.remove_prefix(end == std::string_view::npos ? line.size() : end + 1);
  }
  return cells;
}

/// The first table below a heading; nothing where the document has none.
std::optional<AccuracyTable> table_below(std::string_view document, std::string_view heading, std::string title,
                                         std::string file) {
  const auto at = document.find(heading);
  if (at == std::string_view::npos) return std::nullopt;
  document.remove_prefix(at + heading.size());
  AccuracyTable t{std::move(title), std::move(file), {}, {}};
  bool within = false;
  while (!document.empty()) {
    const auto end = document.find('\n');
    const std::string_view line = trimmed(document.substr(0, end));
    document.remove_prefix(end == std::string_view::npos ? document.size() : end + 1);
    const bool row = line.starts_with('|');
    if ((within && !row) || line.starts_with('#')) break;
    if (!row || line.starts_with("|---")) continue;
    if (!within) {
      t.columns = cells_of(line);
    } else if (std::vector<std::string> cells = cells_of(line); cells.size() == t.columns.size()) {
      t.rows.push_back(std::move(cells));
    }
    within = true;
  }
  if (t.rows.empty()) return std::nullopt;
  return t;
}

}  // namespace

std::vector<AccuracyTable> accuracy_tables() {
  struct Wanted {
    const char *part, *heading, *title, *file;
  };
  static constexpr Wanted wanted[] = {
      {"programs.md", "# Kernels of public programs", "Kernels of public programs", "validation/programs.md"},
      {"programs.md", "## By what the counts rest on", "By what the counts rest on", "validation/programs.md"},
      {"programs.md", "## By binding bound", "By binding bound", "validation/programs.md"},
      {"programs.md", "## By measured time", "By measured time", "validation/programs.md"},
      {"rows.md", "### gMAE by family of kernels", "gMAE by family of kernels", "validation/README.md"},
      {"rows.md", "### gMAE by GPU", "gMAE by GPU", "validation/README.md"},
  };
  std::vector<AccuracyTable> tables;
  for (const Wanted& w : wanted)
    if (auto t = table_below(page_part(w.part), w.heading, w.title, w.file)) tables.push_back(std::move(*t));
  return tables;
}

}  // namespace kernelcast::report
