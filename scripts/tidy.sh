#!/bin/sh
# clang-tidy as errors on the folders without LLVM: scripts/tidy.sh [FOLDER...].
set -eu
cd "$(dirname "$0")/.."
scripts/packages.sh --install
cmake --preset tidy >/dev/null
[ $# -gt 0 ] || set -- core io device machine profile execute model offload converge probe report
targets=
for folder in "$@"; do targets="$targets kernelcast_$folder"; done
cmake --build --preset tidy --target $targets -- -k 0
