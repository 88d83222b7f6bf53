#!/bin/sh
# Builds the sweep in ../../build (configured as usual), runs it and writes sweep.csv, postpone.svg, advance.svg and
# figures.txt into FOLDER: libconverge/bench/run.sh FOLDER [--runs N] [--iterations N] [--quick]
set -eu
[ $# -ge 1 ] || { echo "usage: libconverge/bench/run.sh FOLDER [--runs N] [--iterations N] [--quick]" >&2; exit 2; }
folder=$1
shift
root=$(cd "$(dirname "$0")/../.." && pwd)
cmake --build "$root/build" --target converge_sweep >/dev/null
mkdir -p "$folder"
sweep=$(find "$root/build" -name converge_sweep -type f | head -n 1)
"$sweep" "$@" >"$folder/sweep.csv"
python3 "$root/libconverge/bench/report.py" "$folder/sweep.csv" "$folder" | tee "$folder/figures.txt"
