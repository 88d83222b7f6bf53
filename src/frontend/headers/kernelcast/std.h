// nvcc includes <utility> and <cmath> before every source, so sources use std::move and std::max without an include; this part of them has those.
#pragma once
#if __has_include(<bits/stl_algobase.h>)
#include <bits/stl_algobase.h>
#endif
