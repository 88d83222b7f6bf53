#!/bin/sh
# clang-format of our C++ files; --check only says which ones differ and fails if there are any.
set -eu
cd "$(dirname "$0")/.."
# Not the headers that stand in for the toolkits' (input of the compiler) and not the public ones: both are laid out by hand.
files=$(find src test bench -name '*.cpp' -o -name '*.h' | grep -v '^src/frontend/headers/' | sort)
if [ "${1:-}" = --check ]; then
  clang-format-19 --dry-run --Werror $files
else
  clang-format-19 -i $files
fi
