#!/bin/sh
# Tests of all folders under the address and undefined-behavior sanitizers, in the build of scripts/fuzz.sh; those of the
# folders with threads under ThreadSanitizer, too. For the night: two processors take hours.
# Usage: scripts/sanitize.sh [FOLDER...]   (default: all)
# KINDS: kinds of tests (unit error engines); PRESETS: fuzz (address, undefined), tsan, or both (the default).
set -eu
cd "$(dirname "$0")/.."
scripts/packages.sh --install sanitizers
kinds=${KINDS:-unit error engines}
presets=${PRESETS:-fuzz tsan}
[ $# -gt 0 ] || set -- $(ls test/unit)

# check PRESET FOLDER...: builds and runs the folders' test programs.
check() {
  preset=$1
  shift
  cmake --preset "$preset" >/dev/null
  targets= folders=
  known=$(cmake --build "build/$preset" --target help | sed -n 's/^\(test_[a-z]*_[a-z]*\): .*/\1/p')
  for folder in "$@"; do
    folders="$folders|$folder"
    for kind in $kinds; do
      if echo "$known" | grep -qx "test_${kind}_$folder"; then targets="$targets test_${kind}_$folder"; fi
    done
  done
  # shellcheck disable=SC2086
  scripts/build.sh "$preset" $targets
  log=build/$preset/sanitize.log
  pattern="^($(echo $kinds | tr ' ' '|'))/(${folders#|})/"
  if ! ctest --test-dir "build/$preset" -R "$pattern" -j "$(nproc)" --output-on-failure >"$log" 2>&1; then
    grep -vE ' Passed |^ +Start +[0-9]' "$log" | tail -100
    echo "scripts/sanitize.sh: preset $preset found a fault; all of it is in $log" >&2
    exit 1
  fi
  echo "$preset:$(sed -n 's/.*tests passed, / /p' "$log") $(grep -c ' Passed ' "$log") tests"
}

# What LLVM allocates before a fatal error of its own is not freed.
export ASAN_OPTIONS="detect_leaks=0${ASAN_OPTIONS:+:$ASAN_OPTIONS}"
case " $presets " in *" fuzz "*) check fuzz "$@" ;; esac
threads=
for folder in "$@"; do
  case $folder in tune | execute | validate) threads="$threads $folder" ;; esac
done
# oneTBB is not instrumented: what it orders is not seen.
export TSAN_OPTIONS="suppressions=$PWD/scripts/tsan.supp ignore_noninstrumented_modules=1"
# shellcheck disable=SC2086
case " $presets " in *" tsan "*) [ -z "$threads" ] || check tsan $threads ;; esac
