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
KC_TEXTURE(tex1DLod, 1, (float x, float l), (x, l))
KC_TEXTURE(tex2D, 2, (float x, float y), (x, y))
KC_TEXTURE(tex2DLod, 2, (float x, float y, float l), (x, y, l))
KC_TEXTURE(tex1DLayered, 2, (float x, int l), (x, (float)l))
KC_TEXTURE(tex2DLayered, 3, (float x, float y, int l), (x, y, (float)l))
KC_TEXTURE(tex3D, 3, (float x, float y, float z), (x, y, z))
KC_TEXTURE(texCubemap, 3, (float x, float y, float z), (x, y, z))
#undef KC_TEXTURE
#undef KC_LIST
template <class T> KC_D void surf2Dread(T* out, cudaSurfaceObject_t s, int x, int y, int = 0) { *out = __kc_texture<T, 2>(s, (float)x, (float)y); }
template <class T> KC_D T surf2Dread(cudaSurfaceObject_t s, int x, int y, int = 0) { return __kc_texture<T, 2>(s, (float)x, (float)y); }
template <class T> KC_D T surf3Dread(cudaSurfaceObject_t s, int x, int y, int z, int = 0) { return __kc_texture<T, 3>(s, (float)x, (float)y, (float)z); }
template <class T> KC_D void surf2Dwrite(T v, cudaSurfaceObject_t s, int x, int y, int = 0) { kc_texture_write(&v, sizeof(T), s, 2, x, y, 0); }
template <class T> KC_D void surf3Dwrite(T v, cudaSurfaceObject_t s, int x, int y, int z, int = 0) { kc_texture_write(&v, sizeof(T), s, 3, x, y, z); }
template <class T> KC_D void surf1Dread(T* out, cudaSurfaceObject_t s, int x, int = 0) { *out = __kc_texture<T, 1>(s, (float)x); }
template <class T> KC_D T surf1Dread(cudaSurfaceObject_t s, int x, int = 0) { return __kc_texture<T, 1>(s, (float)x); }
template <class T> KC_D void surf3Dread(T* out, cudaSurfaceObject_t s, int x, int y, int z, int = 0) { *out = __kc_texture<T, 3>(s, (float)x, (float)y, (float)z); }
template <class T> KC_D void surf1Dwrite(T v, cudaSurfaceObject_t s, int x, int = 0) { kc_texture_write(&v, sizeof(T), s, 1, x, 0, 0); }
template <class T> KC_D T surf2DLayeredread(cudaSurfaceObject_t s, int x, int y, int layer, int = 0) { return __kc_texture<T, 3>(s, (float)x, (float)y, (float)layer); }
template <class T> KC_D void surf2DLayeredread(T* out, cudaSurfaceObject_t s, int x, int y, int layer, int = 0) { *out = __kc_texture<T, 3>(s, (float)x, (float)y, (float)layer); }
template <class T> KC_D void surf2DLayeredwrite(T v, cudaSurfaceObject_t s, int x, int y, int layer, int = 0) { kc_texture_write(&v, sizeof(T), s, 3, x, y, layer); }
template <class T, int D> KC_D void surf2Dread(T* out, const surface<void, D>&, int x, int y, int = 0) { *out = __kc_texture<T, 2>(0, (float)x, (float)y); }
template <class T, int D> KC_D void surf2Dwrite(T v, const surface<void, D>&, int x, int y, int = 0) { kc_texture_write(&v, sizeof(T), 0, 2, x, y, 0); }
template <class T> KC_D T tex2Dgather(cudaTextureObject_t t, float x, float y, int = 0) { return __kc_texture<T, 2>(t, x, y); }
