#!/bin/sh
# clang-format of all our C++ files; --check only says which ones differ and fails if there are any.
set -eu
cd "$(dirname "$0")/.."
# Not the headers that stand in for the toolkits': they are input of the compiler, laid out by hand.
files=$(find src include test bench -name '*.cpp' -o -name '*.h' | grep -v '^src/frontend/headers/' | sort)
if [ "${1:-}" = --check ]; then
  clang-format-19 --dry-run --Werror $files
else
  clang-format-19 -i $files
fi
