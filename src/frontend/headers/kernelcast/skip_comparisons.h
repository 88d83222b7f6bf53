// Read before a source that names no named comparison of halves: those parts of cuda_fp16.h and cuda_bf16.h are left
// out, for speed.
#define KC_SKIP_COMPARISONS
