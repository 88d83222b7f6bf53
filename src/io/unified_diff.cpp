// One hunk is enough for a change in one place: what both texts begin and end with is left out.
#include "io/unified_diff.h"

#include <algorithm>
#include <vector>

namespace kernelcast {
namespace {

/// With their ends, so that a missing last newline shows.
std::vector<std::string> lines_of(const std::string& text) {
  std::vector<std::string> lines;
  for (std::size_t at = 0; at < text.size();) {
    const std::size_t end = std::min(text.find('\n', at), text.size() - 1);
    lines.push_back(text.substr(at, end - at + 1));
    at = end + 1;
  }
  return lines;
}

std::string marked(char mark, const std::string& line) {
  std::string text = mark + line;
  if (!line.ends_with('\n')) text += "\n\\ No newline at end of file\n";
  return text;
}

std::string range(std::size_t first, std::size_t count) {
  return std::to_string(count == 0 ? first : first + 1) + "," + std::to_string(count);
}

}  // namespace

std::string unified_diff(const std::string& before, const std::string& after, const std::string& path) {
  if (before == after) return "";
  const std::vector<std::string> a = lines_of(before), b = lines_of(after);
  std::size_t head = 0, tail = 0;
  while (head < a.size() && head < b.size() && a[head] == b[head]) ++head;
  while (tail < a.size() - head && tail < b.size() - head && a[a.size() - 1 - tail] == b[b.size() - 1 - tail]) ++tail;
  constexpr std::size_t around = 3;
  const std::size_t first = head - std::min(head, around), more = std::min(tail, around);
  std::string text = "--- " + path + "\n+++ " + path + "\n@@ -" + range(first, a.size() - tail + more - first) + " +" +
                     range(first, b.size() - tail + more - first) + " @@\n";
  for (std::size_t k = first; k < head; ++k) text += marked(' ', a[k]);
  for (std::size_t k = head; k < a.size() - tail; ++k) text += marked('-', a[k]);
  for (std::size_t k = head; k < b.size() - tail; ++k) text += marked('+', b[k]);
  for (std::size_t k = a.size() - tail; k < a.size() - tail + more; ++k) text += marked(' ', a[k]);
  return text;
}

}  // namespace kernelcast
