// Spelling of device names. Words of makers and product lines are stripped from the ends of the joined name, so that
// "nvidia-geforce-rtx-3080", "GeForce RTX 3080" and "GeForceRTX3080" all become "rtx3080".
#include "device/name_key.h"

#include <array>

#include "io/nearest.h"

namespace kernelcast {
namespace {

constexpr std::array<std::string_view, 4> makers = {"nvidia", "amd", "ati", "intel"};
constexpr std::array<std::string_view, 12> lines = {"geforce",  "radeon",   "tesla",    "quadro",
                                                    "instinct", "core",     "graphics", "gpu",
                                                    "pro",      "mobility", "xeon",     "accelerator"};

constexpr std::array<std::string_view, 4> endings = {"gpu", "cpu", "processor", "graphics"};
constexpr std::array<std::string_view, 5> series = {"gtx", "rtx", "gt", "rx", "hd"};

/// Removes one leading word, unless it is all there is.
template <std::size_t n>
bool strip(std::string& key, const std::array<std::string_view, n>& words) {
  for (std::string_view word : words)
    if (key.size() > word.size() && key.starts_with(word)) {
      key.erase(0, word.size());
      return true;
    }
  return false;
}

}  // namespace

std::string device_key(std::string_view name, Spelling spelling) {
  std::string plain(name.substr(0, name.find('@')));
  for (std::string_view mark : {"(R)", "(r)", "(TM)", "(tm)"})
    for (std::size_t at; (at = plain.find(mark)) != std::string::npos;) plain.erase(at, mark.size());
  std::string key = name_key(plain);
  if (spelling == Spelling::whole) return key;
  bool lines_too = spelling != Spelling::without_maker;
  while (strip(key, makers) || (lines_too && strip(key, lines))) {
  }
  for (std::string_view word : endings)
    if (lines_too && key.size() > word.size() && key.ends_with(word)) key.erase(key.size() - word.size());
  if (spelling == Spelling::number) strip(key, series);
  return key;
}

}  // namespace kernelcast
