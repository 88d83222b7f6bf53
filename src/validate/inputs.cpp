// Rows stand for themselves. A space needs what its configurations have in common: from a T1 file, from --block and
// --problem, which win over it, and for arguments from a row of the same kernel (--like), which wins over T1's list.
#include "validate/inputs.h"

#include <algorithm>

#include "kernelcast/error.h"
#include "kernelcast/setting.h"
#include "validate/recorded_space.h"

namespace kernelcast::validate {
namespace {

bool is_json(const std::string& text) {
  const std::size_t first = text.find_first_not_of(" \t\r\n");
  return first != std::string::npos && (text[first] == '{' || text[first] == '[');
}

void refuse_space_flags(const InputFiles& f) {
  const auto refuse = [](bool given, const char* flag) {
    if (given) throw UsageError(std::string(flag) + " is for spaces and Kernel Tuner's files; rows say it themselves");
  };
  refuse(!f.t1.empty(), KC_SETTING(t1));
  refuse(!f.like.empty(), KC_SETTING(like));
  refuse(!f.block.empty(), KC_SETTING(block));
  refuse(!f.problem.empty(), KC_SETTING(problem));
  refuse(!f.tile.empty(), KC_SETTING(tile));
}

Inputs with_rows(Inputs inputs, const InputFiles& files) {
  if (inputs.rows.empty()) throw UserError(files.rows + ": there is no measurement in it");
  return inputs;
}

class SpaceReader {
 public:
  SpaceReader(const InputFiles& files, const std::map<std::string, KernelEntry>& kernels)
      : files_(files), kernels_(kernels) {}

  std::vector<Measurement> rows(std::vector<Configuration> configurations) {
    for (Configuration& c : configurations) complete(c);
    std::vector<Measurement> all;
    all.reserve(configurations.size());
    for (const Configuration& c : configurations) all.push_back(row_of(c));
    const auto fails = [](const Measurement& m) { return !m.failure.empty(); };
    if (!all.empty() && std::all_of(all.begin(), all.end(), fails)) throw UserError(all.front().failure);
    return all;
  }

  /// The kernel as the T1 file describes it.
  [[nodiscard]] KernelEntry kernel() const {
    const SpaceDescription& s = t1();
    KernelEntry k;
    k.place = s.place;
    k.id = s.kernel_id;
    k.path = s.kernel_file;
    k.entry = s.kernel_name;
    k.language = s.language == "cuda" ? Language::cuda : s.language == "hip" ? Language::hip : Language::opencl;
    k.defines = {"kernel_tuner=1"};
    k.fast_math = s.fast_math;
    k.cache_state = "warm";  // Kernel Tuner launches a configuration seven times or more, one after the other
    return k;
  }

 private:
  /// One configuration that makes no launch is a row that fails, not the end of a file of thousands.
  Measurement row_of(const Configuration& c) {
    const SpaceDescription& space = space_for(c.kernel_id);
    try {
      return measurement_of(space, c);
    } catch (const UserError& e) {
      Measurement m;
      m.place = c.place;
      m.kernel_id = c.kernel_id;
      m.gpu = c.gpu;
      m.measured_s = c.measured_s;
      m.status = c.status;
      m.failure = message_of(e);
      return m;
    }
  }

  [[nodiscard]] const SpaceDescription& t1() const {
    if (!t1_) {
      if (files_.t1.empty()) {
        if (files_.block.empty() || files_.problem.empty()) {
          throw UsageError(files_.rows + " is a space (it has no grid_x): give " KC_SETTING(t1) " FILE, or " KC_SETTING(
                                             block) " and " KC_SETTING(problem));
        }
        t1_ = SpaceDescription{};
        t1_->place = KC_SETTING(block) " and " KC_SETTING(problem);
      } else {
        t1_ = read_t1(files_.t1, read_plain_or_gzip(files_.t1));
      }
      apply_flags(*t1_);
    }
    return *t1_;
  }

