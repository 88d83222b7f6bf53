// Textures and surfaces: reads and writes become calls of kc_texture_*, which the front end makes one instruction each of (ir/images.h).
#pragma once

enum cudaTextureReadMode { cudaReadModeElementType, cudaReadModeNormalizedFloat };
enum cudaTextureAddressMode { cudaAddressModeWrap, cudaAddressModeClamp, cudaAddressModeMirror, cudaAddressModeBorder };
enum cudaTextureFilterMode { cudaFilterModePoint, cudaFilterModeLinear };
enum cudaChannelFormatKind { cudaChannelFormatKindSigned, cudaChannelFormatKindUnsigned, cudaChannelFormatKindFloat, cudaChannelFormatKindNone };
enum cudaResourceType { cudaResourceTypeArray, cudaResourceTypeMipmappedArray, cudaResourceTypeLinear, cudaResourceTypePitch2D };
enum cudaSurfaceBoundaryMode { cudaBoundaryModeZero, cudaBoundaryModeClamp, cudaBoundaryModeTrap };
enum { cudaTextureType1D = 1, cudaTextureType2D, cudaTextureType3D, cudaTextureTypeCubemap = 0xc, cudaTextureType1DLayered = 0xf1, cudaTextureType2DLayered };
enum { cudaArrayDefault = 0, cudaArrayLayered = 1, cudaArraySurfaceLoadStore = 2, cudaArrayCubemap = 4, cudaArrayTextureGather = 8 };
struct cudaChannelFormatDesc { int x, y, z, w; cudaChannelFormatKind f; };
struct textureReference {
  int normalized;
  cudaTextureFilterMode filterMode;
  cudaTextureAddressMode addressMode[3];
  cudaChannelFormatDesc channelDesc;
};
struct cudaTextureDesc {
  cudaTextureAddressMode addressMode[3];
  cudaTextureFilterMode filterMode;
  cudaTextureReadMode readMode;
  int sRGB, normalizedCoords;
  float borderColor[4];
};
struct cudaResourceDesc {
  cudaResourceType resType;
  union {
    struct { cudaArray_t array; } array;
    struct { cudaMipmappedArray_t mipmap; } mipmap;
    struct { void* devPtr; cudaChannelFormatDesc desc; size_t sizeInBytes; } linear;
    struct { void* devPtr; cudaChannelFormatDesc desc; size_t width, height, pitchInBytes; } pitch2D;
  } res;
};
template <class T> cudaChannelFormatDesc cudaCreateChannelDesc();
cudaChannelFormatDesc cudaCreateChannelDesc(int, int, int, int, cudaChannelFormatKind);
template <class T, int Dimensions = 1, cudaTextureReadMode Mode = cudaReadModeElementType>
struct __attribute__((device_builtin_texture_type)) texture : textureReference {
  __host__ __device__ constexpr texture(int = 0, cudaTextureFilterMode = cudaFilterModePoint, cudaTextureAddressMode = cudaAddressModeClamp)
      : textureReference() {}
};
template <class T, int Dimensions = 1> struct __attribute__((device_builtin_surface_type)) surface {};
template <class T, cudaTextureReadMode Mode> struct __kc_texel { typedef T type; };
template <> struct __kc_texel<unsigned char, cudaReadModeNormalizedFloat> { typedef float type; };
template <> struct __kc_texel<signed char, cudaReadModeNormalizedFloat> { typedef float type; };
template <> struct __kc_texel<unsigned short, cudaReadModeNormalizedFloat> { typedef float type; };
template <> struct __kc_texel<short, cudaReadModeNormalizedFloat> { typedef float type; };
template <> struct __kc_texel<uchar4, cudaReadModeNormalizedFloat> { typedef float4 type; };
template <> struct __kc_texel<uchar2, cudaReadModeNormalizedFloat> { typedef float2 type; };

