// Columns of a finding: the front end gives lines, the text of the line gives the rest.
#pragma once

#include <string>

#include "advise/subject.h"
#include "kernelcast/advise.h"

namespace kernelcast::advice {

/// The first occurrence of `token` as a word of its own, with the subscripts behind it; else the line without its
/// margins.
CodePlace place_of(const Subject& subject, SourceLine line, const std::string& token);

/// Position of `word` as a word of its own in `text` from `from` on; npos: nowhere. Comments are not left out.
std::size_t find_word(const std::string& text, const std::string& word, std::size_t from = 0);

}  // namespace kernelcast::advice
