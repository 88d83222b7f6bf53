// The extension module behind the Python package: one class that holds an analysed source, values out. Times are
// seconds, sizes bytes. The interpreter lock is released while a forecast runs.
#include <pybind11/pybind11.h>
#include <pybind11/stl.h>

#include <cmath>
#include <utility>

#include "forecast/pipeline.h"
#include "kernelcast/error.h"
#include "kernelcast/frontend.h"
#include "kernelcast/setting.h"
#include "kernelcast/sm_model.h"
#include "report/views.h"
#include "settings.h"

namespace py = pybind11;

namespace kernelcast::python {
namespace {

/// One device and model of an answer.
struct Prediction {
  std::shared_ptr<const DeviceResult> device;
  std::size_t model = 0;
  std::string source;
  std::vector<FindingReport> findings;

  [[nodiscard]] const ModelResult& result() const { return device->models.at(model); }
  [[nodiscard]] std::string failure() const {
    return plain_text(device->failure.empty() ? result().failure : device->failure);
  }
  /// The document that `kernelcast predict --format json` writes, of this device and model alone.
  [[nodiscard]] std::string json() const {
    report::ForecastReport f;
    f.head.tool_version = KERNELCAST_VERSION;
    f.head.command = {"kernelcast.forecast"};
    f.source = source;
    f.findings = findings;
    f.devices.push_back(*device);
    f.devices.front().models = {result()};
    for (Assumption& a : f.devices.front().assumptions) a.replace = plain_text(a.replace);
    for (ModelResult& m : f.devices.front().models) {
      m.failure = plain_text(m.failure);
      if (m.estimate)
        for (Assumption& a : m.estimate->assumptions) a.replace = plain_text(a.replace);
    }
    f.devices.front().failure = plain_text(f.devices.front().failure);
    return report::predict_json(f);
  }
};

class Analysed {
 public:
  explicit Analysed(const Settings& s) {
    question_.source = source_of(s);
    question_.kernel = s.kernel;
    for (const std::string& name : s.models) question_.models.push_back(&sm::any_model_named(name));
    question_.counts = s.execute ? Counting::automatic : Counting::symbolic;
    question_.compile_seconds = s.compile_seconds;
    DeviceCatalog catalog(s.device_folder.empty() ? default_device_folder() : s.device_folder);
    catalog.run_at(operating_point(s.clock, s.power_limit));
    for (const std::string& name : s.devices) devices_.push_back(catalog.find(name));
  }

  [[nodiscard]] std::vector<Prediction> on(const std::array<std::int64_t, 3>& grid, bool grid_is_global,
                                           const std::array<std::int64_t, 3>& block, std::int64_t shared,
                                           std::map<std::string, ArgValue>&& args,
                                           const std::map<std::string, std::pair<std::int64_t, std::string>>& buffers,
                                           const std::map<std::string, double>& assume, bool warm) const {
    ForecastQuestion q = question_;
    (grid_is_global ? q.global : q.grid) = Dim3{grid[0], grid[1], grid[2]};
    q.launch.block = {block[0], block[1], block[2]};
    q.launch.dynamic_shared_bytes = shared;
    q.launch.args = std::move(args);
    q.launch.assume = assume;
    if (warm) q.launch.cache = CacheState::warm;
    for (const auto& [name, buffer] : buffers) q.launch.buffers[name] = {buffer.first, buffer.second};
    Forecaster forecaster(q, frontend_, analysed_);
    std::vector<Prediction> predictions;
    predictions.reserve(devices_.size() * q.models.size());
    bool any = false;
    for (const Device& device : devices_) {
      // Made in place: a device has some hundred numbers with their sources, and is not moved for nothing.
      const std::shared_ptr<const DeviceResult> result(new DeviceResult(forecaster.on(device)));
      for (std::size_t m = 0; m < result->models.size(); ++m) {
        any = any || result->models[m].estimate;
        predictions.push_back({result, m, q.source.path, {}});
      }
    }
    if (!any) forecaster.rethrow_first_failure();
    for (Prediction& p : predictions) p.findings = forecaster.findings();
    return predictions;
  }