// One call for a read of a texture reference, a texture object and a write of a surface; `values` is the texel.
extern "C" __attribute__((device)) void kc_texture_read(void* texel, unsigned bytes, unsigned long long object, int dimensions, float x, float y, float z);
extern "C" __attribute__((device)) void kc_texture_write(const void* texel, unsigned bytes, unsigned long long object, int dimensions, int x, int y, int z);
template <class T, int dimensions> KC_D T __kc_texture(unsigned long long object, float x, float y = 0, float z = 0) {
  T texel;
  kc_texture_read(&texel, sizeof(T), object, dimensions, x, y, z);
  return texel;
}
#define KC_TEXTURE(name, dimensions, parameters, arguments)                                                                          \
  template <class T, int D, cudaTextureReadMode M>                                                                                   \
  KC_D typename __kc_texel<T, M>::type name(const texture<T, D, M>&, KC_LIST parameters) {                                                \
    return __kc_texture<typename __kc_texel<T, M>::type, dimensions>(0, KC_LIST arguments);             \
  }                                                                                                                                  \
  template <class T> KC_D T name(cudaTextureObject_t t, KC_LIST parameters) { return __kc_texture<T, dimensions>(t, KC_LIST arguments); } \
  template <class T> KC_D void name(T* out, cudaTextureObject_t t, KC_LIST parameters) { *out = __kc_texture<T, dimensions>(t, KC_LIST arguments); }
#define KC_LIST(...) __VA_ARGS__
KC_TEXTURE(tex1Dfetch, 1, (int x), ((float)x))
KC_TEXTURE(tex1D, 1, (float x), (x))
KC_TEXTURE(tex2D, 2, (float x, float y), (x, y))
KC_TEXTURE(tex3D, 3, (float x, float y, float z), (x, y, z))
KC_TEXTURE(tex1DLayered, 2, (float x, int l), (x, (float)l))
KC_TEXTURE(tex2DLayered, 3, (float x, float y, int l), (x, y, (float)l))
KC_TEXTURE(texCubemap, 3, (float x, float y, float z), (x, y, z))
KC_TEXTURE(texCubemapLayered, 3, (float x, float y, float z, int), (x, y, z))
// A level of detail takes the place of a third coordinate where there is one.
KC_TEXTURE(tex1DLod, 1, (float x, float l), (x, l))
KC_TEXTURE(tex2DLod, 2, (float x, float y, float l), (x, y, l))
KC_TEXTURE(tex3DLod, 3, (float x, float y, float z, float), (x, y, z))
KC_TEXTURE(tex1DLayeredLod, 2, (float x, int l, float), (x, (float)l))
KC_TEXTURE(tex2DLayeredLod, 3, (float x, float y, int l, float), (x, y, (float)l))
KC_TEXTURE(texCubemapLod, 3, (float x, float y, float z, float), (x, y, z))
KC_TEXTURE(texCubemapLayeredLod, 3, (float x, float y, float z, int, float), (x, y, z))
// Gradients are read by the same instruction; their registers are left out.
KC_TEXTURE(tex1DGrad, 1, (float x, float, float), (x))
KC_TEXTURE(tex2DGrad, 2, (float x, float y, float2, float2), (x, y))
KC_TEXTURE(tex3DGrad, 3, (float x, float y, float z, float4, float4), (x, y, z))
KC_TEXTURE(tex1DLayeredGrad, 2, (float x, int l, float, float), (x, (float)l))
KC_TEXTURE(tex2DLayeredGrad, 3, (float x, float y, int l, float2, float2), (x, y, (float)l))
KC_TEXTURE(texCubemapGrad, 3, (float x, float y, float z, float4, float4), (x, y, z))
KC_TEXTURE(texCubemapLayeredGrad, 3, (float x, float y, float z, int, float4, float4), (x, y, z))
// The same with a flag: whether the texels are in memory, which they are here.
#define KC_RESIDENT(name, dimensions, parameters, arguments)                                             \
  template <class T> KC_D T name(cudaTextureObject_t t, KC_LIST parameters, bool* resident) {            \
    *resident = true;                                                                                    \
    return __kc_texture<T, dimensions>(t, KC_LIST arguments);                                            \
  }
