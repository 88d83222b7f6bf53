# Writes OUTPUT, a C++ source with a digest of every file that decides what a folder's code answers:
# cmake -DOUTPUT=... -DROOT=... -DFOLDER=... -DFUNCTION=... -DFOLDERS=a,b -DHEADERS=a,b -DTEXT=... -P Identity.cmake
string(REPLACE "," ";" FOLDERS "${FOLDERS}")
string(REPLACE "," ";" HEADERS "${HEADERS}")
set(files)
foreach(folder ${FOLDERS})
  file(GLOB_RECURSE found RELATIVE "${ROOT}" "${ROOT}/src/${folder}/*")
  list(APPEND files ${found})
endforeach()
foreach(header ${HEADERS})
  list(APPEND files "include/kernelcast/${header}")
endforeach()
list(SORT files)
set(all "${TEXT}\n")
foreach(file ${files})
  file(SHA256 "${ROOT}/${file}" digest)
  string(APPEND all "${file} ${digest}\n")
endforeach()
string(SHA256 digest "${all}")
file(GLOB_RECURSE header RELATIVE "${ROOT}/src" "${ROOT}/src/${FOLDER}/identity.h")  # in the folder or a room of it
file(WRITE "${OUTPUT}" "// Made by cmake/Identity.cmake.
#include \"${header}\"

namespace kernelcast {
std::string_view ${FUNCTION}() { return \"${digest}\"; }
}  // namespace kernelcast\n")
