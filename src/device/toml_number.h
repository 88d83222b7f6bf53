// A number of a TOML file.
#pragma once

#include "device/toml_library.h"

namespace kernelcast {

/// The value of a node that is a number, rounded where it is an integer that a double cannot hold. (The library's
/// value<double>() is empty then.)
inline double number_in(const toml::node& node) {
  if (const auto* integer = node.as_integer()) return static_cast<double>(integer->get());
  return node.as_floating_point()->get();
}

}  // namespace kernelcast
