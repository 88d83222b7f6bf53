"""Validates device files against schema/device.schema.json, without kernelcast.

usage: validate.py SOURCE_DIR; prints what is wrong; exit status 0 good, 1 bad, 77 python lacks a module.
"""

import glob
import json
import os
import sys

try:
    import jsonschema
    import tomllib
except ImportError as missing:
    print(missing)
    sys.exit(77)

root = sys.argv[1]
with open(os.path.join(root, "schema/device.schema.json"), encoding="utf-8") as text:
    schema = json.load(text)
jsonschema.Draft202012Validator.check_schema(schema)


def part(name):
    return {"$schema": schema["$schema"], "$ref": f"#/$defs/{name}", "$defs": schema["$defs"]}


def problems(path, rules):
    with open(path, "rb") as text:
        data = tomllib.load(text)
    return [f"{path}: {'.'.join(map(str, e.path))}: {e.message}" for e in jsonschema.Draft202012Validator(rules).iter_errors(data)]


found = []
count = 0
for folder in ("devices", "test/unit/device/data"):
    for path in sorted(glob.glob(os.path.join(root, folder, "*.toml")) + glob.glob(os.path.join(root, folder, "arch/*.toml"))):
        is_arch = os.path.basename(os.path.dirname(path)) == "arch"
        is_sources = os.path.basename(path) == "sources.toml"
        found += problems(path, part("architecture") if is_arch else part("source_file") if is_sources else schema)
        count += 1

# The schema must refuse what it can express: a wrong unit, an unknown key, a number without source.
for name in ("wrong-unit-value", "unknown-key", "unknown-section", "plain-number", "value-without-source", "known-and-unknown",
             "not-whole", "missing-id", "missing-name", "wrong-kind", "unknown-part", "string-as-value", "empty-name"):
    path = os.path.join(root, "test/error/device", name + ".toml")
    if not problems(path, schema):
        found.append(f"{path}: the schema accepts it")
    count += 1

print("\n".join(found) or f"{count} files as they should be")
sys.exit(1 if found else 0)
