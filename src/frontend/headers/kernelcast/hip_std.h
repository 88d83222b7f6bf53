// HIP's compiler includes <algorithm> before every source, so sources use std::max without an include; this part of it has that.
#pragma once
#if defined(__HIP__) && !defined(__CUDACC__) && __has_include(<bits/stl_algobase.h>)
#include <bits/stl_algobase.h>
#endif
