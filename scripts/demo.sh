#!/bin/sh
# Sets up, builds, and forecasts real kernels on real GPUs: how long each takes by each published model, and where the
# time goes. Needs no GPU. A kernel of your own comes last: scripts/demo.sh FILE --kernel NAME --grid X,Y --block X,Y ...
set -eu
cd "$(dirname "$0")/.."

scripts/build.sh release kernelcast
program=build/bin/kernelcast
devices=gtx280,gtx680,v100,a100-sxm4-40gb,rtx3080,mi100

forecast() {
  title=$1
  shift
  printf '\n=== %s\n$ kernelcast predict %s\n' "$title" "$*"
  # The table over all devices; the blocks behind it are in `kernelcast predict` without the cut.
  table=$("$program" predict "$@")
  printf '%s\n' "$table" | sed '/^$/,$d'
}

explained() {
  printf '\n=== %s\n$ kernelcast explain %s\n' "$1" "$(shift; echo "$*")"
  shift
  "$program" explain "$@"
}

forecast "Matrix product from global memory, 1024 x 1024" \
  examples/matmul_naive.cl --device $devices --global 1024,1024 --block 16,16 --arg n=1024
forecast "The same in tiles through local memory" \
  examples/matmul_tiled.cl --device $devices --global 1024,1024 --block 16,16 --arg n=1024
forecast "The same as a plain C loop nest: no GPU program at all" \
  examples/matmul.c --device $devices --block 16,16 --arg n=1024
forecast "Prefix sum by Hillis and Steele, 2^20 elements" \
  examples/scan_hillis_steele.cl --device $devices --global 1048576 --block 256
forecast "Prefix sum by Blelloch, 2^20 elements" \
  examples/scan_blelloch.cl --device $devices --global 524288 --block 256
forecast "Five-point stencil, 4096 x 2048 (CUDA)" \
  examples/stencil5.cu --device $devices --grid 128,256 --block 32,8 --arg width=4096 --arg height=2048
forecast "saxpy out of a whole CUDA program, 2^20 elements" \
  examples/saxpy.cu --device $devices --grid 4096 --block 256 --arg n=1048576
forecast "Sum with shuffles, 2^24 elements (CUDA)" \
  examples/reduce.cu --device gtx680,v100,a100-sxm4-40gb,rtx3080 --grid 320 --block 256 --arg n=16777216
forecast "n-body, 16384 bodies" \
  examples/nbody.cl --device $devices --global 16384 --block 256 --arg n=16384

explained "Where the time goes: the tiled matrix product, line by line" \
  examples/matmul_tiled.cl --device v100 --global 1024,1024 --block 16,16 --arg n=1024
explained "Unknowns are listed, with the flag that replaces each" \
  examples/histogram.cu --device v100 --model roofline --grid 160 --block 256 --arg n=16777216

printf '\n=== %s\n' "CPU or GPU: a matrix product of 1024 x 1024 in double precision, with its transfers"
printf '$ kernelcast offload %s\n' "examples/offload/gemm.c --cpu i7-6700k --gpu gtx1080 --arg n=1024"
"$program" offload examples/offload/gemm.c --cpu i7-6700k --gpu gtx1080 --arg n=1024 | sed '/^$/,$d'

# The only place where something is run: three loop nests of ours, on this machine's CPU.
if command -v python3 >/dev/null; then
  printf '\n=== %s\n' "Live: three loop nests on this machine, one thread and (where there is OpenCL) as kernels, forecasts and measured times"
  live="--kernels gemm,atax,2dconv --sizes 2 --opt 3"
  # What the machine can do is measured first, for a quarter of a minute; the operating system's tables know no latency
  # and no bandwidth. Numbers that other programs disturb are used and said to have varied.
  measured=$(mktemp -d)
  trap 'rm -rf "$measured"' EXIT
  printf '$ kernelcast probe --backend host --time-limit 15 -o this-machine.toml\n'
  if "$program" probe --backend host --time-limit 15 -o "$measured/this-machine.toml" >/dev/null; then
    live="$live --cpu $measured/this-machine.toml"
  else
    echo "this machine's CPU cannot be measured: the forecasts rest on the operating system's tables"
  fi
  python3 tools/validate/offload_live.py "$program" $live --modes one,opencl || python3 tools/validate/offload_live.py "$program" $live
fi

if [ $# -gt 0 ]; then
  forecast "Your kernel" "$@" --device $devices
fi

printf '\nThe program is %s; try: %s devices\n' "$program" "$program"
