// What can be learnt about a source by looking at its characters only: no preprocessing, no parsing.
#pragma once

#include <cstddef>
#include <string>
#include <string_view>
#include <vector>

#include "frontend/source/compile.h"

namespace kernelcast::frontend {

/// Launches in device functions, "f<<<grid, block>>>(a)", as "__kc_launch_child(__kc_child(grid, block), a)"
/// (headers/kernelcast/child.h), each on its lines. Launches in host code stay.
std::string child_launches_as_calls(std::string_view text);

/// The text with comments, strings and character constants as blanks, each line where it was.
std::string without_comments(std::string text);

/// The offset behind a comment, string or character constant that starts at `at`; `at` itself if none does.
std::size_t skip_opaque(std::string_view text, std::size_t at);

/// A letter, digit or underscore.
bool is_word(char c);

/// Where a text launches kernels: `<<<`, or a call whose name starts with cudaLaunch or hipLaunch.
struct Launches {
  std::vector<std::size_t>
      open_braces;  // that enclose a launch, ascending: a function whose body opens there instantiates kernel templates
  bool outside_braces = false;  // in a macro: any function may be the one that launches
};

/// Comments, strings and character constants are passed over.
Launches find_launches(std::string_view text);

/// The extent [begin, end) of the declaration at file or namespace level that holds `offset`: from behind the previous
/// `;` or `}` to the next.
std::string_view declaration_around(std::string_view text, std::size_t offset);

/// Offset of the first `{` at or after `from` that is not in a comment, string or character constant; npos if a `;`
/// comes first at nesting depth 0.
std::size_t body_start(std::string_view text, std::size_t from);

/// `#pragma omp` and `#pragma acc` become `#pragma kernelcast_omp` and `#pragma kernelcast_acc`, so that clang's own
/// handlers leave them to ours; the number of lines stays.
std::string rename_loop_pragmas(std::string_view text);

/// True for what is no source text: bytes that text does not have (NUL and most control characters) among the first 64
/// KiB.
bool looks_binary(std::string_view text);

}  // namespace kernelcast::frontend
