// Settings in messages: what a caller can change, named so that each front door spells it its own way ("--block" on the
// command line, "block" in a library's exception). Nothing below the command line knows how a flag is written.
#pragma once

#include <string>
#include <string_view>

/// SETTING(max_seconds) inside a message: the name between two control characters, joined to the literals beside it.
#define KC_SETTING(name) "\1" #name "\2"

namespace kernelcast {

inline constexpr char setting_begin = '\1', setting_end = '\2';

/// Calls `spell` with the name of each setting in `text` ("max_seconds") and puts what it returns in the name's place.
template <class Spell>
std::string spelled(std::string_view text, const Spell& spell) {
  std::string out;
  for (;;) {
    const std::size_t begin = text.find(setting_begin);
    if (begin == std::string_view::npos) return out.append(text);
    const std::size_t end = text.find_first_not_of("abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ_0123456789", begin + 1);
    const bool named = end != std::string_view::npos && text[end] == setting_end && end > begin + 1;  // else a byte like any other
    out.append(text.substr(0, named ? begin : begin + 1));
    if (named) out.append(spell(text.substr(begin + 1, end - begin - 1)));
    text.remove_prefix(named ? end + 1 : begin + 1);
  }
}

/// The message as a user of the library reads it: each setting by its name.
inline std::string plain_text(std::string_view text) {
  return spelled(text, [](std::string_view name) { return std::string(name); });
}

}  // namespace kernelcast
