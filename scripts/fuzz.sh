#!/bin/sh
# Builds the libFuzzer targets under the address and undefined-behavior sanitizers and runs each for a while; inputs that
# reach new code stay in build/fuzz/found. Prints executions of each target and of all, as libFuzzer's final statistics
# state them, and adds them to build/fuzz/executions.tsv (scripts/fuzz_table.py makes a table of it). Fails after the
# first input that is not taken. KERNELCAST_FUZZ_BUILT=1: the targets are built already; KERNELCAST_FUZZ_TIMEOUT: seconds an
# input may take (20).
# Usage: scripts/fuzz.sh [SECONDS_A_TARGET [TARGET...]]   (default: 60, all)
set -eu
cd "$(dirname "$0")/.."
seconds=${1:-60}
[ $# -gt 0 ] && shift
[ $# -gt 0 ] || set -- $(ls test/fuzz/targets | sed 's/\.cpp$//')
if [ -z "${KERNELCAST_FUZZ_BUILT:-}" ]; then
  scripts/packages.sh --install sanitizers
  cmake --preset fuzz >/dev/null
  # shellcheck disable=SC2046
  cmake --build --preset fuzz --target $(printf 'fuzz_%s ' "$@") >build/fuzz/build.log || { tail -40 build/fuzz/build.log >&2; exit 1; }
fi
# What LLVM allocates before a fatal error of its own is not freed.
options="${ASAN_OPTIONS:+$ASAN_OPTIONS:}detect_leaks=0:allocator_may_return_null=1"
total=0
for target in "$@"; do
  found=build/fuzz/found/$target
  mkdir -p "$found"
  seeds=
  for folder in "test/fuzz/corpora/$target"; do [ -d "$folder" ] && seeds="$seeds $folder"; done
  case $target in
    device) seeds="$seeds devices devices/arch" ;;
    ptx) seeds="$seeds test/data/ptx" ;;
  esac
  case $target in
    cubin | csv | results) longest=65536 ;;
    npy | pattern | triton) longest=256 ;; # the shortest inputs run most often
    expression | record | replay) longest=1024 ;;
    *) longest=4096 ;;
  esac
  # At each exception the sanitizer looks through the frames that it keeps for uses after return: more than half of the
  # time where an input takes 10 us. The slower targets keep that check.
  case $target in
    expression | npy | pattern | record | replay | triton) fast=:detect_stack_use_after_return=0:malloc_context_size=4:quarantine_size_mb=16 ;;
    *) fast= ;;
  esac
  log=build/fuzz/$target.log
  status=0
  # shellcheck disable=SC2086
  ASAN_OPTIONS=$options$fast "build/fuzz/bin/fuzz_$target" -max_total_time="$seconds" -timeout="${KERNELCAST_FUZZ_TIMEOUT:-20}" -rss_limit_mb=4096 -malloc_limit_mb=2048 \
    -max_len=$longest -print_final_stats=1 -detect_leaks=0 -artifact_prefix="build/fuzz/$target-" "$found" $seeds >"$log" 2>&1 || status=$?
  ran=$(sed -n 's/^stat::number_of_executed_units: *//p' "$log")
  ran=${ran:-0}
  printf '%s\t%s\t%s\t%s\t%s\n' "$target" "$ran" "$(sed -n 's/^Done .* in \([0-9]*\) second.*/\1/p' "$log")" \
    "$(grep -o 'cov: [0-9]*' "$log" | tail -1 | cut -c6-)" "$status" >>build/fuzz/executions.tsv
  if [ "$status" -ne 0 ]; then
    grep -aE 'ERROR|SUMMARY|runtime error' "$log" >&2 || tail -40 "$log" >&2
    echo "scripts/fuzz.sh: $target failed; the input is build/fuzz/$target-*, more in $log" >&2
    exit 1
  fi
  printf '%-14s %12s executions\n' "$target" "$ran"
  total=$((total + ran))
done
printf '%-14s %12s executions\n' all "$total"
