#!/bin/sh
# fit.sh BUILD ROWS KERNELS SOURCES: makes the tables of validation/fit.md. BUILD has the target fit_model; ROWS and KERNELS are as
# `kernelcast validate` reads them, SOURCES the folder of the kernels' sources.
set -eu
build=${1:?usage: fit.sh BUILD ROWS KERNELS SOURCES}
cmake --build "$build" --target fit_model
"$build/bin/fit_model" collect "$2" "$3" "$4" "$build/facts.txt"
"$build/bin/fit_model" loo "$2" "$build/facts.txt"
