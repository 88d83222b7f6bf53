// `replay`: text, JSON (schema/replay.schema.json) and CSV.
#include "report/replay_views.h"

#include <fmt/format.h>

#include "report/json_parts.h"

namespace kernelcast::report {
namespace {

std::string replay_value_text(const ReplayValue& v) {
  if (const double* n = std::get_if<double>(&v)) {
    if (*n == static_cast<double>(static_cast<long long>(*n)) && *n < 1e15) return fmt::format("{:.0f}", *n);
    return fmt::format("{:.6g}", *n);
  }
  const std::string* text = std::get_if<std::string>(&v);
  return text != nullptr ? *text : "-";
}

Json replay_value_json(const ReplayValue& v) {
  if (const double* n = std::get_if<double>(&v)) return number(*n);
  const std::string* text = std::get_if<std::string>(&v);
  return text != nullptr ? Json(*text) : Json("");
}

std::string quoted(const std::string& text) {
  if (text.find_first_of(",\"\n") == std::string::npos) return text;
  std::string out = "\"";
  for (const char c : text) out += c == '"' ? std::string("\"\"") : std::string(1, c);
  return out + "\"";
}

/// Columns of words are to the left.
std::vector<Table::Align> alignment_of(const ReplayTable& t) {
  std::vector<Table::Align> align(t.columns.size(), Table::Align::right);
  for (const auto& row : t.rows)
    for (std::size_t c = 0; c < row.size(); ++c)
      if (std::holds_alternative<std::string>(row[c])) align[c] = Table::Align::left;
  return align;
}

}  // namespace

std::string paper_replay_text(const PaperReplay& replay, const Style& style) {
  std::string text = style.bold(replay.name) + "  " + replay.paper + "\n";
  for (const ReplayTable& t : replay.tables) {
    text += "\n" + style.bold(t.id) + "  " + t.title + "\n";
    Table table(alignment_of(t), 2);
    table.row(t.columns);
    for (const auto& row : t.rows) {
      std::vector<std::string> cells;
      for (const ReplayValue& v : row) cells.push_back(replay_value_text(v));
      table.row(std::move(cells));
    }
    text += table.str(style, true);
    for (const std::string& note : t.notes) text += "  " + note + "\n";
  }
  return text;
}

std::string paper_replay_json(const PaperReplay& replay) {
  Json j = head_json(replay.head);
  j["name"] = replay.name;
  j["paper"] = replay.paper;
  j["tables"] = Json::array();
  for (const ReplayTable& t : replay.tables) {
    Json rows = Json::array();
    for (const auto& row : t.rows) {
      Json cells = Json::array();
      for (const ReplayValue& v : row) cells.push_back(replay_value_json(v));
      rows.push_back(std::move(cells));
    }
    j["tables"].push_back(
        {{"id", t.id}, {"title", t.title}, {"columns", t.columns}, {"rows", std::move(rows)}, {"notes", t.notes}});
  }
  return dumped(j);
}

std::string paper_replay_csv(const PaperReplay& replay) {
  std::string text = "table,row,column,value\n";
  for (const ReplayTable& t : replay.tables)
    for (std::size_t r = 0; r < t.rows.size(); ++r)
      for (std::size_t c = 0; c < t.rows[r].size(); ++c)
        text += fmt::format(
            "{},{},{},{}\n", t.id, r + 1, quoted(t.columns[c]),
            std::holds_alternative<std::monostate>(t.rows[r][c]) ? "" : quoted(replay_value_text(t.rows[r][c])));
  return text;
}

}  // namespace kernelcast::report
