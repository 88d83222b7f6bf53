#define KERNELCAST_HANDLERS base
namespace kernelcast::interpreter::base {
constexpr bool with_library_calls = true;
}
#include "execute/handlers_impl.h"
// After it: both live in its namespace.
#include "execute/address_scan_impl.h"
