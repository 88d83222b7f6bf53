#include "probe/cuda/assemble_ptx.h"

#include <filesystem>

#include "io/process.h"
#include "io/text_file.h"

namespace kernelcast::probe::cuda {

Assembled assemble(const std::string& ptxas, const std::string& ptx, int architecture) {
  TemporaryFolder folder("kernelcast-ptxas");
  const std::string source = folder.file("in.ptx"), cubin = folder.file("out.cubin"), log = folder.file("log");
  write_text_file(source, ptx);
  std::string target = "sm_" + std::to_string(architecture);
  if (ptx.find(".target " + target + "a\n") != std::string::npos) target += "a";  // what only this architecture has
  const Ended ended = run_process({ptxas, "-arch=" + target, source, "-o", cubin}, 60, "the assembler", log);
  if (!ended.failure.empty()) return {"", ended.failure};
  if (ended.status != 0) return {"", std::filesystem::exists(log) ? read_text_file(log) : "no message"};
  return {read_text_file(cubin), ""};
}

}  // namespace kernelcast::probe::cuda
