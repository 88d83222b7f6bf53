// What includes fragment.cu, behind what that needs.
typedef float number;

#include "fragment.cu"
