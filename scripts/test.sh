#!/bin/sh
# Sets up, builds and runs every test: first the fast folders under the address and undefined-behaviour sanitizers, then
# all of the release build. Ends with ctest's summary.
set -eu
cd "$(dirname "$0")/.."
jobs=$(nproc)

# What has no LLVM in it: quick to build, and where the arithmetic is.
sanitized="core io device profile model sm offload converge probe validate report"
scripts/build.sh release
scripts/packages.sh --install
targets=
for program in $(cd build && cmake --build . --target help | sed -n 's/^\(test_[a-z]*_[a-z]*\): .*/\1/p'); do
  for folder in $sanitized; do
    case $program in *_"$folder") targets="$targets $program" ;; esac
  done
done
scripts/build.sh asan $targets
echo "Tests under the sanitizers"
pattern="^(unit|golden|error|engines|package)/($(echo $sanitized | tr ' ' '|'))/"
if ! ctest --test-dir build/asan -R "$pattern" -j "$jobs" --output-on-failure >build/asan/test.log 2>&1; then
  grep -vE ' Passed |^ +Start +[0-9]' build/asan/test.log | tail -100
  echo "scripts/test.sh: tests under the sanitizers failed; all of it is in build/asan/test.log" >&2
  exit 1
fi
tail -3 build/asan/test.log

echo "Tests of the release build"
if ! ctest --test-dir build -j "$jobs" --output-on-failure >build/test.log 2>&1; then
  grep -vE ' Passed |^ +Start +[0-9]' build/test.log
  exit 1
fi
sed -n '/tests passed/,$p' build/test.log
