// Analyses that are made once: for variants whose defines do not change the optimised module, and between runs, in a
// folder of the cache.
#pragma once

#include <atomic>
#include <functional>
#include <map>
#include <memory>
#include <mutex>
#include <optional>
#include <set>
#include <string>

#include "kernelcast/frontend.h"
#include "tune/alike_variants.h"

namespace kernelcast::tune {

/// The front end; tests put a fake in its place. Called from several threads at once.
using Analyzer = std::function<Analysis(const Source&, const FrontendOptions&)>;

/// What a cache entry is found by: everything that is known before the compiler runs.
std::string key_of(const Source& source, const FrontendOptions& options, const std::string& identity);

/// Thread-safe.
class AnalysisMemory {
 public:
  /// `folder` is made when something is kept; empty: nothing is kept between runs. `identity` names the front end: what
  /// another one kept is not found. A folder that cannot be written is no error, see trouble().
  AnalysisMemory(Analyzer analyze, std::string folder, std::string identity);

  /// The profile, from the folder if source, defines, options and the contents of every included file are those of an
  /// earlier run; damaged entries are made again. Throws what the front end throws; failures
  /// are not kept.
  std::shared_ptr<const KernelProfile> analyze(const Source& source, FrontendOptions options);

  /// Profile and the interpreter's form of the kernel, made anew: programs are not kept.
  Analysis analyze_program(const Source& source, FrontendOptions options);

  /// The digest of the profile that the folder holds for these, without reading it; nothing where it holds none that is
  /// still right.
  std::optional<std::string> kept_profile(const Source& source, const FrontendOptions& options);
  /// Other texts in the same folder, sealed against damage: what was kept under a name that begins with a digest.
  [[nodiscard]] std::optional<std::string> kept(const std::string& name) const;
  void keep(const std::string& name, const std::string& text);
  [[nodiscard]] bool keeps() const { return !folder_.empty(); }
  /// Counts these as found, once: they were answered from the folder without the profile.
  void note_found(const Source& source, const FrontendOptions& options);

  [[nodiscard]] std::size_t compiled() const { return compiled_; }  // runs of the compiler
  [[nodiscard]] std::size_t shared() const { return shared_; }      // of these, modules that were known already
  [[nodiscard]] std::size_t alike() const { return alike_; }  // answered by a variant that is the same to the compiler
  [[nodiscard]] std::size_t found() const { return found_; }  // analyses that the folder answered
  [[nodiscard]] std::vector<std::string> warnings() const;    // of the compiler, each once
  [[nodiscard]] std::string trouble() const;                  // why nothing could be kept; empty: all is well

  /// Removes the oldest entries when the folder holds more than `most_bytes`, until a fifth of that is free.
  void trim(std::uintmax_t most_bytes) const;

 private:
  void count_found(const std::string& key);
  std::optional<std::string> valid_entry(const std::string& key);
  std::shared_ptr<const KernelProfile> read(const std::string& key);
  std::string keep(const std::string& key, const Analysis& analysis);
  std::shared_ptr<const KernelProfile> alike(const std::string& family, const Source& source, const std::string& key);
  void remember_alike(const std::string& family, const Source& source, const std::vector<std::string>& consulted,
                      AlikeAnalysis analysis);
  void write(const std::string& name, const std::string& payload);
  std::string digest_of_file(const std::string& path);
  std::shared_ptr<const KernelProfile> remember_key(const std::string& key,
                                                    std::shared_ptr<const KernelProfile> profile);
  [[nodiscard]] std::string file_of(const std::string& name) const;

  /// Profiles by the digest of their module. A compilation that a limit or an interrupt ended goes on for a while, and
  /// asks for them: they live as long as it does.
  class Profiles {
   public:
    explicit Profiles(std::string folder) : folder_(std::move(folder)) {}
    std::shared_ptr<const KernelProfile> find(const std::string& digest);
    void remember(const std::string& digest, const std::shared_ptr<const KernelProfile>& profile);

   private:
    std::string folder_;
    std::mutex mutex_;
    std::map<std::string, std::shared_ptr<const KernelProfile>> by_digest_;
  };

  Analyzer analyze_;
  std::string folder_, identity_;
  std::shared_ptr<Profiles> profiles_;
  std::atomic<std::size_t> compiled_ = 0, shared_ = 0, found_ = 0, alike_ = 0;
  mutable std::mutex mutex_;
  std::map<std::string, std::shared_ptr<const KernelProfile>> by_key_;  // of this run
  std::map<std::string, AlikeVariants> families_;                       // by digest of all but values of defines
  std::map<std::string, std::string> file_digests_;
  std::set<std::string> found_keys_;
  std::vector<std::string> warnings_;
  std::string trouble_;
};

}  // namespace kernelcast::tune
