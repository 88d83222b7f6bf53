#define KERNELCAST_HANDLERS avx2
#include "execute/handlers_impl.h"
