# Writes OUTPUT, a C++ source with a digest of every file that decides what an analysis says:
# cmake -DOUTPUT=... -DROOT=... -DLLVM=... -P identity.cmake
file(GLOB_RECURSE files RELATIVE "${ROOT}" "${ROOT}/src/core/*" "${ROOT}/src/frontend/*")
foreach(header expr frontend launch ops profile)
  list(APPEND files "include/kernelcast/${header}.h")
endforeach()
list(SORT files)
set(all "LLVM ${LLVM}\n")
foreach(file ${files})
  file(SHA256 "${ROOT}/${file}" digest)
  string(APPEND all "${file} ${digest}\n")
endforeach()
string(SHA256 digest "${all}")
file(WRITE "${OUTPUT}" "// Made by src/frontend/identity.cmake.
#include \"frontend/identity.h\"

namespace kernelcast {
std::string_view frontend_identity() { return \"${digest}\"; }
}  // namespace kernelcast\n")
