// folder: tune
// An expression in C or Python: the answer is a value or an Error, whatever the bytes.
#include <cstddef>
#include <cstdint>
#include <string>

#include "kernelcast/error.h"
#include "tune/expression.h"

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  using namespace kernelcast::tune;
  const std::string text(reinterpret_cast<const char*>(data), size);
  for (const Syntax syntax : {Syntax::c, Syntax::python}) try {
      NameTable names;
      const Expression e(text, syntax, names);
      Scope scope(names.size());
      for (const int n : e.names()) scope.set(n, Value::whole(3 + n));
      (void)text_of(e.value(scope, names));
      (void)e.number(scope, names);
    } catch (const kernelcast::Error&) {
    }
  return 0;
}
