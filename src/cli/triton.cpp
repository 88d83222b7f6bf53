#include "cli/triton.h"

#include <charconv>
#include <filesystem>

#include "io/text_file.h"
#include "kernelcast/error.h"

namespace kernelcast::cli {
namespace {

constexpr std::int64_t most_warps = 32;  // of a block, on every device

/// The number behind "key": in JSON that has the key once, on its outer level.
std::optional<std::int64_t> number_of(const std::string& json, const std::string& key) {
  const std::size_t at = json.find("\"" + key + "\"");
  if (at == std::string::npos) return std::nullopt;
  const std::size_t colon = json.find(':', at + key.size() + 2);
  if (colon == std::string::npos) return std::nullopt;
  const std::size_t begin = json.find_first_not_of(" \t\r\n", colon + 1);
  std::int64_t value = 0;
  if (begin == std::string::npos) return std::nullopt;
  const auto [end, status] = std::from_chars(json.data() + begin, json.data() + json.size(), value);
  return status == std::errc() ? std::optional(value) : std::nullopt;
}

}  // namespace

TritonMetadata triton_metadata_of(const std::string& json, const std::string& name) {
  const auto warps = number_of(json, "num_warps");
  if (!warps || *warps <= 0 || *warps > most_warps)
    throw UserError(name +
                    ": no \"num_warps\" from 1 to 32 in it; it should be Triton's metadata of the .ptx file beside it: "
                    "move it away, or give it as Triton wrote it");
  if (const auto blocks = number_of(json, "num_ctas"); blocks && *blocks > 1)
    throw LimitError(name + ": \"num_ctas\" is " + std::to_string(*blocks) +
                     ": clusters of several blocks are not modelled; compile the kernel with num_ctas=1");
  TritonMetadata result;
  constexpr std::int64_t lanes = 32;
  const auto warp = number_of(json, "warp_size");
  result.threads = *warps * (warp == 2 * lanes ? 2 * lanes : lanes);
  result.shared_bytes = number_of(json, "shared");
  return result;
}

TritonMetadata triton_metadata(const std::string& path) {
  const std::filesystem::path file(path);
  if (file.extension() != ".ptx" && file.extension() != ".llir") return {};
  std::filesystem::path beside = file;
  beside.replace_extension(".json");
  std::error_code ignored;
  if (!std::filesystem::is_regular_file(beside, ignored)) return {};
  return triton_metadata_of(read_text_file(beside.string()), beside.string());
}

}  // namespace kernelcast::cli
