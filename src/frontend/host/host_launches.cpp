// The door of the room: parses the whole file, host code with bodies, and evaluates it. Names that no header declared,
// such as helpers of samples, are declared as functions that are not evaluated, and the file is parsed again.
#include <set>

#include "frontend/host/interpreter.h"
#include "frontend/source/compile.h"
#include "kernelcast/error.h"

namespace kernelcast {

HostProgram host_launches(const Source& source, const HostOptions& options) {
  auto program = std::make_shared<HostProgram>();
  auto own = std::make_shared<HostOptions>(options);
  Source whole = source;
  for (const std::string& file : options.more_files) whole.text += "\n#include \"" + file + "\"\n";
  frontend::inspect_host(whole, options.target, options.time_limit_s,
                         [program, own, readable = source.readable_dirs](clang::ASTContext& context) {
                           *program = frontend::host::Interpreter(context, *own, readable).run();
                         });
  return std::move(*program);
}

}  // namespace kernelcast
