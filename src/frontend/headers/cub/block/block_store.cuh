// In cub.cuh.
#pragma once
#include "cub/cub.cuh"
