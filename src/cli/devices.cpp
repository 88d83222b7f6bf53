// kernelcast devices: the catalogue, or one device with the source of every number.
#include <memory>

#include "cli/catalog.h"
#include "cli/commands.h"
#include "cli/common_flags.h"
#include "cli/output.h"
#include "cli/run.h"
#include "kernelcast/error.h"
#include "report/views.h"

namespace kernelcast::cli {
namespace {

constexpr const char* devices_examples = R"(Examples:
  kernelcast devices
  kernelcast devices gtx280
  kernelcast devices host --format json

Exit status: 0 success, 1 a device file cannot be read, 2 usage.)";

struct DeviceFlags {
  std::string device, format = "text", output, devices_dir;
};

/// Every file that can be read, this machine, and a line for every file that cannot be read.
report::DeviceList load_all(const DeviceCatalog& catalog) {
  report::DeviceList list;
  for (const std::string& id : catalog.ids()) {
    try {
      list.devices.push_back(catalog.find(id));
    } catch (const UserError& e) {
      list.failures.emplace_back(message_of(e));
    }
  }
  list.devices.push_back(host_device());
  return list;
}

int devices(const DeviceFlags& flags, const Environment& environment) {
  const bool json = is_json(flags.format);
  const report::Style style(environment.colour && flags.output.empty());
  const DeviceCatalog catalog = catalog_of(flags.devices_dir, environment.devices_dir);
  if (!flags.device.empty()) {
    const Device device = catalog.find(flags.device);
    write_result(flags.output,
                 json ? report::device_json(environment.head, device) : report::device_text(device, style));
    return done;
  }
  report::DeviceList list = load_all(catalog);
  list.head = environment.head;
  write_result(flags.output, json ? report::devices_json(list) : report::devices_text(list, style));
  for (const std::string& text : list.failures) message("kernelcast: " + text);
  return list.failures.empty() ? done : could_not_analyse;
}

}  // namespace

Action add_devices(Parser& parser) {
  auto f = std::make_shared<DeviceFlags>();
  Flags flags =
      parser.command("devices", "List the devices, or show one with the source of every number", devices_examples);
  flags.positional("DEV", f->device,
                   "Device: id, alias or path of a device file; host: this machine (default: list all)");
  declare_result(flags, f->format, f->output);
  declare_devices_dir(flags, f->devices_dir);
  return [f](const Environment& environment) { return devices(*f, environment); };
}

}  // namespace kernelcast::cli
