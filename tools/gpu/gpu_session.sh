#!/bin/sh
# On the machine with the NVIDIA GPU: gpu_session.sh FOLDER [LIBRARY]. Runs the plans that tools/gpu/gpu_plans.py put into FOLDER and
# leaves records (examples.record, probe.record, one for each plan) and what the machine says of itself (machine.txt) in $OUT, in FOLDER unless
# that is set. Needs a driver and the C library; where the carried kernelcast-cuda does not run, a C++20 compiler builds it
# (CXX, g++ unless set). LIBRARY: the driver library in place of libcuda.so.1.
set -u
if [ $# -lt 1 ] || [ ! -d "$1" ]; then
  echo "usage: gpu_session.sh FOLDER [LIBRARY]; FOLDER comes from tools/gpu/gpu_plans.py" >&2
  exit 2
fi
folder=$1
library=${2:-}
out=${OUT:-$folder}
root=$(cd "$(dirname "$0")/../.." && pwd)
mkdir -p "$out"

runner=$folder/kernelcast-cuda
"$runner" >/dev/null 2>&1
if [ $? -ne 2 ]; then # without arguments it says how it is used; another status: it does not run here
  echo "kernelcast-cuda does not run here and is built again"
  runner=$(mktemp -d)/kernelcast-cuda
  "${CXX:-g++}" -std=c++20 -O2 -I"$root/include" -I"$root/src" "$root/src/probe/bin/cuda_main.cpp" "$root/src/probe/cuda/driver.cpp" \
    "$root/src/probe/cuda/kernel_times.cpp" \
    "$root/src/probe/cuda/plan.cpp" "$root/src/probe/cuda/record.cpp" -ldl -o "$runner" || exit 1
fi

{
  date -u
  uname -a
  nvidia-smi 2>&1
  nvidia-smi -q -d CLOCK,POWER 2>&1
} >"$out/machine.txt"

# Durations of launches are CUPTI's where the machine has it; the probe's are not, because it slows the host.
cupti=${KERNELCAST_CUPTI_LIBRARY:-$(find /usr/local/cuda*/ /opt /usr/lib -name 'libcupti.so.1[0-9]' 2>/dev/null | head -n 1)}
unset KERNELCAST_CUPTI_LIBRARY
status=0
for file in "$folder"/*.plan; do
  [ -f "$file" ] || continue
  plan=$(basename "$file" .plan)
  echo "$plan: $(date -u +%H:%M:%S)"
  [ "$plan" = probe ] || [ -z "$cupti" ] || export KERNELCAST_CUPTI_LIBRARY="$cupti"
  timeout "${KERNELCAST_PLAN_SECONDS:-280}" "$runner" "$file" "$out/$plan.record" ${library:+"$library"} || status=1
  unset KERNELCAST_CUPTI_LIBRARY
done
if [ -f "$folder/sweep.ptx" ]; then
  echo "converge: $(date -u +%H:%M:%S)"
  sweep=$folder/converge_sweep_cuda
  "$sweep" >/dev/null 2>&1
  if [ $? -ne 2 ]; then
    sweep=$(mktemp -d)/converge_sweep_cuda
    "${CXX:-g++}" -std=c++20 -O2 -I"$root/libconverge/include" "$root/libconverge/bench/sweep_cuda.cpp" -ldl -o "$sweep" || exit 1
  fi
  KERNELCAST_CUDA_LIBRARY=${library:-libcuda.so.1} timeout 280 "$sweep" "$folder/sweep.ptx" >"$out/converge.csv" 2>"$out/converge.txt"
  case $? in
    0 | 77) cat "$out/converge.txt" ;;
    *) cat "$out/converge.txt"; status=1 ;;
  esac
fi
echo "done: $(date -u +%H:%M:%S); evaluate by tools/gpu/gpu_results.py DEVICE $out"
exit $status
