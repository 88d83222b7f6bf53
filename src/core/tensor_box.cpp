// "A=64x128:2": a box of 64 by 128 elements of 2 bytes in the tensor map of parameter A.
#include <algorithm>
#include <charconv>
#include <string>

#include "kernelcast/error.h"
#include "kernelcast/setting.h"
#include "kernelcast/source.h"

namespace kernelcast {

TensorBox tensor_box(std::string_view text) {
  const auto refuse = [&] {
    throw UsageError(KC_SETTING(tensor_map) " " + std::string(text) +
                     ": expected NAME=DIM[xDIM...]:BYTES, such as A=64x128:2, with 1 to 5 sizes from 1 to 256");
  };
  const auto number = [&](std::string_view digits, int most) {
    int n = 0;
    const auto [end, error] = std::from_chars(digits.data(), digits.data() + digits.size(), n);
    if (error != std::errc{} || end != digits.data() + digits.size() || n < 1 || n > most) refuse();
    return n;
  };
  const std::size_t equals = text.find('=');
  if (equals == std::string_view::npos || equals == 0) refuse();
  const std::string_view box = text.substr(equals + 1);
  const std::size_t colon = box.find(':');
  if (colon == std::string_view::npos) refuse();
  std::int64_t bytes = number(box.substr(colon + 1), 16);
  std::int64_t row = 0;
  int rank = 0;
  for (std::size_t at = 0; at <= colon; ++rank) {
    const std::size_t end = std::min(box.find('x', at), colon);
    bytes *= number(box.substr(at, end - at), 256);
    if (rank == 0) row = bytes;
    if (rank == 5 || bytes > 1 << 20) refuse();
    at = end + 1;
  }
  return {std::string(text.substr(0, equals)), static_cast<int>(bytes), static_cast<int>(row)};
}

}  // namespace kernelcast
