// First contents of buffers: what --buffer NAME=COUNT:FILL names.
#pragma once

#include <cstdint>
#include <memory>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "execute/buffer_roles.h"
#include "kernelcast/program.h"

namespace kernelcast::interpreter {

/// What a buffer holds, as far as filling goes.
struct ElementType {
  enum class Sign : std::uint8_t { unknown, signed_, unsigned_ };
  ValueType scalar = ValueType::i32;
  Sign sign = Sign::unknown;  // of integers
  bool known = false;         // false: taken from the size alone
};

/// The buffer that a fill is for.
struct FillTarget {
  std::string buffer;         // name, for messages
  std::int64_t elements = 0;  // COUNT; 0: not given
  int element_bytes = 4;      // of one of them: several scalars in a vector
  ElementType type;
  std::int64_t index_range = 0;  // integers without a range of their own are drawn from 0 .. index_range - 1
  std::uint64_t seed = 1;
  bool packed = false;               // elements are taken apart: all of their bits count
  bool searched = false;             // by halves
  BoundRole role = BoundRole::none;  // what loops take the elements for
  double bound_trips = 1;            // loops: how often they shall run on average
  std::int64_t bound_count = 1;      // offsets: how many there are likely to be
  std::int64_t bound_range = 0;      // offsets: what they must stay below; 0: anything
};

/// First contents, as a pure function of the place.
class Fill {
 public:
  virtual ~Fill() = default;
  /// Writes bytes [first, first + out.size()) of the buffer to `out`, which is zero. `first` is a multiple of 16.
  virtual void write(std::int64_t first, std::span<unsigned char> out) const = 0;
  /// True: nothing was ever written there; reading it is a mistake.
  [[nodiscard]] virtual bool uninitialised() const { return false; }
};

/// The names, as --buffer takes them.
std::span<const std::string_view> fill_names();

/// How many bytes "bytes:HEX" gives, as its digits say, and "bytes:HEX*K", whose digits are those of K (without it: of
/// one) of so many elements; nothing for other fills.
std::optional<std::int64_t> bytes_given(std::string_view fill, std::int64_t elements = 1);

/// Reads FILL; empty stands for default_fill(). Throws UserError for an unknown name (with the nearest one), bad
/// arguments, a fill that the element type cannot hold, and files that are missing or do not fit.
std::unique_ptr<const Fill> make_fill(std::string_view text, const FillTarget& target);

/// What a buffer gets when no fill is named: "uniform(0,1)" for floating point, "uniform(0,R)" with the index range R
/// for integers, their whole range for those that are taken apart, what makes loops run bound_trips times on average
/// for integers that bound loops, and the same ranges sorted where the buffer has a size and is searched by halves.
std::string default_fill(const FillTarget& target);

}  // namespace kernelcast::interpreter
