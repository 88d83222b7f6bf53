// Kinds of file: an entry (by the digest of source, defines and options) names the headers it was made from, each
// with a digest of its contents, and the profile; a profile (by the digest of the optimised module) is shared by all
// entries that lead to it; forecasts (kept_forecasts.h). Every file begins with a digest of what follows, so that
// damage is seen, and appears complete or not at all, so that several runs may share the folder.
#include "tune/analysis_memory.h"

#include <algorithm>
#include <filesystem>
#include <optional>

#include "io/text_file.h"
#include "kernelcast/error.h"
#include "profile/profile_bytes.h"
#include "tune/digest.h"

namespace kernelcast::tune {
namespace {

namespace fs = std::filesystem;

constexpr std::string_view head = "kernelcast analysis 1\n";
constexpr std::size_t digest_length = 32;
constexpr std::size_t most_profiles = 4096;  // kept in memory
constexpr std::uint64_t largest_file = std::uint64_t{1} << 30U;

std::string sealed(const std::string& payload) { return std::string(head) + digest_of(payload) + "\n" + payload; }

/// What was sealed; nothing when the file is absent, damaged or of another version.
std::optional<std::string> unsealed(const std::string& file) {
  std::error_code ignored;
  if (!fs::is_regular_file(file, ignored)) return std::nullopt;
  try {
    const std::string text = read_text_file(file, largest_file);
    const std::size_t start = head.size() + digest_length + 1;
    if (text.size() < start || !text.starts_with(head)) return std::nullopt;
    std::string payload = text.substr(start);
    if (text.substr(head.size(), digest_length) != digest_of(payload)) return std::nullopt;
    return payload;
  } catch (const Error&) {
    return std::nullopt;
  }
}

std::string path_in(const std::string& folder, const std::string& name) {
  return (fs::path(folder) / name.substr(0, 2) / name).string();
}

/// Lines of an entry: "header DIGEST PATH", then "profile DIGEST".
struct Entry {
  std::vector<std::pair<std::string, std::string>> headers;  // path, digest
  std::string profile;
};

std::string text_of(const Entry& e) {
  std::string text;
  for (const auto& [path, digest] : e.headers) text += "header " + digest + " " + path + "\n";
  return text + "profile " + e.profile;
}

std::optional<Entry> entry_in(const std::string& text) {
  Entry e;
  std::size_t at = 0;
  while (text.compare(at, 7, "header ") == 0) {
    const std::size_t end = text.find('\n', at);
    if (end == std::string::npos || end < at + 8 + digest_length) return std::nullopt;
    e.headers.emplace_back(text.substr(at + 8 + digest_length, end - at - 8 - digest_length),
                           text.substr(at + 7, digest_length));
    at = end + 1;
  }
  if (text.compare(at, 8, "profile ") != 0) return std::nullopt;
  e.profile = text.substr(at + 8);
  return e;
}

}  // namespace

std::string key_of(const Source& source, const FrontendOptions& options, const std::string& identity) {
  Digest digest;
  digest.add(identity);
  digest.add(source.path);
  digest.add(source.text);
  digest.add(source.defines);
  digest.add(source.undefines);
  digest.add(source.include_dirs);
  digest.add(source.readable_dirs);
  for (const FileText& header : source.headers) {
    digest.add(header.path);
    digest.add(header.text);
  }
  for (const TensorBox& box : source.tensor_maps) {
    digest.add(box.parameter);
    digest.add(std::to_string(box.bytes));
    digest.add(std::to_string(box.row_bytes));
  }
  digest.add(options.map);
  digest.add(source.standard);
  digest.add(options.kernel);
  digest.add(options.target);
  digest.add(options.capability);
  digest.add(fmt::format("{} {}", static_cast<int>(source.language), source.fast_math));
  for (const Dim3& size : {options.block, options.cluster}) digest.add(fmt::format("{} {} {}", size.x, size.y, size.z));
  return digest.str();
}

/// Names the variants that differ in values of defines only.
std::string family_of(const Source& source, const FrontendOptions& options, const std::string& identity) {
  Source names = source;
  names.defines = names_of(source.defines);
  return key_of(names, options, identity);
}

AnalysisMemory::AnalysisMemory(Analyzer analyze, std::string folder, std::string identity)
    : analyze_(std::move(analyze)),
      folder_(std::move(folder)),
      identity_(std::move(identity)),
      profiles_(std::make_shared<Profiles>(folder_)) {}

std::shared_ptr<const KernelProfile> AnalysisMemory::analyze(const Source& source, FrontendOptions options) {
  const std::string key = key_of(source, options, identity_);
  {
    const std::lock_guard lock(mutex_);
    if (const auto again = by_key_.find(key); again != by_key_.end()) return again->second;
  }
  if (auto profile = read(key)) return remember_key(key, profile);
  const std::string family = family_of(source, options, identity_);
  if (auto profile = alike(family, source, key)) return remember_key(key, profile);
  const auto answer = std::make_shared<std::shared_ptr<const KernelProfile>>();
  // The folder may hold what another front end made of the same module.
  options.known = [answer, profiles = profiles_, identity = identity_](const std::string& digest) {
    return *answer = profiles->find(digest_of(identity + digest));
  };
  ++compiled_;
  Analysis analysis = analyze_(source, options);
  if (!analysis.digest.empty()) analysis.digest = digest_of(identity_ + analysis.digest);
  for (const Diagnostic& d : analysis.diagnostics) {
    const std::lock_guard lock(mutex_);
    // Variants differ in column numbers and values; the first line names file and line.
    std::string text = d.text.substr(0, d.text.find('\n'));
    if (std::find(warnings_.begin(), warnings_.end(), text) == warnings_.end()) warnings_.push_back(std::move(text));
  }
  std::shared_ptr<const KernelProfile> profile = *answer;
  if (profile != nullptr) ++shared_;
  const std::string entry = keep(key, analysis);
  if (profile == nullptr) {
    profile = std::make_shared<const KernelProfile>(std::move(analysis.profile));
    profiles_->remember(analysis.digest, profile);
  }
  if (analysis.consulted) remember_alike(family, source, *analysis.consulted, {profile, entry});
  return remember_key(key, profile);
}

/// The analysis of a variant whose source is the same after preprocessing; it is kept as this one's, too.
std::shared_ptr<const KernelProfile> AnalysisMemory::alike(const std::string& family, const Source& source,
                                                           const std::string& key) {
  AlikeAnalysis found;
  {
    const std::lock_guard lock(mutex_);
    const auto variants = families_.find(family);
    const AlikeAnalysis* known = variants == families_.end() ? nullptr : variants->second.find(source.defines);
    if (known == nullptr) return nullptr;
    found = *known;
  }
  ++alike_;
  if (!folder_.empty()) write(key + ".entry", found.entry);
  return found.profile;
}

void AnalysisMemory::remember_alike(const std::string& family, const Source& source,
                                    const std::vector<std::string>& consulted, AlikeAnalysis analysis) {
  const std::lock_guard lock(mutex_);
  AlikeVariants& variants = families_[family];
  if (variants.size() >= most_profiles) variants = {};
  variants.add(source.defines, consulted, std::move(analysis));
}

std::shared_ptr<const KernelProfile> AnalysisMemory::remember_key(const std::string& key,
                                                                  std::shared_ptr<const KernelProfile> profile) {
  const std::lock_guard lock(mutex_);
  if (by_key_.size() >= most_profiles) by_key_.clear();
  by_key_.emplace(key, profile);
  return profile;
}

std::vector<std::string> AnalysisMemory::warnings() const {
  const std::lock_guard lock(mutex_);
  return warnings_;
}

std::string AnalysisMemory::trouble() const {
  const std::lock_guard lock(mutex_);
  return trouble_;
}

std::string AnalysisMemory::file_of(const std::string& name) const { return path_in(folder_, name); }

/// The digest of the profile that an entry leads to, if every file behind it is as it was.
std::optional<std::string> AnalysisMemory::valid_entry(const std::string& key) {
  if (folder_.empty()) return std::nullopt;
  const auto text = unsealed(file_of(key + ".entry"));
  auto entry = text ? entry_in(*text) : std::nullopt;
  if (!entry) return std::nullopt;
  for (const auto& [path, digest] : entry->headers) {
    if (digest_of_file(path) != digest) return std::nullopt;
  }
  return std::move(entry->profile);
}

std::shared_ptr<const KernelProfile> AnalysisMemory::read(const std::string& key) {
  const auto digest = valid_entry(key);
  if (!digest) return nullptr;
  std::shared_ptr<const KernelProfile> profile = profiles_->find(*digest);
  if (profile != nullptr) count_found(key);
  return profile;
}

Analysis AnalysisMemory::analyze_program(const Source& source, FrontendOptions options) {
  options.program = true;
  ++compiled_;
  return analyze_(source, options);
}

std::optional<std::string> AnalysisMemory::kept_profile(const Source& source, const FrontendOptions& options) {
  return valid_entry(key_of(source, options, identity_));
}

void AnalysisMemory::count_found(const std::string& key) {
  const std::lock_guard lock(mutex_);
  if (found_keys_.insert(key).second) ++found_;
}

void AnalysisMemory::note_found(const Source& source, const FrontendOptions& options) {
  count_found(key_of(source, options, identity_));
}

std::optional<std::string> AnalysisMemory::kept(const std::string& name) const {
  return folder_.empty() ? std::nullopt : unsealed(file_of(name));
}

void AnalysisMemory::keep(const std::string& name, const std::string& text) {
  if (!folder_.empty()) write(name, text);
}

std::shared_ptr<const KernelProfile> AnalysisMemory::Profiles::find(const std::string& digest) {
  if (digest.empty()) return nullptr;
  {
    const std::lock_guard lock(mutex_);
    const auto found = by_digest_.find(digest);
    if (found != by_digest_.end()) return found->second;
  }
  if (folder_.empty()) return nullptr;
  const auto bytes = unsealed(path_in(folder_, digest + ".profile"));
  if (!bytes) return nullptr;
  try {
    auto profile = std::make_shared<const KernelProfile>(profile_of(*bytes));
    remember(digest, profile);
    return profile;
  } catch (const Error&) {
    return nullptr;
  }
}

void AnalysisMemory::Profiles::remember(const std::string& digest,
                                        const std::shared_ptr<const KernelProfile>& profile) {
  if (digest.empty()) return;
  const std::lock_guard lock(mutex_);
  if (by_digest_.size() >= most_profiles) by_digest_.clear();
  by_digest_.emplace(digest, profile);
}

/// The text of the entry; empty where nothing is kept.
std::string AnalysisMemory::keep(const std::string& key, const Analysis& analysis) {
  if (folder_.empty()) return {};
  Entry entry;
  for (const std::string& path : analysis.headers) entry.headers.emplace_back(path, digest_of_file(path));
  const std::string bytes = bytes_of(analysis.profile);
  entry.profile = analysis.digest.empty() ? digest_of(bytes) : analysis.digest;
  write(entry.profile + ".profile", bytes);
  std::string text = text_of(entry);
  write(key + ".entry", text);
  return text;
}

void AnalysisMemory::write(const std::string& name, const std::string& payload) {
  const std::string file = file_of(name);
  try {
    std::error_code error;
    fs::create_directories(fs::path(file).parent_path(), error);
    if (error) throw UserError(fmt::format("{}: {}", fs::path(file).parent_path().string(), error.message()));
    write_text_file(file, sealed(payload));
  } catch (const Error& e) {
    const std::lock_guard lock(mutex_);
    if (trouble_.empty()) trouble_ = message_of(e);
  }
}

std::string AnalysisMemory::digest_of_file(const std::string& path) {
  {
    const std::lock_guard lock(mutex_);
    const auto found = file_digests_.find(path);
    if (found != file_digests_.end()) return found->second;
  }
  std::string digest = std::string(digest_length, '0');  // of a file that is gone
  try {
    digest = digest_of(read_text_file(path));
  } catch (const Error&) {
  }
  const std::lock_guard lock(mutex_);
  return file_digests_.emplace(path, digest).first->second;
}

void AnalysisMemory::trim(std::uintmax_t most_bytes) const {
  if (folder_.empty()) return;
  struct File {
    fs::file_time_type time;
    fs::path path;
    std::uintmax_t bytes;
  };
  std::vector<File> files;
  std::uintmax_t total = 0;
  std::error_code error;
  for (fs::recursive_directory_iterator it(folder_, error), end; !error && it != end; it.increment(error)) {
    std::error_code gone;
    if (!it->is_regular_file(gone)) continue;
    const std::string ending = it->path().extension().string();
    if (ending != ".entry" && ending != ".profile" && ending != ".forecasts") continue;  // not ours
    files.push_back({it->last_write_time(gone), it->path(), it->file_size(gone)});
    if (!gone) total += files.back().bytes;
  }
  if (total <= most_bytes) return;
  std::sort(files.begin(), files.end(), [](const File& a, const File& b) { return a.time < b.time; });
  for (const File& f : files) {
    if (total <= most_bytes / 5 * 4) break;
    std::error_code gone;
    fs::remove(f.path, gone);
    total -= std::min(total, f.bytes);
  }
}

}  // namespace kernelcast::tune