  void apply_flags(SpaceDescription& s) const {
    if (!files_.problem.empty()) s.problem = files_.problem;
    if (s.problem.empty())
      throw UsageError(s.place + ": " + s.no_problem +
                       ": give the one that was measured with " KC_SETTING(problem) " X[,Y[,Z]]");
    if (s.problem.size() > 3) throw UsageError(KC_SETTING(problem) ": more than three sizes");
    if (!files_.block.empty()) {
      for (std::size_t i = 0; i < 3; ++i) s.block[i] = i < files_.block.size() ? files_.block[i] : "1";
    }
    const bool flags_divide = files_.t1.empty() || !files_.tile.empty();
    for (std::size_t i = 0; i < 3 && flags_divide; ++i) {
      s.grid_divisors[i].clear();
      if (!s.block[i].empty()) s.grid_divisors[i].push_back(s.block[i]);
      if (i < files_.tile.size()) s.grid_divisors[i].push_back(files_.tile[i]);
    }
  }

  void complete(Configuration& c) {
    if (c.gpu.empty()) c.gpu = files_.gpu;
    if (c.gpu.empty())
      throw UsageError(files_.rows + " does not say which GPU was measured: name it with " KC_SETTING(device));
    if (c.kernel_id.empty()) c.kernel_id = kernel_id();
  }

  /// Where the file of measurements names no kernel: --kernel, or the T1 file's, which may be an id or an entry.
  std::string kernel_id() {
    if (!files_.kernel.empty()) return files_.kernel;
    const std::string& name = t1().kernel_id;
    if (kernels_.empty() || kernels_.count(name) > 0) return name;
    std::vector<std::string> meant;
    for (const auto& [id, kernel] : kernels_) {
      if (kernel.entry == name) meant.push_back(id);
    }
    if (meant.size() == 1) return meant.front();
    throw UsageError(files_.rows + " does not say which kernel of " + files_.kernels +
                     " was measured: name one with " KC_SETTING(kernel));
  }

  const SpaceDescription& space_for(const std::string& kernel_id) {
    const auto found = spaces_.find(kernel_id);
    if (found != spaces_.end()) return found->second;
    SpaceDescription s = t1();
    if (!files_.like.empty()) s.like = row_like(kernel_id);
    return spaces_.emplace(kernel_id, std::move(s)).first->second;
  }

  Measurement row_like(const std::string& kernel_id) {
    if (!like_) like_ = read_rows(files_.like, read_plain_or_gzip(files_.like));
    for (const Measurement& m : *like_) {
      if (m.kernel_id == kernel_id && !is_excluded(m)) return m;
    }
    throw UserError(files_.like + ": no row of kernel " + kernel_id +
                    " to take arguments and buffers from (" KC_SETTING(like) ")");
  }

  const InputFiles& files_;
  const std::map<std::string, KernelEntry>& kernels_;
  mutable std::optional<SpaceDescription> t1_;
  std::optional<std::vector<Measurement>> like_;
  std::map<std::string, SpaceDescription> spaces_;
};

}  // namespace

Inputs read_inputs(const InputFiles& files) {
  const std::string text = read_plain_or_gzip(files.rows);
  Inputs inputs;
  if (!files.kernels.empty()) inputs.kernels = read_kernels(files.kernels, read_plain_or_gzip(files.kernels));
  if (!is_json(text) && is_rows_csv(text)) {
    refuse_space_flags(files);
    if (files.kernels.empty())
      throw UsageError(KC_SETTING(kernels) " FILE is missing: it says where the kernels' sources are");
    inputs.rows = read_rows(files.rows, text);
    return with_rows(std::move(inputs), files);
  }
  SpaceReader reader(files, inputs.kernels);
  if (files.kernels.empty()) {
    if (files.t1.empty())
      throw UsageError("give " KC_SETTING(kernels) " FILE, or " KC_SETTING(t1) " FILE, which also names the kernel");
    const KernelEntry kernel = reader.kernel();
    inputs.kernels.emplace(kernel.id, kernel);
  }
  inputs.rows = reader.rows(is_json(text) ? read_tuner_results(files.rows, text) : read_space_csv(files.rows, text));
  return with_rows(std::move(inputs), files);
}

}  // namespace kernelcast::validate
