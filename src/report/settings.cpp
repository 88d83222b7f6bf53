// Long flags are settings with dashes, flags of one letter stand behind one dash. use_fast_math keeps its underscores,
// as the vendors' compilers write it.
#include "report/settings.h"

#include <algorithm>

#include "kernelcast/setting.h"

namespace kernelcast::report {

std::string with_flags(std::string_view text) {
  return spelled(text, [](std::string_view name) {
    std::string flag(name);
    if (name != "use_fast_math") std::replace(flag.begin(), flag.end(), '_', '-');
    return (name.size() == 1 ? "-" : "--") + flag;
  });
}

}  // namespace kernelcast::report
