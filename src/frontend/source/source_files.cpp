// Clang compares the size that a file is said to have with the size of what it reads, so the status of a header that is
// read in another spelling is that of the respelled text.
#include "frontend/source/source_files.h"

#include <filesystem>
#include <map>
#include <memory>
#include <optional>

#include "frontend/source/compile_headers.h"
#include "frontend/source/compile_language.h"
#include "io/within.h"
#include "llvm/Support/MemoryBuffer.h"

namespace kernelcast::frontend {

namespace {

using llvm::vfs::File;
using llvm::vfs::Status;

class TextFile : public File {
 public:
  TextFile(Status status, std::shared_ptr<const std::string> text)
      : status_(std::move(status)), text_(std::move(text)) {}
  llvm::ErrorOr<Status> status() override { return status_; }
  llvm::ErrorOr<std::unique_ptr<llvm::MemoryBuffer>> getBuffer(const llvm::Twine& name, std::int64_t /*size*/,
                                                               bool /*terminated*/, bool /*is_volatile*/) override {
    return llvm::MemoryBuffer::getMemBufferCopy(*text_, name);
  }
  std::error_code close() override { return {}; }

 private:
  Status status_;
  std::shared_ptr<const std::string> text_;
};

/// Files and folders only: opening a pipe would wait for somebody who writes, and a device may have no end. What lies
/// outside of the folders of ClangJob::readable_dirs does not exist here.
class RegularFiles : public llvm::vfs::ProxyFileSystem {
 public:
  RegularFiles(llvm::IntrusiveRefCntPtr<llvm::vfs::FileSystem> all, const ClangJob& job)
      : ProxyFileSystem(std::move(all)), job_(job) {}

  llvm::ErrorOr<Status> status(const llvm::Twine& path) override {
    auto about = status_on_disk(path);
    if (!about) return about;
    const auto text = respelled(path.str(), *about);
    return text == nullptr ? about : Status::copyWithNewSize(*about, text->size());
  }
  llvm::ErrorOr<std::unique_ptr<File>> openFileForRead(const llvm::Twine& path) override {
    const auto about = status_on_disk(path);
    if (!about) return about.getError();
    if (!about->isRegularFile() && !about->isDirectory())
      return std::make_error_code(std::errc::not_supported);  // "Operation not supported"
    if (auto text = respelled(path.str(), *about)) {
      const std::size_t size = text->size();
      return std::make_unique<TextFile>(Status::copyWithNewSize(*about, size), std::move(text));
    }
    return ProxyFileSystem::openFileForRead(path);
  }

 private:
  llvm::ErrorOr<Status> status_on_disk(const llvm::Twine& path) {
    if (hidden(path)) return std::make_error_code(std::errc::no_such_file_or_directory);
    return ProxyFileSystem::status(path);
  }

  /// Null: the file is read as it is.
  std::shared_ptr<const std::string> respelled(const std::string& path, const Status& about) {
    if (job_.respell == nullptr || !about.isRegularFile()) return nullptr;
    const auto [found, is_new] = respelled_.try_emplace(path);
    if (!is_new || in_system_folder(path)) return found->second;
    auto file = ProxyFileSystem::openFileForRead(path);
    if (!file) return nullptr;
    const auto buffer = (*file)->getBuffer(path);
    if (!buffer) return nullptr;
    const std::string_view text = (*buffer)->getBuffer();
    std::string other = job_.respell(text);
    if (other != text) found->second = std::make_shared<const std::string>(std::move(other));
    return found->second;
  }

  [[nodiscard]] bool hidden(const llvm::Twine& path) const {
    const auto& folders = job_.readable_dirs;
    if (folders.empty() || path.str() == ".") return false;  // Clang takes it for granted that there is a "."
    std::error_code error;
    const std::filesystem::path real = std::filesystem::weakly_canonical(path.str(), error);
    return error || real.empty() ||
           (!lies_within(real, folders) && !in_system_folder(real.string()) && !in_system_folder(path.str()));
  }

  const ClangJob& job_;
  std::map<std::string, std::shared_ptr<const std::string>> respelled_;
};

}  // namespace

llvm::IntrusiveRefCntPtr<llvm::vfs::FileSystem> source_files(const ClangJob& job) {
  llvm::IntrusiveRefCntPtr<llvm::vfs::FileSystem> real =
      llvm::makeIntrusiveRefCnt<RegularFiles>(llvm::vfs::createPhysicalFileSystem(), job);
  auto memory = llvm::makeIntrusiveRefCnt<llvm::vfs::InMemoryFileSystem>();
  if (auto folder = real->getCurrentWorkingDirectory()) memory->setCurrentWorkingDirectory(*folder);
  for (const VirtualHeader& header : virtual_headers()) {
    memory->addFile(
        std::string(kVirtualHeaderFolder) + "/" + std::string(header.name), 0,
        llvm::MemoryBuffer::getMemBuffer(llvm::StringRef(header.text.data(), header.text.size()), header.name));
  }
  memory->addFile(job.main_file, 0, llvm::MemoryBuffer::getMemBuffer(job.text, job.main_file));
  auto both = llvm::makeIntrusiveRefCnt<llvm::vfs::OverlayFileSystem>(std::move(real));
  both->pushOverlay(memory);
  return both;
}

}  // namespace kernelcast::frontend
