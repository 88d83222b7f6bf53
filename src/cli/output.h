// Where results and messages go.
#pragma once

#include <atomic>
#include <string>
#include <string_view>

namespace kernelcast::cli {

/// Writes to standard output, with control characters and invalid UTF-8 as escapes (io/printable.h). A reader that has
/// gone is no error; a full disk is a UserError.
void write_stdout(std::string_view text);
/// To the file if `path` is not empty (it appears complete or not at all), to standard output otherwise.
void write_result(const std::string& path, std::string_view text);
/// A file that is no text, as it is; never half written.
void write_bytes(const std::string& path, std::string_view bytes);
/// A page, as it is; never half written. A terminal gets it with escapes.
void write_page(const std::string& path, const std::string& page);
/// write_result() of source code or a patch, whose bytes stay as they are unless a terminal would show them.
void write_source(const std::string& path, std::string_view text);
/// A line on standard error, after clearing a progress line.
void message(std::string_view text);
/// Shows `text` in place of the last progress line; empty: clears it.
void progress_line(std::string_view text);
/// Interrupts (SIGINT, SIGTERM) exit with 130; a closed pipe is an error code, not a signal.
void install_signal_handlers();
/// From now on the first interrupt only sets the flag that is returned, and ends the program after three seconds of
/// processor time for each of `threads`, thirty on the clock at most; the second exits.
const std::atomic<bool>& defer_interrupts(int threads);

}  // namespace kernelcast::cli
