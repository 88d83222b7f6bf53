"""The tests' one way to check output against a schema of schema/, and a second rule of the contract beside it."""

import json
import os
import re

import jsonschema

SCHEMAS = os.path.join(os.path.dirname(os.path.abspath(__file__)), "..", "..", "schema")


def refuse(text):
    raise ValueError(f"{text} is no JSON number")


def nulls_have_reasons(value, path="$"):
    """Every null in an object is named in the object's "reason"."""
    if isinstance(value, dict):
        for key, inner in value.items():
            if inner is None:
                reason = value.get("reason", "")
                assert re.search(rf"(^|; ){re.escape(key)}: .", reason), f"{path}.{key} is null without a reason"
            nulls_have_reasons(inner, f"{path}.{key}")
    elif isinstance(value, list):
        for i, inner in enumerate(value):
            assert inner is not None, f"{path}[{i}] is null"
            nulls_have_reasons(inner, f"{path}[{i}]")


def checked(text, schema_name):
    """The parsed text; raises when it does not follow the schema or holds NaN or Infinity."""
    value = json.loads(text, parse_constant=refuse)
    with open(os.path.join(SCHEMAS, schema_name + ".schema.json"), encoding="utf-8") as file:
        schema = json.load(file)
    jsonschema.Draft202012Validator.check_schema(schema)
    jsonschema.Draft202012Validator(schema).validate(value)
    nulls_have_reasons(value)
    return value
