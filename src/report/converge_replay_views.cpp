// `converge --replay`: steps of a pattern, plain and under a policy.
#include <fmt/format.h>

#include "io/text.h"
#include "report/converge_views.h"
#include "report/json_parts.h"

namespace kernelcast::report {
namespace {

constexpr const char* too_many_states =
    "the pattern has too many states for an exact search; best_steps_bound is a lower bound";

std::string lanes_text(const ReplayReport& r) {
  return fmt::format("{}, {}, {} of them taken, path changed in {}",
                     format_count_of(static_cast<double>(r.statistics.width), "lane"),
                     format_count_of(static_cast<double>(r.iterations), "iteration"), format_percent(r.statistics.p),
                     format_percent(r.statistics.f));
}

}  // namespace

std::string replay_text(const ReplayReport& r, const Style& style) {
  const auto row = [](Table& table, const std::string& what, std::int64_t passes, const std::string& note) {
    table.row({what, format_count(static_cast<double>(passes)), note});
  };
  std::string text = style.bold(r.pattern) + "  " + lanes_text(r) + "\n";
  Table table({Table::Align::left, Table::Align::right, Table::Align::left}, 2);
  table.row({"schedule", "steps", ""});
  row(table, "plain", r.plain.passes(), "");
  const double speedup = static_cast<double>(r.plain.passes()) / static_cast<double>(r.counts.passes());
  row(table, std::string(name_of(r.policy)), r.counts.passes(), fmt::format("speedup {:.3f}", speedup));
  if (r.best.in_order) {
    row(table, "best in order", *r.best.in_order, "no schedule that keeps each lane's order has fewer");
  } else {
    row(table, "in order, at least", r.best.in_order_bound, "too many states for an exact search");
  }
  row(table, "best in any order", r.best.any_order, "");
  return text + table.str(style, true);
}

std::string replay_json(const ReplayReport& r) {
  Json j = head_json(r.head);
  j["policy"] = name_of(r.policy);
  j["options"] = {{"first", r.options.first_taken ? "T" : "F"}, {"flush", r.options.flush_period}};
  j["width"] = r.statistics.width;
  j["iterations"] = r.iterations;
  j["p_taken"] = number(r.statistics.p);
  j["flip_rate"] = number(r.statistics.f);
  j["plain_steps"] = r.plain.passes();
  j["steps"] = r.counts.passes();
  j["trips"] = r.counts.trips;
  j["speedup"] = number(static_cast<double>(r.plain.passes()) / static_cast<double>(r.counts.passes()));
  if (r.best.in_order) {
    j["best_steps"] = *r.best.in_order;
  } else {
    put_unknown(j, "best_steps", too_many_states);
  }
  j["best_steps_bound"] = r.best.in_order_bound;
  j["best_steps_any_order"] = r.best.any_order;
  return dumped(j);
}

}  // namespace kernelcast::report
