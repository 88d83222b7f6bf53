#!/bin/sh
# What is too long for .ci/run: every property of the release build on seeds drawn anew, every libFuzzer target for 60 s,
# mutated inputs against the whole program and, where the Python package is built (preset release) and PYTHON has the
# package mcp, against the MCP server, then the tests of all folders under the address and undefined-behavior
# sanitizers, and those with threads under ThreadSanitizer. Goes on after a failure and fails in the end. Two processors
# take hours.
# Usage: scripts/nightly.sh [SECONDS_A_TARGET [FOLDER...]]   (default: 60, all folders of test/unit)
# CASES: cases of each property (2000); MUTATED: runs of tools/validate/mutated.py (3000); MESSAGES: of mutated_mcp.py
# (1000); PYTHON (python3); KINDS and PRESETS as for scripts/sanitize.sh.
set -u
cd "$(dirname "$0")/.."
seconds=${1:-60}
[ $# -eq 0 ] || shift
[ $# -gt 0 ] || set -- $(ls test/unit)
python=${PYTHON:-python3}
status=0
# step NAME COMMAND...
step() {
  name=$1
  shift
  begin=$(date +%s)
  "$@" || { status=1; echo "scripts/nightly.sh: $name failed" >&2; }
  echo "$name: $(($(date +%s) - begin)) s"
}
# All properties of the release build, where there is one, with seeds of their own.
properties() {
  failed=0
  for test in build/bin/test_unit_* build/bin/test_engines_*; do
    RC_PARAMS="max_success=${CASES:-2000}" "$test" > build/properties.log 2>&1 && continue
    failed=1
    grep -A40 "Falsifiable\|RC_PARAMS\|FAILED" build/properties.log
  done
  return $failed
}
if ls build/bin/test_unit_* > /dev/null 2>&1; then step "properties" properties; fi
step "fuzz targets" scripts/fuzz.sh "$seconds"
step "program under sanitizers" scripts/build.sh fuzz kernelcast
step "mutated inputs" tools/validate/mutated.py --runs "${MUTATED:-3000}"
if [ -d build/python/kernelcast ] && "$python" -c "import mcp" 2>/dev/null; then
  step "MCP server" "$python" tools/validate/mutated_mcp.py --python build/python --messages "${MESSAGES:-1000}"
else
  echo "MCP server: left out, needs build/python and the package mcp"
fi
for folder in "$@"; do step "sanitizers: $folder" scripts/sanitize.sh "$folder"; done
exit $status
