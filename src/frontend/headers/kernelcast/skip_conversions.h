// Read before a source that names no conversion of halves with a stated rounding: those parts of cuda_fp16.h and
// cuda_bf16.h are left out, for speed.
#define KC_SKIP_CONVERSIONS
