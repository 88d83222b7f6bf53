#!/bin/sh
# Sets up, builds and runs every test: first the fast folders under the address and undefined-behaviour sanitizers, then
# all of the release build. Ends with ctest's summary.
set -eu
cd "$(dirname "$0")/.."
jobs=$(nproc)

# Folders without LLVM, where the arithmetic is. Not validate and report: they score and format, and bring the tuner and the JSON
# library along, which together take as long to compile as all the others.
sanitized="core io device machine ptx profile model offload converge probe"
# Not golden/probe: it measures a dozen simulated devices with code that unit/probe and unit/machine go through on small ones.
kinds="unit golden error engines package"
left_out="golden/probe"
scripts/build.sh release
scripts/packages.sh --install
targets=
programs=$(cmake --build build --target help | sed -n 's/^\(test_[a-z]*_[a-z]*\): .*/\1/p')
for kind in $kinds; do
  for folder in $sanitized; do
    if [ "$kind/$folder" != "$left_out" ] && echo "$programs" | grep -qx "test_${kind}_$folder"; then
      targets="$targets test_${kind}_$folder"
    fi
  done
done
scripts/build.sh asan $targets
echo "Tests under the sanitizers"
pattern="^($(echo $kinds | tr ' ' '|'))/($(echo $sanitized | tr ' ' '|'))/"
if ! ctest --test-dir build/asan -R "$pattern" -E "^$left_out/" -j "$jobs" --output-on-failure >build/asan/test.log 2>&1; then
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
