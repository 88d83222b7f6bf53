// Text of others (sources, names, tables) that is safe to show on a terminal.
#pragma once

#include <string>
#include <string_view>

namespace kernelcast {

/// The text with every byte that is no valid UTF-8, every control character but line feed and tab, and every character
/// that turns the direction of writing, as escapes of its bytes ("\x1b"). Escapes of ours for colour (bold, dim, red,
/// back to normal) stay where `colour` is on.
std::string printable(std::string_view text, bool colour = false);

/// JSON text (whose strings hold no characters below a blank) with the other such characters as "\u009b".
std::string printable_json(std::string_view text);

}  // namespace kernelcast
