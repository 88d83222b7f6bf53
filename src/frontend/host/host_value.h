// Values and memory of the host program under evaluation.
#pragma once

#include <cctype>
#include <cstdint>
#include <map>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "kernelcast/host.h"

namespace clang {
class CXXRecordDecl;
class FunctionDecl;
}  // namespace clang

namespace kernelcast::frontend::host {

struct Memory;
struct OpenFile;
struct RandomState;
using MemoryRef = std::shared_ptr<Memory>;

/// A place in memory: an element of an array, a field of a structure (the key is its declaration), key 0 of a variable.
struct Place {
  MemoryRef memory;  // null: no place is known
  std::int64_t key = 0;
};

struct Value;

/// The first elements that a loop wrote before it was left because it is too long, and what the others are likely to
/// be.
struct Sample {
  enum class Kind : std::uint8_t {
    repeated,  // these again and again
    uniform,   // independent, between `low` and `high`
    normal,    // independent
    row,       // first + k step, whole numbers rounded down
    offsets,   // ascending whole numbers, `step` apart in the mean
  } kind = Kind::repeated;
  std::vector<Value> values;
  int line = 0;           // of the loop
  std::int64_t loop = 0;  // one evaluation of it
  bool whole = false;     // all of them are whole numbers
  double low = 0, high = 0, mean = 0, deviation = 0, first = 0, step = 0;

  /// As --buffer takes it, from the element `key` on; empty: repeated.
  [[nodiscard]] std::string fill(std::int64_t key) const;
};

__extension__ typedef unsigned __int128 Wide;
__extension__ typedef __int128 SignedWide;

struct Value {
  /// wide: a whole number of 128 bits that 64 do not hold, in `high` and `integer`.
  enum class Kind : std::uint8_t { unknown, integer, wide, real, pointer, object, function } kind = Kind::unknown;
  std::int64_t integer = 0;
  std::uint64_t high = 0;
  double real = 0;
  Place place;  // pointer: where to, memory null for a null pointer; object: its memory
  const clang::FunctionDecl* function = nullptr;  // function
  HostUnknown unknown;
  std::shared_ptr<const Sample> like;  // unknown: numbers that these stand for
  bool never_written = false;          // unknown: memory as it was declared or allocated, which nobody wrote since

  static Value of(std::int64_t number);
  static Value of_wide(Wide number, bool is_signed);
  static Value of_real(double number);
  static Value pointer_to(Place place);
  static Value object_of(MemoryRef memory);
  static Value not_known(std::string why, int line);

  [[nodiscard]] bool known() const { return kind != Kind::unknown; }
  [[nodiscard]] bool is_integer() const { return kind == Kind::integer; }
  [[nodiscard]] bool is_number() const { return kind == Kind::integer || kind == Kind::real; }
  [[nodiscard]] double number() const { return kind == Kind::real ? real : static_cast<double>(integer); }
  [[nodiscard]] bool is_whole() const { return kind == Kind::integer || kind == Kind::wide; }
  /// Of a whole number, as one of 128 bits.
  [[nodiscard]] Wide wide() const;
  /// As a condition; nothing: not known.
  [[nodiscard]] std::optional<bool> truth() const;
};

/// A variable, an array, a structure, or what was allocated. Elements that were never written have the value `rest`.
struct Memory {
  std::map<std::int64_t, Value> slots;
  Value rest;
  std::optional<Value> bytes;       // of an allocation or array; an unknown value says why its size is not known
  std::optional<std::string> text;  // of a string that cannot change
  std::optional<HostTensorMap> tensor_map;        // of a CUtensorMap that has been encoded
  std::shared_ptr<OpenFile> file;                 // of a FILE or a stream whose contents are known
  std::shared_ptr<RandomState> random;            // of an engine or a distribution of <random>
  const clang::CXXRecordDecl* made_as = nullptr;  // of an object with virtual functions
  bool for_device = false;                        // allocated by the runtime: kernels may reach it through pointers
  bool in_host_memory = false;                    // pinned: kernels reach it over the link
  bool used_elsewhere = false;                    // by a library, or by copies on the device: not by kernels alone
  std::int64_t element_bytes = 0;                 // what a slot stands for, where the device may read it; 0: not known
};

inline bool is_blank(char c) { return std::isspace(static_cast<unsigned char>(c)) != 0; }

/// The contents of a file or of a string stream, and where it is read next.
struct OpenFile {
  std::string text;
  std::size_t at = 0;
  bool ended = false;   // a read came to the end
  bool failed = false;  // the last read found nothing that it could take
  void skip_blanks() {
    while (at < text.size() && is_blank(text[at])) ++at;
  }
};

/// Of the object that a place holds; null: it holds none, or it is not known which.
MemoryRef object_at(const Place& place);

/// Elements from `at` on make room for those added.
void insert_elements(Memory& memory, std::int64_t at, const std::vector<Value>& added);

/// A pointer to a text of its own.
Value text_pointer(std::string text);

/// Structures are copied as values; everything else is passed on.
Value copied(const Value& value);

/// The same where it was made just now: what is not known in it was never written.
Value fresh(Value value);

}  // namespace kernelcast::frontend::host
