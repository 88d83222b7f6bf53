// Vector types: components, loads and stores of packed vectors, relational functions, conversions, halves.
#pragma OPENCL FP_CONTRACT OFF

kernel void swizzle(global const float4* in, global float4* out) {
  int i = get_global_id(0), n = get_global_size(0);
  float4 v = in[i];
  out[i] = v.wzyx;
  out[i + n] = (float4)(v.even, v.odd);
  out[i + 2 * n] = (float4)(v.hi.yx, v.lo);
  v.xz = v.yw;
  out[i + 3 * n] = v;
  v.s31 = (float2)(1.5f, v.s0);
  out[i + 4 * n] = v + v.xxyy * 2.0f;
}

kernel void packed_three(global const int* in, global int* out, global int3* aligned) {
  int i = get_global_id(0);
  int3 v = vload3(i, in);
  vstore3(v.zxy * 3, i, out);
  aligned[i] = v - v.yzx;
}

kernel void loads_and_stores(global const short* in, global short* out) {
  int i = get_global_id(0);
  short16 v = vload16(i, in + 1);
  v.s02468ace = v.s02468ace + (short8)(1, 2, 3, 4, 5, 6, 7, 8);
  vstore8(v.hi, 2 * i, out + 1);
  vstore4(v.s4567, 4 * i + 2, out + 1);
  vstore2(v.s01 * (short2)(3, -3), 8 * i + 6, out + 1);
  vstore2(v.s23, 8 * i + 7, out + 1);
}

kernel void bytes_blend(global const uchar4* a, global const uchar4* b, global uchar4* out, uchar weight) {
  int i = get_global_id(0);
  ushort4 x = convert_ushort4(a[i]), y = convert_ushort4(b[i]);
  ushort4 mixed = (x * (ushort)(255 - weight) + y * (ushort)weight + (ushort)127) / (ushort)255;
  out[i] = convert_uchar4_sat(mixed + (ushort4)(0, 10, 200, 0));
}

kernel void char_sixteen(global const char16* in, global char16* out, global int* sums) {
  int i = get_global_id(0);
  char16 v = in[i];
  char16 negative = v < (char16)(0);
  char16 r = select(v, -v, negative);
  out[i] = r ^ (char16)(0x11);
  char8 s = r.lo + r.hi;
  char4 t = s.lo + s.hi;
  sums[i] = t.x + t.y + t.z + t.w;
}

kernel void compare_vectors(global const int4* a, global const int4* b, global int4* out) {
  int i = get_global_id(0), n = get_global_size(0);
  out[i] = a[i] < b[i];
  out[i + n] = (a[i] == b[i]) | (a[i] > b[i] + 10);
  out[i + 2 * n] = (int4)(any(a[i] < b[i]), all(a[i] < b[i]), any(a[i] == b[i]), 0);
  out[i + 3 * n] = a[i] && b[i];
  out[i + 4 * n] = !a[i];
  out[i + 5 * n] = a[i] > b[i] ? a[i] : b[i];
}

kernel void relational(global const float* a, global const float* b, global int* out) {
  int i = get_global_id(0), n = get_global_size(0);
  float x = a[i], y = b[i];
  out[i] = isequal(x, y);
  out[i + n] = isnotequal(x, y);
  out[i + 2 * n] = isgreater(x, y);
  out[i + 3 * n] = isgreaterequal(x, y);
  out[i + 4 * n] = isless(x, y);
  out[i + 5 * n] = islessequal(x, y);
  out[i + 6 * n] = islessgreater(x, y);
  out[i + 7 * n] = isfinite(x);
  out[i + 8 * n] = isinf(x);
  out[i + 9 * n] = isnan(x);
  out[i + 10 * n] = isnormal(x);
  out[i + 11 * n] = isordered(x, y);
  out[i + 12 * n] = isunordered(x, y);
  out[i + 13 * n] = signbit(x);
  out[i + 14 * n] = (x < y) + 2 * (x == y) + 4 * (x > y) + 8 * (x != y) + 16 * !(x < y) + 32 * !(x >= y);
}

kernel void relational_vectors(global const float4* a, global const float4* b, global int4* out) {
  int i = get_global_id(0), n = get_global_size(0);
  out[i] = isless(a[i], b[i]);
  out[i + n] = isnan(a[i]);
  out[i + 2 * n] = signbit(b[i]);
  out[i + 3 * n] = as_int4(select(a[i], b[i], isgreater(a[i], b[i])));
  out[i + 4 * n] = as_int4(bitselect(a[i], b[i], as_float4((int4)(0x7fffffff, 0, -1, 0x00ff00ff))));
}

kernel void select_scalars(global const int* a, global const int* b, global int* out, global ulong* wide) {
  int i = get_global_id(0), n = get_global_size(0), x = a[i], y = b[i];
  out[i] = select(x, y, x > y);
  out[i + n] = bitselect(x, y, 0x0f0f0f0f);
  wide[i] = select((ulong)x, (ulong)y, (ulong)(x & 1));
  wide[i + n] = bitselect((ulong)x << 20, (ulong)y, 0xffff00000000fffful);
}

