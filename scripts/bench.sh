#!/bin/sh
# The three figures: cold predict, predictions a second, clean build time (--no-build leaves out the last).
set -eu
cd "$(dirname "$0")/.."
if [ "${1:-}" != --no-build ]; then
  scripts/packages.sh --install
  rm -rf build/clean
  begin=$(date +%s)
  cmake -S . -B build/clean -G Ninja -DCMAKE_BUILD_TYPE=Release -DCMAKE_CXX_COMPILER_LAUNCHER= >/dev/null
  CCACHE_DISABLE=1 cmake --build build/clean >/dev/null
  clean="$(($(date +%s) - begin)) s on $(nproc) cores"
  rm -rf build/clean
fi
scripts/build.sh release

echo "Benchmarks"
for program in build/bin/*_bench; do
  [ -x "$program" ] && "$program" --benchmark_min_time=0.2 2>/dev/null | sed -n '/^BM_/p;/^[A-Za-z].*ns/p'
done
echo
python3 scripts/cold_start.py build/bin/kernelcast
[ -z "${clean:-}" ] || echo "clean build: $clean"
