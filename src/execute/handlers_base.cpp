#define KERNELCAST_HANDLERS base
#include "execute/handlers_impl.h"
