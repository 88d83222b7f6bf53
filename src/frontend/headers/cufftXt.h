// In cufft.h.
#pragma once
#include "cufft.h"
