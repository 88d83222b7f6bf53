// Finding a device by what people call it, quickly: no index file that could be out of date.
//
// 1. "host", a path, or exactly an id: one file is read.
// 2. Otherwise the heads of all files (the keys before the first section) are read, a few milliseconds for 70 files,
// and
//    names are compared in two rounds: case and punctuation ignored, then makers' words ignored too. A round with one
//    device decides; one with several is ambiguous.
// Files that are broken do not get in the way of finding others; they are reported when they are asked for by id.
#include <algorithm>
#include <cctype>
#include <filesystem>
#include <map>
#include <mutex>
#include <set>

#include "device/name_key.h"
#include "device/raw_file.h"
#include "io/nearest.h"
#include "io/text_file.h"
#include "kernelcast/device.h"
#include "kernelcast/error.h"

namespace kernelcast {
namespace {

namespace fs = std::filesystem;

bool looks_like_path(std::string_view name) {
  return name.ends_with(".toml") || name.find('/') != std::string_view::npos;
}

std::string joined(const std::vector<std::string>& names) {
  std::string text;
  for (const std::string& n : names) text += (text.empty() ? "" : ", ") + n;
  return text;
}

std::vector<std::string> spellings(const DeviceHead& head) {
  std::vector<std::string> all = head.aliases;
  all.push_back(head.id);
  all.push_back(head.name);
  return all;
}

std::vector<std::string> ids_named(const std::vector<DeviceHead>& heads, std::string_view wanted, Spelling spelling) {
  std::vector<std::string> ids;
  std::string key = device_key(wanted, spelling);
  for (const DeviceHead& head : heads)
    for (const std::string& name : spellings(head))
      if (device_key(name, spelling) == key) {
        ids.push_back(head.id);
        break;
      }
  return ids;
}

/// Ids worth showing for a name that is none: those that contain it first, then the nearest.
std::vector<std::string> similar_ids(const std::vector<DeviceHead>& heads, std::string_view name) {
  std::vector<std::string> ids, keys;
  std::string wanted = device_key(name, Spelling::without_line);
  for (const DeviceHead& head : heads) {
    keys.push_back(device_key(head.id, Spelling::without_line));
    if (!wanted.empty() && keys.back().find(wanted) != std::string::npos) ids.push_back(head.id);
  }
  for (const std::string& near : nearest_names(wanted, keys, 5))
    for (std::size_t i = 0; i < heads.size(); ++i)
      if (keys[i] == near && std::ranges::find(ids, heads[i].id) == ids.end()) ids.push_back(heads[i].id);
  if (ids.size() > 5) ids.resize(5);
  return ids;
}

}  // namespace

struct DeviceCatalog::Found {
  std::mutex lock;
  std::map<std::string, Device, std::less<>> by_name;
};

DeviceCatalog::DeviceCatalog(std::string folder) : folder_(std::move(folder)), found_(std::make_shared<Found>()) {
  if (folder_.empty()) folder_ = default_device_folder();
  std::error_code ignored;
  if (folder_.empty()) throw UsageError("no folder of device files was found; name one in KERNELCAST_DEVICES");
  if (!fs::is_directory(folder_, ignored)) throw UsageError("there is no folder of device files " + folder_);
}

std::vector<std::string> DeviceCatalog::ids() const {
  std::vector<std::string> found;
  std::error_code trouble;
  for (const auto& entry : fs::directory_iterator(folder_, trouble)) {
    const fs::path& file = entry.path();
    std::error_code ignored;
    if (file.extension() == ".toml" && file.stem() != "sources" && fs::is_regular_file(file, ignored))
      found.push_back(file.stem().string());
  }
  if (trouble) throw UserError("cannot read the folder of device files " + folder_ + ": " + trouble.message());
  std::sort(found.begin(), found.end());
  return found;
}

std::vector<DeviceHead> DeviceCatalog::heads() const {
  std::vector<DeviceHead> list;
  for (const std::string& id : ids()) {
    DeviceHead head;
    head.id = id;
    head.file = (fs::path(folder_) / (id + ".toml")).string();
    try {
      RawDevice raw = read_head(head.file, read_text_file(head.file));
      head.name = raw.name.text;
      head.kind = raw.kind.text;
      head.aliases = raw.aliases;
    } catch (const UserError& e) {
      head.trouble = message_of(e);
    }
    list.push_back(std::move(head));
  }
  return list;
}

Device DeviceCatalog::find(std::string_view name) const {
  Device device = as_filed(name);
  kernelcast::run_at(point_, device);
  return device;
}

Device DeviceCatalog::as_filed(std::string_view name) const {
  {
    const std::scoped_lock locked(found_->lock);
    if (const auto known = found_->by_name.find(name); known != found_->by_name.end()) return known->second;
  }
  Device device = read(name);
  const std::scoped_lock locked(found_->lock);
  return found_->by_name.emplace(name, std::move(device)).first->second;
}

Device DeviceCatalog::read(std::string_view name) const {
  if (device_key(name) == "host") return host_device();
  if (looks_like_path(name)) {
    std::error_code ignored;
    if (!fs::exists(fs::path(name), ignored)) throw UsageError("there is no device file " + std::string(name));
    return load_device(std::string(name));
  }
  if (device_key(name).empty()) throw UsageError("the name of the device is empty; `kernelcast devices` lists them");
  std::string file = (fs::path(folder_) / (std::string(name) + ".toml")).string();
  std::error_code ignored;
  if (name != "sources" && fs::is_regular_file(file, ignored)) return load_device(file);

  std::vector<DeviceHead> all = heads();
  if (all.empty())
    throw UsageError("unknown device \"" + std::string(name) + "\": there is no device file in the folder " + folder_);
  std::vector<std::string> ids;
  for (Spelling spelling : {Spelling::whole, Spelling::without_maker, Spelling::without_line})
    if (ids.empty()) ids = ids_named(all, name, spelling);
  // "RTX 480" is not a GTX 480, so the series is dropped only where the name has none.
  bool bare_number = std::isdigit(static_cast<unsigned char>(device_key(name).front())) != 0;
  if (ids.empty() && bare_number) ids = ids_named(all, name, Spelling::number);
  if (ids.size() == 1) return load_device((fs::path(folder_) / (ids.front() + ".toml")).string());
  if (ids.size() > 1)
    throw UsageError("device \"" + std::string(name) + "\" is ambiguous: " + joined(ids) + "; name one of these");
  std::vector<std::string> similar = similar_ids(all, name);
  throw UsageError("unknown device \"" + std::string(name) + "\"; " +
                   (similar.empty() ? "`kernelcast devices` lists those known" : "similar: " + joined(similar)));
}

}  // namespace kernelcast
