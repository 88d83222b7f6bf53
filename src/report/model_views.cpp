// `models`: names and what they are, with their papers.
#include "report/json_parts.h"
#include "report/views.h"

namespace kernelcast::report {

std::string models_text(std::span<const Model* const> models, const Style& style) {
  Table table({Table::Align::left, Table::Align::left});
  table.row({"model", "what it is"});
  for (const Model* m : models) table.row({std::string(m->name()), std::string(m->summary())});
  return table.str(style, true);
}

std::string models_json(const Head& head, std::span<const Model* const> models) {
  Json j = head_json(head);
  j["models"] = Json::array();
  for (const Model* m : models) j["models"].push_back({{"name", m->name()}, {"summary", m->summary()}});
  return dumped(j);
}

}  // namespace kernelcast::report
