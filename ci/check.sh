#!/bin/sh
# Forecasts every kernel that a change touches, before and after it: ci/check.sh BASE_REF [PLAN]. Writes one Markdown report.
# PLAN (default: .kernelcast) has a line for each kernel: a source file and the flags of `kernelcast check`; # begins a comment.
#   src/stencil.cu --kernel stencil --device a100,h100 --grid 128,128 --block 32,8 --arg n=4096 --max-slowdown 5%
# Exit status: 0 no kernel is slower, 3 one is, 1 or 2 one could not be forecast. KERNELCAST names the program (default: on PATH).
set -u
base=${1:?usage: ci/check.sh BASE_REF [PLAN]}
plan=${2:-.kernelcast}
program=${KERNELCAST:-kernelcast}
[ -r "$plan" ] || { echo "ci/check.sh: $plan cannot be read: give a line for each kernel, FILE and the flags of kernelcast check" >&2; exit 2; }
git rev-parse --verify --quiet "$base^{commit}" >/dev/null || { echo "ci/check.sh: $base is no commit here: fetch it (fetch-depth: 0)" >&2; exit 2; }

tree=$(mktemp -d)
trap 'rm -rf "$tree"' EXIT
git archive "$base" | tar -x -C "$tree"  # with its headers, which --base-ref of the program would not have

worst=0
checked=0
echo "## Forecast of GPU kernels against $base"
while read -r file flags; do
  case $file in '' | '#'*) continue ;; esac
  # A header may have changed what the kernel is.
  if git diff --quiet "$base" -- "$file" '*.h' '*.hpp' '*.cuh' '*.inl'; then continue; fi
  if [ ! -e "$tree/$file" ]; then echo; echo "$file is new"; continue; fi
  echo
  # The plan is the repository's own; its flags are words.
  "$program" check "$tree/$file" "$file" $flags --format markdown </dev/null >"$tree/.report"
  status=$?
  sed "s|$tree/|$base:|g" "$tree/.report"
  checked=$((checked + 1))
  case $status in
    0) ;;
    3) [ "$worst" -ne 0 ] || worst=3 ;;
    *) echo "$file: no forecast (status $status)"; worst=$status ;;
  esac
done <"$plan"
[ "$checked" -gt 0 ] || echo "No kernel of $plan has changed."
exit "$worst"
