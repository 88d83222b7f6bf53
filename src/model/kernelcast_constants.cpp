// The fitted constants. validation/fit.md is their report; tools/validate/fit/fit.sh makes it.
#include "model/kernelcast.h"

namespace kernelcast::forecast {

const Constants& fitted_constants() {
  static const Constants constants;
  return constants;
}

}  // namespace kernelcast::forecast
