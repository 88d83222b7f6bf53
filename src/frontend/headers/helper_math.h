// Arithmetic on vector types, as the samples of the CUDA toolkit define it.
#pragma once

#define KC_E2(op) {a.x op b.x, a.y op b.y}
#define KC_E3(op) {a.x op b.x, a.y op b.y, a.z op b.z}
#define KC_E4(op) {a.x op b.x, a.y op b.y, a.z op b.z, a.w op b.w}
#define KC_DEFINE(V, T, op, E, S)                                                                                        \
  KC_HD V operator op(V a, V b) { V r = E(op); return r; }                                                                \
  KC_HD V operator op(V a, T s) { V b = S; V r = E(op); return r; }                                                       \
  KC_HD V operator op(T s, V b) { V a = S; V r = E(op); return r; }                                                       \
  KC_HD void operator op##=(V& a, V b) { a = a op b; }                                                                    \
  KC_HD void operator op##=(V& a, T s) { a = a op s; }
#define KC_S2 {s, s}
#define KC_S3 {s, s, s}
#define KC_S4 {s, s, s, s}
#define KC_ALL(T, name)                                                                                                   \
  KC_DEFINE(name##2, T, +, KC_E2, KC_S2) KC_DEFINE(name##2, T, -, KC_E2, KC_S2) KC_DEFINE(name##2, T, *, KC_E2, KC_S2) \
  KC_DEFINE(name##2, T, /, KC_E2, KC_S2) KC_DEFINE(name##3, T, +, KC_E3, KC_S3) KC_DEFINE(name##3, T, -, KC_E3, KC_S3) \
  KC_DEFINE(name##3, T, *, KC_E3, KC_S3) KC_DEFINE(name##3, T, /, KC_E3, KC_S3) KC_DEFINE(name##4, T, +, KC_E4, KC_S4) \
  KC_DEFINE(name##4, T, -, KC_E4, KC_S4) KC_DEFINE(name##4, T, *, KC_E4, KC_S4) KC_DEFINE(name##4, T, /, KC_E4, KC_S4) \
  KC_HD T dot(name##2 a, name##2 b) { return a.x * b.x + a.y * b.y; }                                                     \
  KC_HD T dot(name##3 a, name##3 b) { return a.x * b.x + a.y * b.y + a.z * b.z; }                                         \
  KC_HD T dot(name##4 a, name##4 b) { return a.x * b.x + a.y * b.y + a.z * b.z + a.w * b.w; }                             \
  KC_HD name##2 make_##name##2(T s) { return name##2{s, s}; }                                                             \
  KC_HD name##3 make_##name##3(T s) { return name##3{s, s, s}; }                                                          \
  KC_HD name##4 make_##name##4(T s) { return name##4{s, s, s, s}; }                                                       \
  KC_HD name##2 make_##name##2(name##3 a) { return name##2{a.x, a.y}; }                                                   \
  KC_HD name##3 make_##name##3(name##2 a, T z) { return name##3{a.x, a.y, z}; }                                           \
  KC_HD name##3 make_##name##3(name##4 a) { return name##3{a.x, a.y, a.z}; }                                              \
  KC_HD name##4 make_##name##4(name##3 a, T w) { return name##4{a.x, a.y, a.z, w}; }
KC_ALL(float, float) KC_ALL(int, int) KC_ALL(unsigned int, uint) KC_ALL(double, double)
KC_HD float2 operator-(float2 a) { return float2{-a.x, -a.y}; }
KC_HD float3 operator-(float3 a) { return float3{-a.x, -a.y, -a.z}; }
KC_HD float4 operator-(float4 a) { return float4{-a.x, -a.y, -a.z, -a.w}; }
KC_D float length(float2 v) { return sqrtf(dot(v, v)); }
KC_D float length(float3 v) { return sqrtf(dot(v, v)); }
KC_D float length(float4 v) { return sqrtf(dot(v, v)); }
KC_D float2 normalize(float2 v) { return v * rsqrtf(dot(v, v)); }
KC_D float3 normalize(float3 v) { return v * rsqrtf(dot(v, v)); }
KC_D float4 normalize(float4 v) { return v * rsqrtf(dot(v, v)); }
KC_HD float3 cross(float3 a, float3 b) { return float3{a.y * b.z - a.z * b.y, a.z * b.x - a.x * b.z, a.x * b.y - a.y * b.x}; }
KC_HD float3 reflect(float3 i, float3 n) { return i - 2.0f * n * dot(n, i); }
KC_HD float lerp(float a, float b, float t) { return a + t * (b - a); }
KC_HD float2 lerp(float2 a, float2 b, float t) { return a + t * (b - a); }
KC_HD float3 lerp(float3 a, float3 b, float t) { return a + t * (b - a); }
KC_HD float4 lerp(float4 a, float4 b, float t) { return a + t * (b - a); }
KC_D float clamp(float x, float a, float b) { return fmaxf(a, fminf(x, b)); }
KC_HD int clamp(int x, int a, int b) { return max(a, min(x, b)); }
KC_HD unsigned int clamp(unsigned int x, unsigned int a, unsigned int b) { return max(a, min(x, b)); }
KC_D float3 clamp(float3 v, float a, float b) { return float3{clamp(v.x, a, b), clamp(v.y, a, b), clamp(v.z, a, b)}; }
KC_D float4 clamp(float4 v, float a, float b) { return float4{clamp(v.x, a, b), clamp(v.y, a, b), clamp(v.z, a, b), clamp(v.w, a, b)}; }
KC_D float3 fminf(float3 a, float3 b) { return float3{fminf(a.x, b.x), fminf(a.y, b.y), fminf(a.z, b.z)}; }
KC_D float3 fmaxf(float3 a, float3 b) { return float3{fmaxf(a.x, b.x), fmaxf(a.y, b.y), fmaxf(a.z, b.z)}; }
KC_D float4 fminf(float4 a, float4 b) { return float4{fminf(a.x, b.x), fminf(a.y, b.y), fminf(a.z, b.z), fminf(a.w, b.w)}; }
KC_D float4 fmaxf(float4 a, float4 b) { return float4{fmaxf(a.x, b.x), fmaxf(a.y, b.y), fmaxf(a.z, b.z), fmaxf(a.w, b.w)}; }
KC_D float fracf(float v) { return v - floorf(v); }
KC_D float smoothstep(float a, float b, float x) { const float y = clamp((x - a) / (b - a), 0.0f, 1.0f); return y * y * (3.0f - 2.0f * y); }