 private:
  ForecastQuestion question_;
  std::vector<Device> devices_;
  Frontend frontend_ = real_frontend();
  std::shared_ptr<AnalysedKernels> analysed_ = std::make_shared<AnalysedKernels>();
};

py::object maybe(const std::optional<double>& value) {
  if (value && std::isfinite(*value)) return py::float_(*value);
  return py::none();
}

py::tuple dims(const Dim3& d) { return py::make_tuple(d.x, d.y, d.z); }

/// What the dataclass Forecast is made of, in the order of its fields, the prediction itself last; None throughout where
/// there is no estimate.
py::tuple fields(Prediction&& p) {
  const DeviceResult& d = *p.device;
  const std::optional<Estimate>& e = p.result().estimate;
  const std::string kernel = d.profile ? d.profile->kernel : "", model = e ? e->model : p.result().model;
  py::object interval = py::none();
  if (e && e->interval_lo_s && e->interval_hi_s) interval = py::make_tuple(*e->interval_lo_s, *e->interval_hi_s);
  const auto number = [&e](auto value) { return e ? maybe(value(*e)) : py::object(py::none()); };
  const py::object limiter = e ? py::object(py::str(e->limiter)) : py::object(py::none());
  return py::make_tuple(kernel, d.device.id, model, dims(d.launch.grid), dims(d.launch.block),
                        number([](const Estimate& x) { return x.time_s.value; }), interval, limiter,
                        number([](const Estimate& x) { return x.floor_s.value; }),
                        number([](const Estimate& x) { return x.energy_j.value; }),
                        number([](const Estimate& x) { return x.occupancy.fraction; }), py::cast(std::move(p)));
}

/// The fields of each prediction.
py::list answers(const Analysed& analysed, const std::array<std::int64_t, 3>& grid, bool grid_is_global,
                 const std::array<std::int64_t, 3>& block, std::int64_t shared,
                 std::map<std::string, ArgValue> args,
                 const std::map<std::string, std::pair<std::int64_t, std::string>>& buffers,
                 const std::map<std::string, double>& assume, bool warm) {
  std::vector<Prediction> found;
  {
    const py::gil_scoped_release others_may_run;
    found = analysed.on(grid, grid_is_global, block, shared, std::move(args), buffers, assume, warm);
  }
  py::list list;
  for (Prediction& p : found) list.append(fields(std::move(p)));
  return list;
}

py::list bounds(const Prediction& p) {
  py::list list;
  if (p.result().estimate)
    for (const Bound& b : p.result().estimate->bounds)
      list.append(py::make_tuple(b.name, maybe(b.time.value()), plain_text(b.why)));
  return list;
}

py::list assumptions(const Prediction& p) {
  py::list list;
  const auto add = [&list](const std::vector<Assumption>& some) {
    for (const Assumption& a : some) list.append(py::make_tuple(a.what, a.value, plain_text(a.replace)));
  };
  add(p.device->assumptions);
  if (p.result().estimate) add(p.result().estimate->assumptions);
  return list;
}

}  // namespace
}  // namespace kernelcast::python

PYBIND11_MODULE(_kernelcast, m) {
  namespace kp = kernelcast::python;
  m.doc() = "Bindings of kernelcast's library; use the package kernelcast.";
  m.attr("__version__") = KERNELCAST_VERSION;

  static py::handle base = py::exception<kernelcast::Error>(m, "Error").release();
  static py::handle user = py::exception<kernelcast::UserError>(m, "SourceError", base).release();
  static py::handle usage = py::exception<kernelcast::UsageError>(m, "UsageError", user).release();
  static py::handle limit = py::exception<kernelcast::LimitError>(m, "LimitError", base).release();
  py::register_exception_translator([](std::exception_ptr p) {
    if (!p) return;
    try {
      std::rethrow_exception(p);
    } catch (const kernelcast::UsageError& e) {
      PyErr_SetString(usage.ptr(), e.what());
    } catch (const kernelcast::UserError& e) {
      PyErr_SetString(user.ptr(), e.what());
    } catch (const kernelcast::LimitError& e) {
      PyErr_SetString(limit.ptr(), e.what());
    } catch (const kernelcast::Error& e) {
      PyErr_SetString(base.ptr(), e.what());
    }
  });

  py::class_<kp::Prediction>(m, "Prediction")
      .def_property_readonly("bounds", &kp::bounds)
      .def_property_readonly("assumptions", &kp::assumptions)
      .def_property_readonly("failure", &kp::Prediction::failure)
      .def("json", &kp::Prediction::json, py::call_guard<py::gil_scoped_release>());

  py::class_<kp::Settings>(m, "Settings")
      .def(py::init<>())
      .def_readwrite("path", &kp::Settings::path)
      .def_readwrite("text", &kp::Settings::text)
      .def_readwrite("language", &kp::Settings::language)
      .def_readwrite("kernel", &kp::Settings::kernel)
      .def_readwrite("standard", &kp::Settings::standard)
      .def_readwrite("device_folder", &kp::Settings::device_folder)
      .def_readwrite("clock", &kp::Settings::clock)
      .def_readwrite("power_limit", &kp::Settings::power_limit)
      .def_readwrite("devices", &kp::Settings::devices)
      .def_readwrite("models", &kp::Settings::models)
      .def_readwrite("defines", &kp::Settings::defines)
      .def_readwrite("include_dirs", &kp::Settings::include_dirs)
      .def_readwrite("tensor_maps", &kp::Settings::tensor_maps)
      .def_readwrite("fast_math", &kp::Settings::fast_math)
      .def_readwrite("execute", &kp::Settings::execute)
      .def_readwrite("compile_seconds", &kp::Settings::compile_seconds);

  py::class_<kp::Analysed>(m, "Analysed")
      .def(py::init<const kp::Settings&>(), py::call_guard<py::gil_scoped_release>())
      .def("on", &kp::answers);
  kp::bind_sweep(m);
}
