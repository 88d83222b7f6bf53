#define KERNELCAST_HANDLERS avx2
namespace kernelcast::interpreter::avx2 {
constexpr bool with_library_calls = false;
}
#include "execute/handlers_impl.h"
// After it: both live in its namespace.
#include "execute/address_scan_impl.h"
