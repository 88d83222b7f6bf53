// A device file and everything that it inherits become one Device.
//
// The chain is read from the device upwards, then applied from the oldest ancestor down, so a device's own number (or
// its own "unknown") wins. Architectures lie in arch/ beside the devices; a user's file anywhere may inherit one of the
// default folder's. Sources are looked up in the file itself, then in sources.toml of its folder, then in the default
// folder's.
#include <filesystem>
#include <memory>

#include "device/data_file.h"
#include "device/device_rules.h"
#include "device/field_table.h"
#include "device/raw_file.h"
#include "io/text_file.h"
#include "kernelcast/device.h"
#include "kernelcast/error.h"

namespace kernelcast {
namespace {

namespace fs = std::filesystem;

/// Folder of devices that a file belongs to: its own, or the one above if it is an architecture.
fs::path home_of(const std::string& file) {
  fs::path folder = fs::path(file).parent_path();
  return folder.filename() == "arch" ? folder.parent_path() : folder;
}

/// The sources.toml files that a chain of device files refers to, each read once.
class Sources {
 public:
  /// "KEY PLACE" as "citation, PLACE".
  std::string citation(const RawDevice& raw, const RawNumber& number) {
    std::size_t space = number.source.find(' ');
    std::string key = number.source.substr(0, space);
    std::string place = space == std::string::npos ? "" : ", " + number.source.substr(space + 1);
    std::vector<std::string> known;
    for (const SourceTable* table :
         {&raw.sources, &of_folder(home_of(raw.file)), &of_folder(default_device_folder())}) {
      if (auto found = table->find(key); found != table->end()) return found->second + place;
      for (const auto& [name, text] : *table) known.push_back(name);
    }
    fail(raw.file, number.line,
         "unknown source \"" + key + "\": not in " + (home_of(raw.file) / "sources.toml").string() +
             nearest_hint(key, known));
  }

 private:
  const SourceTable& of_folder(const fs::path& folder) {
    std::string file = (folder / "sources.toml").string();
    auto [entry, is_new] = tables_.try_emplace(file);
    std::error_code ignored;
    if (is_new && !folder.empty() && fs::exists(file, ignored))
      entry->second = read_sources(file, read_text_file(file));
    return entry->second;
  }

  std::map<std::string, SourceTable> tables_;
};

bool is_id(std::string_view text) {
  return !text.empty() && text.find_first_not_of("abcdefghijklmnopqrstuvwxyz0123456789-.") == std::string_view::npos &&
         text.front() != '.' && text.front() != '-';
}

std::string find_architecture(const RawDevice& raw) {
  if (!is_id(raw.inherits.text))
    fail(raw.file, raw.inherits.line, "inherits = \"" + raw.inherits.text + "\" must be the id of a file in arch/");
  std::vector<std::string> known;
  for (const fs::path& home : {home_of(raw.file), fs::path(default_device_folder())}) {
    if (home.empty() && fs::path(raw.file).has_parent_path()) continue;
    std::error_code ignored;
    fs::path file = home / "arch" / (raw.inherits.text + ".toml");
    if (fs::is_regular_file(file, ignored)) return file.string();
    for (const auto& entry : fs::directory_iterator(home / "arch", ignored))
      if (entry.path().extension() == ".toml") known.push_back(entry.path().stem().string());
  }
  fail(raw.file, raw.inherits.line,
       "inherits = \"" + raw.inherits.text + "\", but there is no arch/" + raw.inherits.text + ".toml" +
           nearest_hint(raw.inherits.text, known));
}

void check_id(const RawDevice& raw) {
  if (!raw.id.given())
    fail(raw.file, 1, "id is missing; the id of this file is \"" + fs::path(raw.file).stem().string() + "\"");
  if (raw.id.text != fs::path(raw.file).stem().string())
    fail(raw.file, raw.id.line, "id = \"" + raw.id.text + "\" is not the name of the file");
  if (!is_id(raw.id.text)) fail(raw.file, raw.id.line, "id = \"" + raw.id.text + "\" may hold only a-z, 0-9, - and .");
}

void check_device_head(const RawDevice& raw) {
  check_id(raw);
  if (!raw.name.given()) fail(raw.file, 1, "name is missing, such as name = \"NVIDIA GeForce GTX 280\"");
  if (!raw.kind.given()) fail(raw.file, 1, "kind is missing: \"gpu\" or \"cpu\"");
  if (raw.kind.text != "gpu" && raw.kind.text != "cpu")
    fail(raw.file, raw.kind.line, "kind = \"" + raw.kind.text + "\" must be \"gpu\" or \"cpu\"");
}

/// The device first, its oldest ancestor last.
std::vector<RawDevice> read_chain(const std::string& path) {
  std::vector<RawDevice> chain;
  chain.push_back(read_raw(path, read_text_file(path)));
  check_device_head(chain.front());
  while (chain.back().inherits.given()) {
    const RawDevice& child = chain.back();
    std::string parent = find_architecture(child);
    for (const RawDevice& seen : chain) {
      std::error_code ignored;
      if (fs::equivalent(seen.file, parent, ignored))
        fail(child.file, child.inherits.line, "inherits = \"" + child.inherits.text + "\" closes a circle");
    }
    RawDevice raw = read_raw(parent, read_text_file(parent));
    check_id(raw);
    if (raw.aliases_line > 0) fail(raw.file, raw.aliases_line, "aliases belong to a device, not to an architecture");
    chain.push_back(std::move(raw));
  }
  return chain;
}

}  // namespace

Device load_device(const std::string& path) {
  std::vector<RawDevice> chain = read_chain(path);
  Device device;
  device.file = path;
  std::array<int, field_count> lines{};
  Sources sources;
  for (auto raw = chain.rbegin(); raw != chain.rend(); ++raw) {
    auto inherit = [](std::string& to, const RawText& from) {
      if (from.given()) to = from.text;
    };
    inherit(device.id, raw->id);
    inherit(device.name, raw->name);
    inherit(device.kind, raw->kind);
    inherit(device.vendor, raw->vendor);
    inherit(device.architecture, raw->architecture);
    inherit(device.compute_capability, raw->compute_capability);
    inherit(device.codegen_target, raw->codegen_target);
    inherit(device.codegen_note, raw->codegen_note);
    device.notes.insert(device.notes.end(), raw->notes.begin(), raw->notes.end());
    for (const RawNumber& n : raw->numbers) {
      auto index = static_cast<std::size_t>(n.field);
      device.values[index] = {n.value, n.value ? sources.citation(*raw, n) : n.source, raw->file, n.unstable};
      lines[index] = n.line;
    }
  }
  device.aliases = chain.front().aliases;
  if (device.codegen_target.empty() && device.kind == "cpu") device.codegen_target = "host";
  if (device.codegen_target.empty())
    fail(path, 1, "codegen_target is missing here and in what it inherits, such as codegen_target = \"sm_80\"");
  if (std::optional<Contradiction> c = find_contradiction(device)) {
    // Point at the device's own number if one of the two is, otherwise at the first.
    auto place = [&](Field f) {
      return std::pair(device.values[static_cast<std::size_t>(f)].origin, lines[static_cast<std::size_t>(f)]);
    };
    auto [file, line] = place(place(c->first).first == path ? c->first : c->second);
    fail(file, line, c->what);
  }
  return device;
}

}  // namespace kernelcast
