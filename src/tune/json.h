// Reading Kernel Tuner's JSON. Included by the readers of its files only: this folder's and src/validate's.
#pragma once

#include <fmt/format.h>

#include <nlohmann/json.hpp>
#include <string>
#include <vector>

#include "kernelcast/error.h"

namespace kernelcast::tune {

using Json = nlohmann::ordered_json;

[[noreturn]] inline void fail_in(const std::string& path, const std::string& what) {
  throw UserError(path + ": " + what);
}

/// Throws UserError for what is no JSON, and for lists and objects that nest too deeply to be looked through.
Json parse_json(const std::string& path, const std::string& text);

/// Throws UserError with the line where lists and objects nest deeper, or are more, than any file of Kernel Tuner's has.
void check_json_size(const std::string& path, const std::string& text);

/// The member, which must be there.
inline const Json& member(const std::string& path, const Json& object, const char* key) {
  if (!object.is_object() || !object.contains(key)) fail_in(path, fmt::format("there is no \"{}\"", key));
  return object.at(key);
}

/// A number or a text as an expression; empty for anything else.
inline std::string expression_in(const Json& value) {
  if (value.is_string()) return value.get<std::string>();
  if (value.is_number_integer()) return fmt::format("{}", value.get<std::int64_t>());
  if (value.is_number()) return fmt::format("{}", value.get<double>());
  if (value.is_boolean()) return value.get<bool>() ? "1" : "0";
  return "";
}

inline std::string text_in(const Json& object, const char* key) {
  return object.is_object() && object.contains(key) ? expression_in(object.at(key)) : "";
}

inline std::vector<std::string> list_in(const Json& value) {
  std::vector<std::string> list;
  if (value.is_array()) {
    for (const Json& v : value) list.push_back(expression_in(v));
  } else if (!value.is_null()) {
    list.push_back(expression_in(value));
  }
  return list;
}

}  // namespace kernelcast::tune
