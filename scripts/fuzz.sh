#!/bin/sh
# Builds the libFuzzer targets under the address and undefined-behaviour sanitizers and runs each for a while; what they
# found before stays in build/fuzz/found. Prints executions of each and in all; fails on the first input that is not taken.
# Usage: scripts/fuzz.sh [SECONDS_A_TARGET [TARGET...]]   (default: 60, all)
set -eu
cd "$(dirname "$0")/.."
seconds=${1:-60}
[ $# -gt 0 ] && shift
cmake --preset fuzz >/dev/null
cmake --build --preset fuzz --target fuzz_targets
[ $# -gt 0 ] || set -- $(ls test/fuzz/targets | sed 's/\.cpp$//')
total=0
for target in "$@"; do
  found=build/fuzz/found/$target
  mkdir -p "$found"
  seeds=
  for folder in "test/fuzz/corpora/$target"; do [ -d "$folder" ] && seeds="$seeds $folder"; done
  [ "$target" = device ] && seeds="$seeds devices"
  [ "$target" = pattern ] && [ -d examples/converge ] && seeds="$seeds examples/converge"
  log=build/fuzz/$target.log
  # shellcheck disable=SC2086
  if ! "build/fuzz/bin/fuzz_$target" -max_total_time="$seconds" -timeout=10 -rss_limit_mb=2048 -max_len=65536 -print_final_stats=1 \
      -artifact_prefix="build/fuzz/$target-" "$found" $seeds >"$log" 2>&1; then
    tail -40 "$log" >&2
    echo "scripts/fuzz.sh: $target failed; the input is build/fuzz/$target-*" >&2
    exit 1
  fi
  ran=$(sed -n 's/^stat::number_of_executed_units: *//p' "$log")
  printf '%-12s %12s executions\n' "$target" "$ran"
  total=$((total + ran))
done
printf '%-12s %12s executions\n' all "$total"
