// In helper_math.h.
#pragma once
#include "helper_math.h"