KC_RESIDENT(tex2D, 2, (float x, float y), (x, y))
KC_RESIDENT(tex3D, 3, (float x, float y, float z), (x, y, z))
KC_RESIDENT(tex2DLayered, 3, (float x, float y, int l), (x, y, (float)l))
KC_RESIDENT(tex2DLod, 2, (float x, float y, float l), (x, y, l))
KC_RESIDENT(tex3DLod, 3, (float x, float y, float z, float), (x, y, z))
KC_RESIDENT(tex2DLayeredLod, 3, (float x, float y, int l, float), (x, y, (float)l))
KC_RESIDENT(tex2DGrad, 2, (float x, float y, float2, float2), (x, y))
KC_RESIDENT(tex3DGrad, 3, (float x, float y, float z, float4, float4), (x, y, z))
KC_RESIDENT(tex2DLayeredGrad, 3, (float x, float y, int l, float2, float2), (x, y, (float)l))
template <class T>
KC_D T tex2Dgather(cudaTextureObject_t t, float x, float y, int = 0) {
  return __kc_texture<T, 2>(t, x, y);
}
template <class T>
KC_D T tex2Dgather(cudaTextureObject_t t, float x, float y, bool* resident, int = 0) {
  return *resident = true, __kc_texture<T, 2>(t, x, y);
}
template <class T>
KC_D void tex2Dgather(T* out, cudaTextureObject_t t, float x, float y, int = 0) {
  *out = __kc_texture<T, 2>(t, x, y);
}

// Surfaces. The last parameter is what happens at the boundary.
#define KC_SURFACE(name, dimensions, parameters, arguments, indices)                 \
  template <class T>                                                                 \
  KC_D T name##read(cudaSurfaceObject_t s, KC_LIST parameters, int = 0) {            \
    return __kc_texture<T, dimensions>(s, KC_LIST arguments);                        \
  }                                                                                  \
  template <class T>                                                                 \
  KC_D void name##read(T* out, cudaSurfaceObject_t s, KC_LIST parameters, int = 0) { \
    *out = __kc_texture<T, dimensions>(s, KC_LIST arguments);                        \
  }                                                                                  \
  template <class T>                                                                 \
  KC_D void name##write(T v, cudaSurfaceObject_t s, KC_LIST parameters, int = 0) {   \
    kc_texture_write(&v, sizeof(T), s, dimensions, KC_LIST indices);                 \
  }
KC_SURFACE(surf1D, 1, (int x), ((float)x), (x, 0, 0))
KC_SURFACE(surf2D, 2, (int x, int y), ((float)x, (float)y), (x, y, 0))
KC_SURFACE(surf3D, 3, (int x, int y, int z), ((float)x, (float)y, (float)z), (x, y, z))
KC_SURFACE(surf1DLayered, 2, (int x, int l), ((float)x, (float)l), (x, l, 0))
KC_SURFACE(surf2DLayered, 3, (int x, int y, int l), ((float)x, (float)y, (float)l), (x, y, l))
KC_SURFACE(surfCubemap, 3, (int x, int y, int face), ((float)x, (float)y, (float)face), (x, y, face))
KC_SURFACE(surfCubemapLayered, 3, (int x, int y, int l), ((float)x, (float)y, (float)l), (x, y, l))
#undef KC_SURFACE
#undef KC_RESIDENT
#undef KC_TEXTURE
#undef KC_LIST
template <class T, int D> KC_D void surf2Dread(T* out, const surface<void, D>&, int x, int y, int = 0) { *out = __kc_texture<T, 2>(0, (float)x, (float)y); }
template <class T, int D> KC_D void surf2Dwrite(T v, const surface<void, D>&, int x, int y, int = 0) { kc_texture_write(&v, sizeof(T), 0, 2, x, y, 0); }
