// The table of fields as a JSON Schema (draft 2020-12, https://json-schema.org/draft/2020-12), for editors and for
// checks without kernelcast. A TOML file is validated as the JSON document with the same tables and values.
// What a schema cannot say is left to load_device: sources that exist, the file's name, rules between numbers.
#include "device/field_table.h"

namespace kernelcast {
namespace {

std::string json_string(std::string_view text) {
  std::string out = "\"";
  for (char c : text) {
    if (c == '"' || c == '\\') out.push_back('\\');
    out.push_back(c);
  }
  return out + "\"";
}

std::string field_schema(const FieldInfo& row) {
  return json_string(row.key) + ": {\n          \"description\": " + json_string(row.meaning) +
         ",\n          \"oneOf\": [{\"$ref\": \"#/$defs/unknown\"}, {\n            \"type\": \"object\", \"required\": "
         "[\"value\", "
         "\"source\"], \"additionalProperties\": false,\n            \"properties\": {\"value\": {\"type\": \"" +
         (row.integer ? "integer" : "number") + "\", \"minimum\": " + number_text(row.minimum) +
         ", \"maximum\": " + number_text(row.maximum) +
         "}, \"source\": {\"$ref\": \"#/$defs/source\"}, \"unstable\": {\"type\": \"boolean\"}}}]}";
}

std::string section_schema(std::string_view section) {
  std::string out = "      " + json_string(section) +
                    ": {\n        \"type\": \"object\", \"additionalProperties\": false,\n        \"properties\": {";
  bool first = true;
  for (const FieldInfo& row : all_fields()) {
    if (row.section != section) continue;
    out += std::string(first ? "" : ",") + "\n        " + field_schema(row);
    first = false;
  }
  return out + "\n        }\n      }";
}

// The keys before the sections; the same for devices and architectures.
constexpr std::string_view head =
    R"("id": {"type": "string", "pattern": "^[a-z0-9][a-z0-9.-]*$", "description": "the name of the file without .toml"},
      "name": {"$ref": "#/$defs/text"},
      "kind": {"enum": ["gpu", "cpu"]},
      "vendor": {"$ref": "#/$defs/text"},
      "inherits": {"$ref": "#/$defs/text", "description": "an architecture: the id of a file in arch/"},
      "architecture": {"$ref": "#/$defs/text"},
      "compute_capability": {"$ref": "#/$defs/text"},
      "codegen_target": {"$ref": "#/$defs/text", "description": "target of the code generator: sm_70, gfx90a, host"},
      "codegen_note": {"$ref": "#/$defs/text", "description": "why another target stands in for the real one"},
      "aliases": {"type": "array", "items": {"$ref": "#/$defs/text"}},
      "notes": {"type": "array", "items": {"$ref": "#/$defs/text"}},
      "sources": {"$ref": "#/$defs/sources"},
)";

constexpr std::string_view opening = R"({
  "$schema": "https://json-schema.org/draft/2020-12/schema",
  "title": "kernelcast device file",
  "description": "A TOML file as the JSON document with the same tables. Architectures follow #/$defs/architecture, sources.toml #/$defs/source_file.",
  "$ref": "#/$defs/architecture",
  "required": ["id", "name", "kind"],
  "$defs": {
    "text": {"type": "string", "minLength": 1},
    "source": {"type": "string", "pattern": "^[^ ]+( .+)?$", "description": "a key of sources.toml, and after a space the place within it"},
    "sources": {"type": "object", "additionalProperties": {"$ref": "#/$defs/text"}, "propertyNames": {"pattern": "^[^ ]+$"}},
    "source_file": {"type": "object", "properties": {"sources": {"$ref": "#/$defs/sources"}}, "additionalProperties": false},
    "unknown": {
      "type": "object", "required": ["unknown"], "additionalProperties": false,
      "properties": {"unknown": {"type": "string", "minLength": 1, "description": "why the number is not known"}}
    },
    "architecture": {
      "type": "object", "required": ["id"], "additionalProperties": false,
      "properties": {
      )";

}  // namespace

std::string device_schema_json() {
  std::string out(opening);
  out += head;
  bool first = true;
  for (std::string_view section : all_sections()) {
    out += (first ? "" : ",\n") + section_schema(section);
    first = false;
  }
  return out + "\n      }\n    }\n  }\n}\n";
}

}  // namespace kernelcast
