// A device is a data file in which every number has a source.
#pragma once

#include <array>
#include <cstdint>
#include <memory>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "kernelcast/estimate.h"
#include "kernelcast/tensor.h"
#include "kernelcast/workload.h"

namespace kernelcast {

/// The numbers a device may have; names are section_key: Field::compute_units, Field::memory_l2_bytes.
enum class Field : std::uint8_t {
#define KC_FIELD(section, key, minimum, maximum, integer, meaning) section##_##key,
#include "kernelcast/device_fields.def"
#undef KC_FIELD
  count_
};
inline constexpr std::size_t field_count = static_cast<std::size_t>(Field::count_);

struct FieldInfo {
  std::string_view section, key;
  double minimum, maximum;
  bool integer;
  std::string_view meaning;
};
const FieldInfo& info(Field f);
std::optional<Field> field_named(std::string_view section, std::string_view key);
/// Multiply-adds of matrix instructions of this type, per unit and cycle.
Field tensor_rate_field(TensorType type);

/// Energy of one multiply-add of matrix instructions of this type; FP16 and FP32 accumulators share one. Nothing: no
/// field is about the type.
std::optional<Field> tensor_energy_field(TensorType type);

/// A number of a device file. Unknown is a value with a reason.
struct FieldValue {
  std::optional<double> value;
  std::string source;        // the citation in full; for unknown numbers the reason; empty: not given at all
  std::string origin;        // file that set it: the device's or the architecture's
  bool unstable = false;     // varied while it was measured
};

struct Device {
  std::string id, name, vendor, architecture;
  std::string kind;            // "gpu" or "cpu"
  std::string compute_capability;
  std::string codegen_target;  // "sm_70", "gfx90a"; "host" for CPUs
  std::string codegen_note;    // why a stand-in is used; empty: the real target
  std::vector<std::string> aliases;
  std::vector<std::string> notes;
  std::string file;
  std::array<FieldValue, field_count> values;

  [[nodiscard]] std::optional<double> get(Field f) const { return values[static_cast<std::size_t>(f)].value; }
  [[nodiscard]] double get_or(Field f, double fallback) const { return get(f).value_or(fallback); }
  /// Throws UserError "DEVICE: memory.l2_bytes is unknown (reason); set it in FILE" when missing.
  [[nodiscard]] double require(Field f) const;
  /// A number that varied while it was measured: `kernelcast probe` writes such numbers, as its source says, where
  /// nothing else is known of a CPU.
  [[nodiscard]] bool unsteady(Field f) const {
    const FieldValue& v = values[static_cast<std::size_t>(f)];
    return v.value && v.unstable;
  }
  /// The parts that counting depends on; where unknown: warps of 32, sectors of 32 and segments of 128 bytes, 32 banks
  /// of 4 bytes (the member initialisers of MemoryGeometry, as on NVIDIA GPUs since Fermi).
  [[nodiscard]] MemoryGeometry geometry() const;
};

/// Clock and power limit under which a GPU runs, in place of what its file says.
struct OperatingPoint {
  enum class Clock : std::uint8_t { automatic, base, boost, given };
  Clock clock = Clock::automatic;       // automatic: boost, less where a power limit holds it down
  double clock_hz = 0;                  // of Clock::given
  std::optional<double> power_limit_w;  // nothing: the design power of the device file
};
/// "1.41e9", "1410MHz", "1.41GHz", "base", "boost" (empty: automatic), and a power limit in watts (empty: none).
/// Throws UsageError naming the setting.
OperatingPoint operating_point(std::string_view clock, std::string_view power_limit);
/// The GPU at this point: its clocks, and the L2's bandwidth and the latency of DRAM in cycles with them. CPUs stay as
/// they are. Throws UsageError for a limit below the idle power, and where the file does not say what work draws.
void run_at(const OperatingPoint& point, Device& device);
/// Whether a number is one that run_at() was given.
bool is_asked_for(const Device& device, Field field);
/// Units, L2 and whatever counts cycles, `factor` times as fast; what happens in DRAM takes as many seconds.
void scale_clock(double factor, Device& device);

/// What a listing and the search by name need of a device file: its keys before the first section.
struct DeviceHead {
  std::string id, name, kind, file;
  std::vector<std::string> aliases;
  std::string trouble;  // why the file cannot be read; empty: it can
};

/// "sm_100" of an NVIDIA device of compute capability 10.0, whatever stands in for it as the target of code generation; empty for others.
std::string capability_of(const Device& device);
/// What decides how source becomes code: the target of code generation, and what it stands in for.
std::string code_key(const Device& device);

/// Where device files are looked for unless the caller names a folder: ../share/kernelcast/devices from the program if
/// that exists, otherwise `devices` of the source tree that this was built from; empty when neither exists.
std::string default_device_folder();

/// All device files that were found, by id. Loaded lazily: listing reads heads only where that is enough.
class DeviceCatalog {
 public:
  /// Folder of device files; empty: default_device_folder(). Throws UsageError when there is no such folder.
  explicit DeviceCatalog(std::string folder);
  /// Ids of all device files, sorted; "host" is not among them.
  [[nodiscard]] std::vector<std::string> ids() const;
  /// The same with names, kinds and aliases.
  [[nodiscard]] std::vector<DeviceHead> heads() const;
  /// By id, alias or name (case, punctuation and makers' words ignored), or path to a .toml. "host" is the machine we
  /// run on. Throws UsageError naming the nearest ids for an unknown or ambiguous name, UserError with file and line for
  /// a bad file. What it has found once is not read again by this catalog or a copy of it.
  [[nodiscard]] Device find(std::string_view name) const;
  [[nodiscard]] const std::string& folder() const { return folder_; }
  /// From here on find() gives devices at this point.
  void run_at(const OperatingPoint& point) { point_ = point; }

 private:
  struct Found;
  [[nodiscard]] Device as_filed(std::string_view name) const;
  [[nodiscard]] Device read(std::string_view name) const;
  std::string folder_;
  std::shared_ptr<Found> found_;
  OperatingPoint point_;
};

/// Reads one file with what it inherits. Throws UserError "FILE:LINE: ..." for anything wrong with one of them.
Device load_device(const std::string& path);
/// The machine we run on, from the operating system's tables; each number says how it was read.
Device host_device();
/// JSON Schema (2020-12) of a device file, made from the table of fields.
std::string device_schema_json();

}  // namespace kernelcast
