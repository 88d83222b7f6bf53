// Format: https://github.com/KernelTuner/kernel_tuner, kernel_tuner/schema, T1 input-schema 1.0.0.
#include "tune/t1.h"

#include <algorithm>
#include <map>

#include "kernelcast/error.h"
#include "kernelcast/setting.h"
#include "tune/json.h"

namespace kernelcast::tune {
namespace {

std::int64_t bytes_of_type(const std::string& path, const std::string& type) {
  static const std::map<std::string, std::int64_t> bytes{
      {"int8", 1},    {"uint8", 1},   {"char", 1},    {"bool", 1},   {"int16", 2},    {"uint16", 2},
      {"half", 2},    {"float16", 2}, {"int", 4},     {"int32", 4},  {"uint32", 4},   {"float", 4},
      {"float32", 4}, {"half2", 4},   {"int64", 8},   {"uint64", 8}, {"double", 8},   {"float64", 8},
      {"float2", 8},  {"int2", 8},    {"float4", 16}, {"int4", 16},  {"double2", 16}, {"float3", 12}};
  const auto found = bytes.find(type);
  if (found == bytes.end()) fail_in(path, fmt::format("the size of an argument of type \"{}\" is not known", type));
  return found->second;
}

SpaceArgument argument_of(const std::string& path, const Json& json) {
  SpaceArgument a;
  a.name = text_in(json, "Name");
  a.scalar = text_in(json, "MemoryType") == "Scalar";
  a.constant_memory = text_in(json, "MemType") == "Constant";
  a.size = text_in(json, "Size");
  a.value = text_in(json, "FillValue");
  if (a.scalar ? a.value.empty() : a.size.empty()) {
    fail_in(path, fmt::format("argument \"{}\" has no \"{}\"", a.name, a.scalar ? "FillValue" : "Size"));
  }
  if (!a.scalar) a.element_bytes = bytes_of_type(path, text_in(json, "Type"));
  return a;
}

std::string language_named(const std::string& path, const std::string& name) {
  if (name == "CUDA") return "cuda";
  if (name == "HIP") return "hip";
  if (name == "OpenCL") return "opencl";
  fail_in(path, fmt::format("language \"{}\" is not CUDA, HIP or OpenCL", name));
}

bool has_parameter(const T1File& file, const std::string& name) {
  return std::any_of(file.parameters.begin(), file.parameters.end(),
                     [&](const T1Parameter& p) { return p.name == name; });
}

/// The block's expressions, if they name nothing but tuning parameters; otherwise the kernel must say its block.
void read_block(const Json& kernel, T1File& file) {
  if (!kernel.contains("LocalSize")) return;
  std::array<std::string, 3> block;
  const std::array<const char*, 3> axes{"X", "Y", "Z"};
  for (std::size_t i = 0; i < 3; ++i) {
    block[i] = text_in(kernel.at("LocalSize"), axes[i]);
    if (block[i].empty()) block[i] = "1";
    for (const std::string& name : names_in(block[i])) {
      if (!has_parameter(file, name)) return;
    }
  }
  file.block = block;
}

/// Kernel Tuner's default divisor is the block size of the axis, when a parameter of that name exists.
void read_divisors(const Json& kernel, T1File& file) {
  const std::array<const char*, 3> keys{"GridDivX", "GridDivY", "GridDivZ"};
  const std::array<const char*, 3> defaults{"block_size_x", "block_size_y", "block_size_z"};
  for (std::size_t i = 0; i < 3; ++i) {
    if (kernel.contains(keys[i]) && !kernel.at(keys[i]).is_null()) {
      file.grid_divisors[i] = list_in(kernel.at(keys[i]));
    } else if (has_parameter(file, defaults[i])) {
      file.grid_divisors[i] = {defaults[i]};
    }
  }
}

/// One size of up to three entries. Files of suites may list several sizes, of which a run takes one.
void read_problem(const Json& kernel, T1File& file) {
  file.no_problem = "there is no \"ProblemSize\"";
  if (!kernel.contains("ProblemSize")) return;
  const Json& sizes = kernel.at("ProblemSize");
  const bool several = sizes.is_array() && !sizes.empty() && sizes.front().is_array();
  if (!several || sizes.size() == 1) file.problem = list_in(several ? sizes.front() : sizes);
  if (several && sizes.size() > 1) {
    std::vector<std::string> texts;
    for (const Json& size : sizes) texts.push_back(fmt::format("{}", fmt::join(list_in(size), ",")));
    file.no_problem = fmt::format("\"ProblemSize\" lists {} sizes ({})", texts.size(), fmt::join(texts, "; "));
  } else if (file.problem.size() > 3) {
    file.no_problem = fmt::format("\"ProblemSize\" has {} entries where a size has three at most", file.problem.size());
    file.problem.clear();
  }
}

Value value_of(const Json& json) {
  if (json.is_number_float()) return Value::real(json.get<double>());
  if (json.is_number()) return Value::whole(json.get<double>());
  if (json.is_boolean()) return Value::whole(json.get<bool>() ? 1 : 0);
  return Value::of_text(json.is_string() ? json.get<std::string>() : json.dump());
}

T1Parameter parameter_of(const std::string& path, const Json& json) {
  T1Parameter p;
  p.name = text_in(json, "Name");
  if (p.name.empty()) fail_in(path, "a tuning parameter has no \"Name\"");
  if (!json.contains("Values")) return p;
  const Json& values = json.at("Values");
  if (values.is_array()) {
    for (const Json& v : values) p.listed.push_back(value_of(v));
  } else {
    p.values = expression_in(values);
  }
  return p;
}

std::vector<Value> values_of(const T1File& file, const T1Parameter& p) {
  std::vector<Value> values = p.listed;
  if (!p.values.empty()) {
    NameTable names;
    const Expression e(p.values, Syntax::python, names);
    Scope scope(names.size());
    const Value list = e.value(scope, names);
    values = list.kind == Value::Kind::list ? list.items() : std::vector<Value>{list};
  }
  if (values.empty()) fail_in(file.place, fmt::format("parameter \"{}\" has no \"Values\"", p.name));
  return values;
}

}  // namespace

T1File read_t1(const std::string& path, const std::string& text) {
  const Json json = parse_json(path, text);
  const Json& kernel = member(path, json, "KernelSpecification");
  const Json& space = member(path, json, "ConfigurationSpace");
  const Json& parameters = member(path, space, "TuningParameters");
  T1File file;
  file.place = path;
  try {
    for (const Json& p : parameters) file.parameters.push_back(parameter_of(path, p));
    if (space.contains("Conditions")) {
      for (const Json& c : space.at("Conditions")) {
        file.conditions.push_back(c.is_object() ? text_in(c, "Expression") : expression_in(c));
      }
    }
    file.kernel_name = text_in(kernel, "KernelName");
    file.kernel_file = text_in(kernel, "KernelFile");
    file.language = language_named(path, text_in(kernel, "Language"));
    if (kernel.contains("CompilerOptions")) {
      for (const std::string& option : list_in(kernel.at("CompilerOptions"))) {
        file.fast_math = file.fast_math || option.ends_with("use_fast_math") || option == "-cl-fast-relaxed-math";
      }
    }
    read_problem(kernel, file);
    read_block(kernel, file);
    read_divisors(kernel, file);
    const std::string shared = text_in(kernel, "SharedMemory");
    if (!shared.empty()) file.dynamic_shared = shared;
    if (kernel.contains("Arguments")) {
      for (const Json& a : kernel.at("Arguments")) file.arguments.push_back(argument_of(path, a));
    }
  } catch (const Json::exception& e) {
    fail_in(path, fmt::format("not as the T1 format has it: {}", message_of(e)));
  }
  return file;
}

Space space_of(const T1File& file) {
  Space space;
  space.place = file.place;
  space.kernel_tuner = true;
  const auto read = [&](const std::string& text) {
    try {
      return Expression(text, Syntax::python, space.names);
    } catch (const UserError& e) {
      fail_in(file.place, message_of(e));
    }
  };
  for (const T1Parameter& p : file.parameters) {
    space.parameters.push_back({p.name, values_of(file, p), true});
    space.parameter_names.push_back(space.names.number_of(p.name));
  }
  for (const std::string& c : file.conditions) {
    if (!c.empty()) space.constraints.push_back(read(c));
  }
  space.block_of_kernel = file.block[0].empty();
  for (std::size_t i = 0; i < 3; ++i) {
    if (!file.block[i].empty()) space.block[i] = read(file.block[i]);
    if (i < file.problem.size()) space.problem[i] = read(file.problem[i]);
    for (const std::string& d : file.grid_divisors[i]) space.divisors[i].push_back(read(d));
  }
  if (file.problem.empty()) fail_in(file.place, file.no_problem + ": give one with " KC_SETTING(problem) " X[,Y[,Z]]");
  space.dynamic_shared = read(file.dynamic_shared);
  space.arguments = file.arguments;
  add_launch_names(space);
  return space;
}

std::string without_unused_unrolls(std::string source, const std::vector<std::string>& defines) {
  for (const std::string& define : defines) {
    if (!define.starts_with("loop_unroll_factor") || !define.ends_with("=0")) continue;
    const std::string line = "#pragma unroll " + define.substr(0, define.size() - 2);
    for (std::size_t at = source.find(line); at != std::string::npos; at = source.find(line, at)) {
      const std::size_t end = at + line.size();
      const bool whole =
          end == source.size() || (std::isalnum(static_cast<unsigned char>(source[end])) == 0 && source[end] != '_');
      if (whole) source.replace(at, line.size(), std::string(line.size(), ' '));
      at = end;
    }
  }
  return source;
}

}  // namespace kernelcast::tune
