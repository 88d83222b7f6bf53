#include "engines/execute/interpreter.h"

#include <algorithm>
#include <stdexcept>

namespace kernelcast::agreement {
namespace {

bool has_parameter(const Analysis& analysis, const std::string& name) {
  const auto named = [&](const auto& p) { return p.name == name; };
  return std::any_of(analysis.profile.parameters.begin(), analysis.profile.parameters.end(), named);
}

std::int64_t bytes_of_local(const Argument& a) { return a.local_elements * static_cast<std::int64_t>(a.element_bytes); }

/// Of a buffer as --buffer counts its elements.
std::int64_t element_bytes(const Analysis& analysis, const std::string& buffer) {
  for (std::size_t b = 0; b < analysis.profile.buffers.size(); ++b)
    if (analysis.profile.buffers[b].name == buffer) return size_of(analysis.program->element_types.at(b));
  return 1;
}

std::string text_of(const Finding& f) {
  return std::string(name_of(f.kind)) + " at line " + std::to_string(f.line.line) + ": " + f.text;
}

}  // namespace

Launch launch_of(const Case& c, const Analysis& analysis, ExecuteOptions& options) {
  Launch launch;
  launch.grid = c.grid;
  launch.block = c.block;
  for (std::size_t i = 0; i < c.arguments.size(); ++i) {
    const Argument& a = c.arguments[i];
    const Parameter& p = analysis.profile.parameters.at(i);
    switch (a.kind) {
      case Argument::Kind::buffer:
        options.contents[p.name] = a.bytes;
        break;
      case Argument::Kind::local:
        launch.buffers[p.name] = {bytes_of_local(a) / element_bytes(analysis, p.name), ""};
        break;
      case Argument::Kind::scalar:
        launch.args[p.name] = a.value;
        break;
      case Argument::Kind::structure:
        for (const auto& [at, value] : a.fields) {
          const std::string name = p.name + "+" + std::to_string(at);
          if (has_parameter(analysis, name)) launch.args[name] = value;
        }
        break;
    }
  }
  return launch;
}

std::vector<std::vector<unsigned char>> interpret(const Case& c, const Analysis& analysis, int warp_size,
                                                  bool independent_threads) {
  if (!analysis.program) throw std::runtime_error("no program: " + analysis.no_program);
  ExecuteOptions options;
  options.sample = -1;
  options.jobs = 1;
  options.independent_threads = independent_threads;
  options.keep_buffers = true;
  const Launch launch = launch_of(c, analysis, options);
  MemoryGeometry geometry;
  geometry.warp_size = warp_size;
  const Execution e = execute(analysis.profile, *analysis.program, launch, geometry, options);
  for (const Finding& f : e.findings) throw std::runtime_error(text_of(f));
  if (!e.complete) throw std::runtime_error("not complete");
  std::vector<std::vector<unsigned char>> result;
  for (std::size_t i = 0; i < c.arguments.size(); ++i)
    if (c.arguments[i].kind == Argument::Kind::buffer)
      result.push_back(e.buffers.at(analysis.profile.parameters.at(i).name));
  return result;
}

}  // namespace kernelcast::agreement
