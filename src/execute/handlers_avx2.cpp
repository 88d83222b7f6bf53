#define KERNELCAST_HANDLERS avx2
#include "execute/handlers_impl.h"
// After it: both live in its namespace.
#include "execute/address_scan_impl.h"
