// All of what the toolkits' main headers declare.
#pragma once
#include "kernelcast/core.h"
#include "kernelcast/vectors.h"
#include "kernelcast/math.h"
#include "kernelcast/intrinsics.h"
#include "kernelcast/atomics.h"
#include "kernelcast/warp.h"
#include "kernelcast/host_api.h"
#include "kernelcast/texture.h"
