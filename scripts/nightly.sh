#!/bin/sh
# What is too long for .ci/run: every libFuzzer target for 60 s, mutated inputs against the whole program, then the tests
# of all folders under the address and undefined-behavior sanitizers, and those with threads under ThreadSanitizer. Goes
# on after a failure and fails in the end. Two processors take hours.
# Usage: scripts/nightly.sh [SECONDS_A_TARGET]   (default: 60)
# MUTATED: runs of tools/validate/mutated.py (3000).
set -u
cd "$(dirname "$0")/.."
status=0
# step NAME COMMAND...
step() {
  name=$1
  shift
  begin=$(date +%s)
  "$@" || { status=1; echo "scripts/nightly.sh: $name failed" >&2; }
  echo "$name: $(($(date +%s) - begin)) s"
}
step "fuzz targets" scripts/fuzz.sh "${1:-60}"
step "program under sanitizers" scripts/build.sh fuzz kernelcast
step "mutated inputs" tools/validate/mutated.py --runs "${MUTATED:-3000}"
for folder in $(ls test/unit); do step "sanitizers: $folder" scripts/sanitize.sh "$folder"; done
exit $status
