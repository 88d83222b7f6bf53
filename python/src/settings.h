// What forecasts and sweeps of the extension module are made from.
#pragma once

#include <pybind11/pybind11.h>

#include <string>
#include <vector>

#include "kernelcast/source.h"

namespace kernelcast::python {

/// What stays the same from launch to launch.
struct Settings {
  std::string path, text, language, kernel, standard, device_folder, clock, power_limit;
  std::vector<std::string> devices, models, defines, include_dirs, tensor_maps;
  bool fast_math = false, execute = true;
  double compile_seconds = 120;
};

/// Throws UsageError for a language that there is not.
Source source_of(const Settings& settings);

/// The classes of sweep.cpp.
void bind_sweep(pybind11::module_& m);

}  // namespace kernelcast::python
