// Operations that cost more than what was meant. Literals and options are changed in the source and compiled again, so
// that the answer holds what the compiler makes of the change.
#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <map>
#include <regex>
#include <set>
#include <tuple>

#include "advise/place.h"
#include "advise/rules.h"
#include "io/text.h"

namespace kernelcast::advice {
namespace {

double fp64_of(const OpCounts& c) {
  return c[OpClass::fp64_add] + c[OpClass::fp64_mul] + c[OpClass::fp64_fma] + c[OpClass::fp64_div] +
         c[OpClass::fp64_special] + c[OpClass::fp64_compare];
}

/// Warp instructions of each line, by a measure of its operations.
template <class Measure>
std::map<SourceLine, double> by_line(const Subject& s, const Measure& measure) {
  std::map<SourceLine, double> lines;
  for (std::size_t b = 0; b < s.profile().blocks.size(); ++b)
    for (const LineOps& l : s.profile().blocks[b].lines)
      if (l.line.file >= 0 && measure(l.ops) > 0)
        lines[l.line] += measure(l.ops) * s.workload().block_counts.at(b).warps;
  return lines;
}

std::optional<SourceLine> heaviest(const std::map<SourceLine, double>& lines) {
  const auto most =
      std::max_element(lines.begin(), lines.end(), [](const auto& a, const auto& b) { return a.second < b.second; });
  return most == lines.end() ? std::nullopt : std::optional(most->first);
}

std::set<SourceLine> keys_of(const std::map<SourceLine, double>& lines) {
  std::set<SourceLine> keys;
  for (const auto& [line, n] : lines) keys.insert(line);
  return keys;
}

std::string without_comment(const std::string& text) { return text.substr(0, text.find("//")); }

/// Literals of type double: 2.5, 1e-3, .5 without a suffix.
const std::regex& double_literal() {
  static const std::regex literal(R"((^|[^\w.])((?:\d+\.\d*|\.\d+)(?:[eE][+-]?\d+)?|\d+[eE][+-]?\d+)(?![\w.]))");
  return literal;
}

/// Functions that C++ overloads for float and int arguments mixed, as pow(x, 2), by their double form.
const std::regex& double_function() {
  static const std::regex function(
      R"(\b(pow|exp|exp2|exp10|log|log2|log10|sqrt|rsqrt|sin|cos|tan|fabs|fmax|fmin)(\s*\())");
  return function;
}

bool has_suffixed_functions(const Subject& s) {
  return s.question().source.language == Language::cuda || s.question().source.language == Language::hip;
}

std::string with_suffixes(const Subject& s, const std::string& text) {
  const std::string code = without_comment(text);
  std::string now = std::regex_replace(code, double_literal(), "$1$2f");
  if (has_suffixed_functions(s)) now = std::regex_replace(now, double_function(), "$1f$2");
  return now + text.substr(code.size());
}

std::vector<std::string> split_lines(const std::string& text) {
  std::vector<std::string> lines(1);
  for (const char c : text) {
    if (c == '\n')
      lines.emplace_back();
    else
      lines.back() += c;
  }
  return lines;
}

/// Arguments and buffers are of single precision, literals are not: the arithmetic around them becomes double.
std::vector<Draft> accidental_double(const Subject& s) {
  for (const Parameter& p : s.profile().parameters)
    if (p.type.find("double") != std::string::npos) return {};
  const auto lines = by_line(s, fp64_of);
  ForecastQuestion q = s.question();
  std::vector<std::string> text = split_lines(q.source.text);
  std::map<SourceLine, double> changed;
  for (const auto& [line, n] : lines) {
    if (!s.in_source(line) || line.line < 1 || static_cast<std::size_t>(line.line) > text.size()) continue;
    std::string& old = text[static_cast<std::size_t>(line.line) - 1];
    if (old.size() > longest_read || old.find("double") != std::string::npos) continue;
    std::string now = with_suffixes(s, old);
    if (now == old) continue;
    old = std::move(now);
    changed[line] = n;
  }
  const auto worst = heaviest(changed);
  if (!worst || !could_gain(s, without_arithmetic(keys_of(changed)))) return {};
  q.source.text = fmt::format("{}", fmt::join(text, "\n"));
  auto now = s.ask(q);
  if (!now || fp64_of(now->workload->warp_ops) >= fp64_of(s.workload().warp_ops)) return {};
  std::smatch first;
  const std::string code = without_comment(s.text(*worst));
  const bool literal = std::regex_search(code, first, double_literal());
  const std::string token = literal                                             ? first[2].str()
                            : std::regex_search(code, first, double_function()) ? first[1].str()
                                                                                : std::string();
  Draft d{*worst, token, "", "", {}, std::move(now), {}};
  d.message = fmt::format("{} double-precision warp instructions: {} is a double, and what it meets becomes one",
                          format_count(fp64_of(s.workload().warp_ops)),
                          literal ? "the literal" : fmt::format("what '{}' returns", token));
  d.change = fmt::format("write {0}f in place of {0}{1}", token,
                         changed.size() > 1 ? fmt::format(", and so on {} lines", changed.size()) : "");
  d.rewritten = q.source.text;
  d.assumptions.emplace_back("single precision is enough");
  return {std::move(d)};
}

/// Divisions of single precision: an estimate of the reciprocal and multiply-adds. Those of integers have the estimate
/// alone.
double slow_of(const OpCounts& c) {
  return c[OpClass::fp32_fma] + c[OpClass::fp32_div] > 0 ? c[OpClass::fp32_special] + c[OpClass::fp32_div] : 0;
}

/// CUDA's intrinsics of less precision (CUDA C++ Programming Guide, Intrinsic Functions); square roots have an option
/// only.
std::string fast_form(const std::string& function) {
  static const std::set<std::string> have{"exp", "exp10", "log", "log2", "log10", "pow", "sin", "cos", "tan", "sincos"};
  const std::string base = function.ends_with('f') ? function.substr(0, function.size() - 1) : function;
  return have.contains(base) ? fmt::format("use __{}f(), or compile with --use_fast_math", base)
                             : std::string("compile with --use_fast_math");
}

std::vector<Draft> slow_functions(const Subject& s) {
  static const std::regex call(
      R"(\b(expf?|exp2f?|exp10f?|logf?|log2f?|log10f?|powf?|sinf?|cosf?|tanf?|sincosf?|sqrtf?|rsqrtf?)\s*\(|/)");
  if (s.question().source.fast_math || s.question().source.language == Language::ptx) return {};
  if (s.estimate().limiter == "launch") return {};  // a few instructions are lost in it
  std::map<SourceLine, double> lines = by_line(s, [](const OpCounts& c) { return c.total(); });
  const std::map<SourceLine, double> divisions = by_line(s, slow_of);
  std::erase_if(lines, [&](const auto& l) {
    std::smatch m;
    const std::string code = without_comment(s.text(l.first));
    return !std::regex_search(code, m, call) || (m[1].str().empty() && !divisions.contains(l.first));
  });
  // --use_fast_math leaves double precision as it is.
  for (const auto& [line, n] : by_line(s, fp64_of)) lines.erase(line);
  const auto worst = heaviest(lines);
  if (!worst) return {};
  // A function with a slow path keeps values in local memory, which is no arithmetic.
  if (s.workload().local_bytes() <= 0 && !could_gain(s, without_arithmetic(keys_of(lines)))) return {};
  ForecastQuestion q = s.question();
  q.source.fast_math = true;
  auto now = s.ask(q);
  if (!now || fp64_of(now->workload->warp_ops) < 0.99 * fp64_of(s.workload().warp_ops)) return {};
  std::smatch first;
  const std::string code = without_comment(s.text(*worst));
  // A function costs more than a division beside it.
  std::string token;
  for (std::string rest = code; token.empty() && std::regex_search(rest, first, call); rest = first.suffix())
    token = first[1].str();
  Draft d{*worst, token, "", "", {}, std::move(now), {}};
  d.message = token.empty() ? "division in full precision takes several instructions"
                            : fmt::format("'{}' in full precision takes several instructions", token);
  d.change = token.empty() ? "use __fdividef(a, b) or multiply by the reciprocal, or compile with --use_fast_math"
                           : fast_form(token);
  d.edit.option = "use_fast_math";
  d.assumptions.emplace_back("results may differ in the last bits, and denormals become zero");
  if (token.starts_with("pow")) {
    d.change += ";\na power with a small whole exponent is cheaper as products: x2 = x * x";
    d.assumptions.emplace_back("no base is negative: __powf() of one is NaN");
  }
  return {std::move(d)};
}

/// A divisor in a line that all threads share and the launch gives: a parameter or a size.
struct Divisor {
  std::size_t at = 0, length = 0;
  std::string name;
  std::int64_t value = 0;
};

std::optional<Divisor> shared_divisor(const Subject& s, const std::string& text, std::size_t begin) {
  const std::string code = without_comment(text);
  for (std::size_t at = code.find_first_of("/%", begin); at != std::string::npos;
       at = code.find_first_of("/%", at + 1)) {
    const std::size_t from = code.find_first_not_of("= ", at + 1);
    if (from == std::string::npos) break;
    for (const auto& [name, value] : s.launch().args)
      if (const auto* integer = std::get_if<std::int64_t>(&value); integer != nullptr && *integer > 0)
        if (find_word(code, name, from) == from) return Divisor{from, name.size(), name, *integer};
    for (int axis = 0; axis < 3; ++axis) {
      const std::string name = std::string("blockDim.") + "xyz"[axis];
      if (find_word(code, name, from) == from)
        return Divisor{from, name.size(), name, s.workload().block.array()[static_cast<std::size_t>(axis)]};
    }
  }
  return std::nullopt;
}

/// The divisors as constants, compiled again: what a template parameter gives.
std::vector<Draft> integer_divisions(const Subject& s) {
  if (s.estimate().limiter == "launch") return {};
  const auto lines = by_line(s, [](const OpCounts& c) {
    return c[OpClass::int_mad] + c[OpClass::int_mul] + c[OpClass::int_div] + c[OpClass::int64_div] +
           c[OpClass::int64_mad];
  });
  ForecastQuestion q = s.question();
  std::vector<std::string> text = split_lines(q.source.text);
  std::map<SourceLine, double> changed;
  std::set<std::string> names;
  std::string token;
  for (const auto& [line, n] : lines) {
    if (!s.in_source(line) || line.line < 1 || static_cast<std::size_t>(line.line) > text.size()) continue;
    std::string& now = text[static_cast<std::size_t>(line.line) - 1];
    std::size_t from = now.size() > longest_read ? now.size() : 0;
    while (const auto d = shared_divisor(s, now, from)) {
      now.replace(d->at, d->length, fmt::format("{}", d->value));
      from = d->at + 1;
      changed[line] = n;
      names.insert(d->name);
    }
  }
  const auto worst = heaviest(changed);
  if (!worst || !could_gain(s, without_arithmetic(keys_of(changed)))) return {};
  q.source.text = fmt::format("{}", fmt::join(text, "\n"));
  auto now = s.ask(q);
  if (!now) return {};
  const auto first = shared_divisor(s, s.text(*worst), 0);
  Draft d{*worst, first ? first->name : "", "", "", {}, std::move(now), {}};
  d.message = fmt::format("integer division by '{}', which is the same for all threads, takes about 20 instructions",
                          fmt::join(names, "', '"));
  d.change = fmt::format("make it a constant (template <int {0}>), or divide by a precomputed multiplier and shift",
                         first ? first->name.find('.') == std::string::npos ? first->name : "block" : "n");
  d.assumptions.emplace_back("the gain is that of a constant");
  return {std::move(d)};
}

}  // namespace

std::span<const Rule> arithmetic_rules() {
  static const Rule list[] = {
      {{"accidental-double", "a literal makes arithmetic double"}, accidental_double},
      {{"slow-function", "functions in full precision that have a fast form"}, slow_functions},
      {{"integer-division", "division by a value that all threads share"}, integer_divisions},
  };
  return list;
}

}  // namespace kernelcast::advice
