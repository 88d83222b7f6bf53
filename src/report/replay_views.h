// Views of `replay`: the tables of a published system, made again, beside what its text prints.
#pragma once

#include <string>
#include <variant>
#include <vector>

#include "report/results.h"
#include "report/style.h"

namespace kernelcast::report {

/// A number, a word, or nothing: the text prints no such value, or there is none.
using ReplayValue = std::variant<std::monostate, double, std::string>;

struct ReplayTable {
  std::string id;                    // "sweep"
  std::string title;                 // one line
  std::vector<std::string> columns;  // with units: "settled, ms"; what the text prints is "printed: ..."
  std::vector<std::vector<ReplayValue>> rows;
  std::vector<std::string> notes;  // where it departs from the text, and why
};

struct PaperReplay {
  Head head;
  std::string name;   // "ske"
  std::string paper;  // its citation
  std::vector<ReplayTable> tables;
};

std::string paper_replay_text(const PaperReplay& replay, const Style& style);
std::string paper_replay_json(const PaperReplay& replay);
/// A row a value: table, row (from 1), column, value.
std::string paper_replay_csv(const PaperReplay& replay);

}  // namespace kernelcast::report