kernel void shuffle_vectors(global const int4* a, global const int4* b, global const uint4* mask, global int4* out) {
  int i = get_global_id(0), n = get_global_size(0);
  out[i] = shuffle(a[i], mask[i]);
  out[i + n] = shuffle2(a[i], b[i], mask[i]);
}

kernel void reinterpret(global const float* in, global int* out, global uchar4* bytes, global short2* halves) {
  int i = get_global_id(0);
  float v = in[i];
  out[i] = as_int(v) ^ 0x80000000;
  bytes[i] = as_uchar4(v);
  halves[i] = as_short2(as_int(v) + 1);
}

kernel void geometry(global const float4* a, global const float4* b, global float* out, global float4* vectors) {
  int i = get_global_id(0), n = get_global_size(0);
  float4 x = a[i], y = b[i];
  out[i] = dot(x, y);
  out[i + n] = length(x);
  out[i + 2 * n] = distance(x, y);
  out[i + 3 * n] = dot(x.xyz, y.xyz);
  vectors[i] = cross(x, y);
  vectors[i + n] = normalize(x);
}

kernel void halves(global const ushort* in, global float* wide, global const float* values, global ushort* near,
                   global ushort* toward_zero, global ushort* up, global ushort* down) {
  int i = get_global_id(0);
  wide[i] = vload_half(i, (global const half*)in);
  vstore_half(values[i], i, (global half*)near);
  vstore_half_rtz(values[i], i, (global half*)toward_zero);
  vstore_half_rtp(values[i], i, (global half*)up);
  vstore_half_rtn(values[i], i, (global half*)down);
}

kernel void half_vectors(global const ushort* in, global ushort* out) {
  int i = get_global_id(0);
  float4 v = vload_half4(i, (global const half*)in);
  vstore_half4(v * 2.0f + 1.0f, i, (global half*)out);
}

kernel void from_float(global const float* in, global int* i32, global uint* u32, global char* i8, global ushort* u16) {
  int i = get_global_id(0), n = get_global_size(0);
  float v = in[i];
  i32[i] = convert_int_sat(v);
  i32[i + n] = convert_int_sat_rte(v);
  i32[i + 2 * n] = convert_int_sat_rtp(v);
  i32[i + 3 * n] = convert_int_sat_rtn(v);
  u32[i] = convert_uint_sat(v);
  u32[i + n] = convert_uint_sat_rte(v);
  i8[i] = convert_char_sat(v);
  i8[i + n] = convert_char_sat_rte(v);
  u16[i] = convert_ushort_sat(v);
  u16[i + n] = convert_ushort_sat_rtp(v);
}

kernel void from_double(global const double* in, global long* i64, global ulong* u64, global float* f32, global int* i32) {
  int i = get_global_id(0), n = get_global_size(0);
  double v = in[i];
  i64[i] = convert_long_sat(v);
  i64[i + n] = convert_long_sat_rte(v);
  u64[i] = convert_ulong_sat(v);
  f32[i] = convert_float(v);
  f32[i + n] = convert_float_rtz(v);
  f32[i + 2 * n] = convert_float_rtp(v);
  f32[i + 3 * n] = convert_float_rtn(v);
  i32[i] = convert_int_sat_rtn(v);
}

kernel void from_integers(global const int* in, global float* f32, global uchar* u8, global short* i16, global double* f64) {
  int i = get_global_id(0), n = get_global_size(0);
  int v = in[i];
  f32[i] = convert_float(v);
  f32[i + n] = convert_float_rtz(v >> 1);  // libclc is wrong where rounding to nearest leaves the range of int
  f32[i + 2 * n] = convert_float((uint)v);
  f32[i + 3 * n] = (float)((long)v * v);
  f32[i + 4 * n] = (float)((ulong)v << 17);
  u8[i] = convert_uchar_sat(v);
  u8[i + n] = convert_uchar_sat((uint)v);
  u8[i + 2 * n] = convert_uchar(v);
  i16[i] = convert_short_sat(v);
  i16[i + n] = convert_short_sat((long)v << 3);
  f64[i] = (double)v / 3;
  f64[i + n] = (double)((ulong)v * 0x123456789ul);
}

kernel void convert_vectors(global const float4* in, global uchar4* bytes, global int4* ints, global short4* shorts) {
  int i = get_global_id(0);
  bytes[i] = convert_uchar4_sat_rte(in[i]);
  ints[i] = convert_int4_rtz(in[i]);
  shorts[i] = convert_short4_sat(convert_int4_rtn(in[i]) * 1000);
}

kernel void double_arithmetic(global const double* a, global const double* b, global double* out) {
  int i = get_global_id(0), n = get_global_size(0);
  double x = a[i], y = b[i];
  out[i] = x + y * 3.0;
  out[i + n] = x / y;
  out[i + 2 * n] = sqrt(fabs(x));
  out[i + 3 * n] = fma(x, y, -1.0);
  out[i + 4 * n] = fmin(x, y) - fmax(x, 0.5);
  out[i + 5 * n] = (float)x * (float)y;
  double4 v = (double4)(x, y, x - y, 1.0);
  out[i + 6 * n] = v.x * v.w + v.y * v.z;
}
