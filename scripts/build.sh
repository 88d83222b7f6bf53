#!/bin/sh
# Installs what is missing, configures and builds: scripts/build.sh [PRESET] [TARGET...]. Quiet unless something fails.
set -eu
cd "$(dirname "$0")/.."
preset=${1:-release}
[ $# -eq 0 ] || shift
case $preset in
  release) folder=build ;;
  *) folder=build/$preset ;;
esac

scripts/packages.sh --install
mkdir -p "$folder"
log=$folder/build.log
echo "Configuring and building preset $preset in $folder (log: $log)"
begin=$(date +%s)
# A folder that another compiler has built is configured from scratch: CMake would drop the preset's other settings.
compiler=clang++-19
[ "$preset" != asan ] || compiler=g++
fresh=
if [ -f "$folder/CMakeCache.txt" ] && ! grep -q "^CMAKE_CXX_COMPILER:.*/$compiler\$" "$folder/CMakeCache.txt"; then
  fresh=--fresh
fi
if ! { cmake --preset "$preset" $fresh && cmake --build --preset "$preset" ${1:+--target} "$@"; } >"$log" 2>&1; then
  grep -E -A 12 'FAILED|error:|Error' "$log" | head -60 >&2 || tail -40 "$log" >&2
  echo "scripts/build.sh: the build failed; all of it is in $log" >&2
  exit 1
fi
echo "Built in $(($(date +%s) - begin)) s"
