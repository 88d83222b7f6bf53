#!/bin/sh
# The one list of Debian and Ubuntu packages. Prints them; with --install installs those that are missing, which needs
# root or sudo. `--install sanitizers` adds clang's sanitizers and libFuzzer (presets fuzz and tsan).
set -eu

build="g++ cmake ninja-build ccache git ca-certificates
  llvm-19-dev libclang-19-dev clang-19 lld-19 libclang-cpp19-dev libclc-19 libzstd-dev zlib1g-dev libxml2-dev libffi-dev
  libtomlplusplus-dev nlohmann-json3-dev libcli11-dev libfmt-dev libtbb-dev libnlopt-dev opencl-headers libjs-chart.js python3-dev pybind11-dev"
test="libgtest-dev libgmock-dev libbenchmark-dev librapidcheck-dev python3 python3-jsonschema clang-format-19 clang-tidy-19
  ocl-icd-opencl-dev pocl-opencl-icd libhwy-dev dpkg-dev"
sanitizers=libclang-rt-19-dev
optional=chromium  # of the tests that look at the page of `report`; not a package of every distribution

if [ "${1:-}" != --install ]; then
  echo $build $test
  exit
fi

missing=
[ "${2:-}" = sanitizers ] || sanitizers=
for package in $build $test $sanitizers; do
  dpkg-query -W -f '${Status}' "$package" 2>/dev/null | grep -q 'ok installed' || missing="$missing $package"
done
for package in $optional; do
  if ! dpkg-query -W -f '${Status}' "$package" 2>/dev/null | grep -q 'ok installed' &&
    apt-cache policy "$package" 2>/dev/null | grep -q 'Candidate: [0-9]'; then
    missing="$missing $package"
  fi
done
if [ -z "$missing" ]; then
  exit
fi
sudo=
if [ "$(id -u)" -ne 0 ]; then
  sudo=sudo
  command -v sudo >/dev/null || { echo "scripts/packages.sh: run as root or install sudo; missing:$missing" >&2; exit 1; }
fi
echo "Installing$missing"
log=$(mktemp)
if ! { $sudo apt-get -q update && DEBIAN_FRONTEND=noninteractive $sudo apt-get -q install -y --no-install-recommends $missing; } >"$log" 2>&1; then
  cat "$log" >&2
  echo "scripts/packages.sh: the installation failed; this needs Debian 12 or Ubuntu 24.04 or later" >&2
  rm -f "$log"
  exit 1
fi
rm -f "$log"
