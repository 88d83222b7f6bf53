#include "frontend/source/unit_memory.h"

#include <algorithm>
#include <filesystem>
#include <list>
#include <mutex>

#include "frontend/source/kernels.h"
#include "llvm/Bitcode/BitcodeReader.h"
#include "llvm/Bitcode/BitcodeWriter.h"
#include "llvm/IR/LLVMContext.h"
#include "llvm/IR/Module.h"
#include "llvm/Support/MemoryBuffer.h"
#include "llvm/Support/raw_ostream.h"

namespace kernelcast::frontend {
namespace {

constexpr std::size_t most_runs = 4, most_bytes = std::size_t{256} << 20;

struct FileState {
  std::filesystem::file_time_type changed;
  std::uintmax_t bytes = 0;
  friend bool operator==(const FileState&, const FileState&) = default;
};

std::optional<FileState> state_of(const std::string& path) {
  std::error_code trouble;
  FileState s;
  s.changed = std::filesystem::last_write_time(path, trouble);
  if (!trouble) s.bytes = std::filesystem::file_size(path, trouble);
  return trouble ? std::nullopt : std::optional(s);
}

struct Kept {
  std::string key, module;
  ClangJob job;  // without its text and headers
  ClangFindings findings;
  std::vector<std::string> folders;  // in which missing headers were looked for
  std::vector<KernelEntry> kernels;
  std::vector<FileState> headers;

  [[nodiscard]] bool is_current() const {
    for (std::size_t k = 0; k < headers.size(); ++k)
      if (state_of(findings.headers[k]) != headers[k]) return false;
    return std::ranges::none_of(findings.missing_headers, [&](const std::string& name) {
      return std::ranges::any_of(folders, [&](const std::string& f) {
        std::error_code ignored;
        return std::filesystem::exists(std::filesystem::path(f) / name, ignored);
      });
    });
  }
};

class Memory {
 public:
  std::optional<KnownRun> recall(const std::string& key, const std::string& wanted) {
    const std::lock_guard lock(mutex_);
    const auto it = std::ranges::find(kept_, key, &Kept::key);
    if (it == kept_.end()) return std::nullopt;
    if (!it->is_current()) {
      kept_.erase(it);
      return std::nullopt;
    }
    if (!wanted.empty() && std::ranges::none_of(it->kernels, [&](const auto& k) { return means_kernel(k, wanted); }))
      return std::nullopt;
    kept_.splice(kept_.begin(), kept_, it);
    const Kept& known = kept_.front();
    KnownRun run;
    run.job = known.job;
    static_cast<ClangFindings&>(run.result) = known.findings;
    auto module = llvm::parseBitcodeFile(llvm::MemoryBufferRef(known.module, run.job.main_file), *run.result.context);
    if (!module) {
      llvm::consumeError(module.takeError());
      return std::nullopt;
    }
    run.result.module = std::move(*module);
    return run;
  }

  void keep(Kept one) {
    const std::lock_guard lock(mutex_);
    std::erase_if(kept_, [&](const Kept& k) { return k.key == one.key; });
    kept_.push_front(std::move(one));
    std::size_t bytes = 0, runs = 0;
    for (auto it = kept_.begin(); it != kept_.end(); ++it) {
      bytes += it->module.size() + it->key.size();
      if (++runs <= most_runs && bytes <= most_bytes) continue;
      kept_.erase(it, kept_.end());
      return;
    }
  }

 private:
  std::mutex mutex_;
  std::list<Kept> kept_;  // the one that was asked for last comes first
};

Memory& memory() {
  static auto* const one = new Memory;  // threads that were left behind may still use it at exit
  return *one;
}

}  // namespace

std::string run_key(const Source& source, Language language, const std::string& target) {
  std::string key;
  const auto add = [&key](std::string_view part) {
    key += std::to_string(part.size()) + ':';
    key += part;
  };
  const auto add_all = [&](const std::vector<std::string>& list) {
    add(std::to_string(list.size()));
    for (const std::string& part : list) add(part);
  };
  add(target);
  add(std::to_string(static_cast<int>(language)));
  add(source.path);
  add(source.text);
  add_all(source.defines);
  add_all(source.undefines);
  add_all(source.include_dirs);
  add_all(source.readable_dirs);
  add(std::to_string(source.headers.size()));
  for (const FileText& header : source.headers) {
    add(header.path);
    add(header.text);
  }
  add(source.standard);
  add(source.fast_math ? "fast" : "");
  add(source.capability);
  std::error_code ignored;
  add(std::filesystem::current_path(ignored).string());  // relative paths begin there
  return key;
}

std::optional<KnownRun> recall_run(const std::string& key, const std::string& wanted) {
  return memory().recall(key, wanted);
}

void keep_run(const std::string& key, const ClangJob& job, const ClangResult& result) {
  if (result.module == nullptr || !result.wanted_symbol.empty()) return;
  Kept one;
  one.kernels = list_kernels(*result.module, job.language);
  if (one.kernels.size() < 2) return;
  for (const std::string& header : result.headers) {
    const auto state = state_of(header);
    if (!state) return;
    one.headers.push_back(*state);
  }
  one.key = key;
  one.job = job;
  one.job.text.clear();
  one.job.headers.clear();
  one.findings = result;
  one.folders.push_back(std::filesystem::path(job.main_file).parent_path().string());
  for (std::size_t k = 0; k + 1 < job.arguments.size(); ++k)
    if (job.arguments[k] == "-I") one.folders.push_back(job.arguments[k + 1]);
  llvm::raw_string_ostream stream(one.module);
  llvm::WriteBitcodeToFile(*result.module, stream, /*ShouldPreserveUseListOrder=*/true);
  stream.flush();
  memory().keep(std::move(one));
}

}  // namespace kernelcast::frontend
