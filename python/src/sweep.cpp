// A sweep's rows as columns of bytes in Arrow's layout, which pyarrow takes without a copy of each value.
#include "tune/sweep.h"

#include <pybind11/pybind11.h>
#include <pybind11/stl.h>

#include <memory>

#include "frontend/identity.h"
#include "kernelcast/device.h"
#include "kernelcast/error.h"
#include "kernelcast/frontend.h"
#include "kernelcast/setting.h"
#include "settings.h"
#include "tune/space_flags.h"

namespace py = pybind11;

namespace kernelcast::python {
namespace {

using tune::SweepRows;

/// Of numbers: their bytes.
template <class T>
py::bytes bytes_of(const std::vector<T>& numbers) {
  return {reinterpret_cast<const char*>(numbers.data()), numbers.size() * sizeof(T)};
}

/// Arrow's validity bitmap, least significant bit first: set where there is a reason, or where there is none.
std::string bitmap(const std::vector<std::int32_t>& reason, bool set_where_reason) {
  std::string bits((reason.size() + 7) / 8, '\0');
  for (std::size_t k = 0; k < reason.size(); ++k)
    if ((reason[k] >= 0) == set_where_reason) bits[k / 8] = static_cast<char>(bits[k / 8] | (1 << (k % 8)));
  return bits;
}

std::uint64_t none_of(const std::vector<std::int32_t>& reason) {
  std::uint64_t count = 0;
  for (const std::int32_t r : reason) count += r < 0 ? 1 : 0;
  return count;
}

class SweptKernel {
 public:
  SweptKernel(const Settings& s, const tune::SpaceFlags& flags, const std::map<std::string, ArgValue>& args,
              const std::map<std::string, std::pair<std::int64_t, std::string>>& buffers,
              const std::map<std::string, double>& assume, double risk) {
    tune::TuneOptions options;
    options.source = source_of(s);
    options.frontend.kernel = s.kernel;
    options.frontend.time_limit_s = s.compile_seconds;
    options.launch.args = args;
    options.launch.assume = assume;
    for (const auto& [name, buffer] : buffers) options.launch.buffers[name] = {buffer.first, buffer.second};
    const DeviceCatalog catalog(s.device_folder.empty() ? default_device_folder() : s.device_folder);
    for (const std::string& name : s.devices) options.devices.push_back(catalog.find(name));
    if (options.devices.empty()) throw UsageError("no device is given: give " KC_SETTING(device));
    for (const Device& d : options.devices) {
      if (d.kind == "cpu") throw UsageError(d.id + " is a CPU: a sweep is of launches on GPUs");
      devices_.push_back(d.id);
    }
    options.model = &model_named(s.models.empty() ? "kernelcast" : s.models.front());
    options.risk = risk;
    tune::SpaceFlags own = flags;
    own.arguments = args;
    sweep_ = std::make_unique<tune::Sweep>(
        tune::space_of(own, options.source.language == Language::c || options.source.language == Language::cxx),
        std::move(options), memory_);
  }

  [[nodiscard]] SweepRows rows(std::uint64_t begin, std::uint64_t end) const { return sweep_->rows(begin, end); }
  [[nodiscard]] std::uint64_t configurations() const { return sweep_->configurations(); }
  [[nodiscard]] auto parameters() const { return sweep_->parameters(); }
  [[nodiscard]] std::vector<std::string> devices() const { return devices_; }

 private:
  tune::AnalysisMemory memory_{analyze, "", std::string(frontend_identity())};
  std::vector<std::string> devices_;
  std::unique_ptr<tune::Sweep> sweep_;
};

}  // namespace

void bind_sweep(py::module_& m) {
  py::class_<tune::SpaceFlags>(m, "SpaceFlags")
      .def(py::init<>())
      .def_readwrite("block", &tune::SpaceFlags::block)
      .def_readwrite("grid", &tune::SpaceFlags::grid)
      .def_readwrite("global_size", &tune::SpaceFlags::global)
      .def_readwrite("problem", &tune::SpaceFlags::problem)
      .def_readwrite("tile", &tune::SpaceFlags::tile)
      .def_readwrite("shared", &tune::SpaceFlags::shared)
      .def_readwrite("parameters", &tune::SpaceFlags::parameters)
      .def_readwrite("constraints", &tune::SpaceFlags::constraints);

  py::class_<SweepRows>(m, "SweepRows")
      .def("__len__", [](const SweepRows& r) { return r.configuration.size(); })
      .def_property_readonly("configuration", [](const SweepRows& r) { return bytes_of(r.configuration); })
      .def_property_readonly("device", [](const SweepRows& r) { return bytes_of(r.device); })
      .def_property_readonly("sizes",
                             [](const SweepRows& r) {
                               py::list list;
                               for (const auto* sizes : {&r.grid_x, &r.grid_y, &r.grid_z, &r.block_x, &r.block_y,
                                                         &r.block_z, &r.shared_bytes})
                                 list.append(bytes_of(*sizes));
                               return list;
                             })
      .def_property_readonly("parameters",
                             [](const SweepRows& r) {
                               py::list list;
                               for (const auto& numbers : r.parameters) list.append(bytes_of(numbers));
                               return list;
                             })
      .def_property_readonly("time_s", [](const SweepRows& r) { return bytes_of(r.time_s); })
      .def_property_readonly("time_validity", [](const SweepRows& r) { return py::bytes(bitmap(r.reason, false)); })
      .def_property_readonly("reason", [](const SweepRows& r) { return bytes_of(r.reason); })
      .def_property_readonly("reason_validity", [](const SweepRows& r) { return py::bytes(bitmap(r.reason, true)); })
      .def_property_readonly("timed", [](const SweepRows& r) { return none_of(r.reason); })
      .def_property_readonly("reasons", [](const SweepRows& r) {
        std::vector<std::string> plain;
        for (const std::string& reason : r.reasons) plain.push_back(plain_text(reason));
        return plain;
      });

  py::class_<SweptKernel>(m, "SweptKernel")
      .def(py::init<const Settings&, const tune::SpaceFlags&, const std::map<std::string, ArgValue>&,
                    const std::map<std::string, std::pair<std::int64_t, std::string>>&,
                    const std::map<std::string, double>&, double>(),
           py::call_guard<py::gil_scoped_release>())
      .def("rows", &SweptKernel::rows, py::arg("begin"), py::arg("end"), py::call_guard<py::gil_scoped_release>())
      .def_property_readonly("configurations", &SweptKernel::configurations)
      .def_property_readonly("parameters", &SweptKernel::parameters)
      .def_property_readonly("devices", &SweptKernel::devices);
}

}  // namespace kernelcast::python
