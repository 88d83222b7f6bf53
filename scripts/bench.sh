#!/bin/sh
# The three figures: cold predict, predictions a second, clean build time (--no-build leaves out the last).
set -eu
cd "$(dirname "$0")/.."
scripts/build.sh release

echo "Benchmarks"
for program in build/bin/*_bench; do
  "$program" --benchmark_min_time=0.2 2>/dev/null | sed '/^-*$/d; /^Benchmark /d'
done
echo
python3 scripts/cold_start.py build/bin/kernelcast
[ "${1:-}" = --no-build ] || python3 scripts/clean_build.py
