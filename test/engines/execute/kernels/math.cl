// Mathematical functions one after the other: each has its own part of the output, n elements long.
#define UNARY(function) out[part++ * n + i] = function(x);
#define BINARY(function) out[part++ * n + i] = function(x, y);

kernel void exponentials(global const float* in, global float* out) {
  int i = get_global_id(0), n = get_global_size(0), part = 0;
  float x = in[i];
  UNARY(exp) UNARY(exp2) UNARY(exp10) UNARY(expm1) UNARY(sinh) UNARY(cosh) UNARY(tanh) UNARY(asinh) UNARY(erf) UNARY(erfc)
}

kernel void logarithms(global const float* in, global float* out) {
  int i = get_global_id(0), n = get_global_size(0), part = 0;
  float x = in[i];
  UNARY(log) UNARY(log2) UNARY(log10) UNARY(log1p) UNARY(sqrt) UNARY(rsqrt) UNARY(cbrt) UNARY(acosh) UNARY(logb)
  out[part++ * n + i] = 1.0f / x;
}

kernel void trigonometry(global const float* in, global float* out) {
  int i = get_global_id(0), n = get_global_size(0), part = 0;
  float x = in[i], c;
  UNARY(sin) UNARY(cos) UNARY(tan) UNARY(sinpi) UNARY(cospi) UNARY(tanpi) UNARY(atan) UNARY(atanpi)
  out[part++ * n + i] = sincos(x, &c);
  out[part++ * n + i] = c;
}

kernel void inverse_trigonometry(global const float* in, global float* out) {
  int i = get_global_id(0), n = get_global_size(0), part = 0;
  float x = in[i];
  UNARY(asin) UNARY(acos) UNARY(asinpi) UNARY(acospi) UNARY(atanh)
}

kernel void gammas(global const float* in, global float* out) {
  int i = get_global_id(0), n = get_global_size(0), part = 0;
  float x = in[i];
  UNARY(tgamma)
}

kernel void rounding(global const float* in, global float* out, global int* whole) {
  int i = get_global_id(0), n = get_global_size(0), part = 0;
  float x = in[i], w;
  int e;
  UNARY(fabs) UNARY(floor) UNARY(ceil) UNARY(trunc) UNARY(rint) UNARY(round) UNARY(sign)
  out[part++ * n + i] = fract(x, &w);
  out[part++ * n + i] = w;
  out[part++ * n + i] = modf(x, &w);
  out[part++ * n + i] = w;
  out[part++ * n + i] = frexp(x, &e);
  whole[i] = e;
  whole[n + i] = ilogb(isnan(x) ? 1.0f : x);  // of NaN: either extreme
}

kernel void pairs(global const float* a, global const float* b, global float* out) {
  int i = get_global_id(0), n = get_global_size(0), part = 0;
  float x = a[i], y = b[i];
  int q;
  BINARY(fmin) BINARY(fmax) BINARY(fmod) BINARY(remainder) BINARY(copysign) BINARY(nextafter) BINARY(fdim)
  BINARY(maxmag) BINARY(minmag) BINARY(min) BINARY(max) BINARY(step)
  out[part++ * n + i] = fma(x, y, 0.1f);
  out[part++ * n + i] = remquo(x, y, &q);
  out[part++ * n + i] = q & 7;
}

kernel void arctangents(global const float* a, global const float* b, global float* out) {
  int i = get_global_id(0), n = get_global_size(0), part = 0;
  float x = a[i], y = b[i];
  BINARY(atan2) BINARY(atan2pi) BINARY(hypot)
  out[part++ * n + i] = x / y;
}

kernel void powers(global const float* a, global const float* b, global float* out, global const int* whole) {
  int i = get_global_id(0), n = get_global_size(0), part = 0, k = whole[i];
  float x = a[i], y = b[i];
  BINARY(pow) BINARY(powr)
  out[part++ * n + i] = pown(x, k);
  out[part++ * n + i] = rootn(x, k);
  out[part++ * n + i] = ldexp(x, k);
}

kernel void common_functions(global const float* a, global const float* b, global float* out) {
#pragma OPENCL FP_CONTRACT OFF
  int i = get_global_id(0), n = get_global_size(0), part = 0;
  float x = a[i], y = b[i];
  out[part++ * n + i] = clamp(x, -1.0f, 1.0f);
  out[part++ * n + i] = degrees(x);
  out[part++ * n + i] = radians(x);
  out[part++ * n + i] = mix(x, y, 0.25f);
  out[part++ * n + i] = smoothstep(-2.0f, 2.0f, x);
  out[part++ * n + i] = sign(y);
  out[part++ * n + i] = mad(x, y, 1.0f);
}

// native_ functions have no bound in the specification.
kernel void natives(global const float* in, global float* out) {
  int i = get_global_id(0), n = get_global_size(0), part = 0;
  float x = in[i];
  UNARY(native_exp) UNARY(native_log) UNARY(native_sqrt) UNARY(native_rsqrt) UNARY(native_recip) UNARY(native_sin)
  UNARY(half_exp) UNARY(half_log2) UNARY(half_sqrt) UNARY(half_cos)
  out[part++ * n + i] = native_divide(x, 3.0f);
  out[part++ * n + i] = native_powr(x, 1.5f);
}

kernel void doubles_one(global const double* in, global double* out) {
  int i = get_global_id(0), n = get_global_size(0), part = 0;
  double x = in[i];
  UNARY(exp) UNARY(exp2) UNARY(log) UNARY(log2) UNARY(log10) UNARY(sqrt) UNARY(rsqrt) UNARY(cbrt) UNARY(sin) UNARY(cos)
  UNARY(tan) UNARY(atan) UNARY(sinh) UNARY(cosh) UNARY(tanh) UNARY(erf) UNARY(erfc) UNARY(floor) UNARY(ceil) UNARY(rint)
}

kernel void doubles_two(global const double* a, global const double* b, global double* out) {
  int i = get_global_id(0), n = get_global_size(0), part = 0;
  double x = a[i], y = b[i];
  BINARY(pow) BINARY(atan2) BINARY(hypot) BINARY(fmod) BINARY(remainder) BINARY(fmin) BINARY(fmax) BINARY(copysign)
  out[part++ * n + i] = ldexp(x, (int)y);
  out[part++ * n + i] = fma(x, y, 1.0);
}

kernel void vector_functions(global const float4* in, global float4* out) {
  int i = get_global_id(0), n = get_global_size(0), part = 0;
  float4 x = in[i];
  UNARY(exp) UNARY(log) UNARY(sin) UNARY(floor) UNARY(sqrt) UNARY(fabs)
  out[part++ * n + i] = fmax(x, x.yzwx);
  out[part++ * n + i] = pow(x, (float4)(2.0f, 0.5f, 1.0f, 3.0f));
}
