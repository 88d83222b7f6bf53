// HIP's name for cooperative groups.
#pragma once
#include "cooperative_groups.h"
