// Integers: division, shifts, 64 bits, bit tricks, hashes, ciphers.
kernel void divide_int(global const int* a, global const int* b, global int* out) {
  int i = get_global_id(0), n = get_global_size(0), x = a[i], y = b[i];
  out[i] = x / y;
  out[i + n] = x % y;
  out[i + 2 * n] = x / 7;
  out[i + 3 * n] = x % 7;
  out[i + 4 * n] = x / -8;
  out[i + 5 * n] = x % 16;
}

kernel void divide_uint(global const uint* a, global const uint* b, global uint* out) {
  int i = get_global_id(0), n = get_global_size(0);
  uint x = a[i], y = b[i];
  out[i] = x / y;
  out[i + n] = x % y;
  out[i + 2 * n] = x / 10;
  out[i + 3 * n] = x % 1000003;
}

kernel void divide_long(global const long* a, global const long* b, global long* out) {
  int i = get_global_id(0), n = get_global_size(0);
  long x = a[i], y = b[i];
  out[i] = x / y;
  out[i + n] = x % y;
  out[i + 2 * n] = (long)((ulong)x / (ulong)y);
  out[i + 3 * n] = (long)((ulong)x % (ulong)y);
  out[i + 4 * n] = x / 1000000007;
  out[i + 5 * n] = (long)((ulong)x * (ulong)y) + (x >> 3);
}

kernel void divide_narrow(global const char* a, global const char* b, global char* out, global short* wide) {
  int i = get_global_id(0), n = get_global_size(0);
  char x = a[i], y = b[i];
  out[i] = (char)(x / y);
  out[i + n] = (char)(x % y);
  out[i + 2 * n] = (char)((uchar)x / (uchar)y);
  out[i + 3 * n] = (char)((uchar)x % (uchar)y);
  short p = (short)(x * 251), q = (short)(y * 3);
  wide[i] = p / q;
  wide[i + n] = p % q;
  wide[i + 2 * n] = (short)((ushort)p / (ushort)q);
}

kernel void shift(global const int* a, global const uint* by, global int* out, global long* wide, global short* narrow) {
  int i = get_global_id(0), n = get_global_size(0);
  int x = a[i];
  uint s = by[i];
  out[i] = x << (s & 31);
  out[i + n] = x >> (s & 31);
  out[i + 2 * n] = (int)((uint)x >> (s & 31));
  out[i + 3 * n] = x << s;  // taken modulo the width
  long w = ((long)x << 32) | (uint)x;
  wide[i] = w << (s & 63);
  wide[i + n] = w >> (s & 63);
  wide[i + 2 * n] = (long)((ulong)w >> (s & 63));
  short h = (short)x;
  narrow[i] = h << (s & 15);
  narrow[i + n] = h >> (s & 15);
  narrow[i + 2 * n] = (short)((ushort)h >> (s & 15));
}

kernel void integer_builtins(global const int* a, global const int* b, global int* out) {
  int i = get_global_id(0), n = get_global_size(0), x = a[i], y = b[i];
  out[i] = (int)abs(x);
  out[i + n] = (int)abs_diff(x, y);
  out[i + 2 * n] = add_sat(x, y);
  out[i + 3 * n] = sub_sat(x, y);
  out[i + 4 * n] = hadd(x, y);
  out[i + 5 * n] = rhadd(x, y);
  out[i + 6 * n] = mul_hi(x, y);
  out[i + 7 * n] = mad_hi(x, y, i);
  out[i + 8 * n] = rotate(x, y);
  out[i + 9 * n] = clz(x);
  out[i + 10 * n] = popcount(x);
  out[i + 11 * n] = clamp(x, -1000, 1000);
  out[i + 12 * n] = mul24(x >> 9, y >> 9);
  out[i + 13 * n] = mad24(x >> 9, y >> 9, i);
  out[i + 14 * n] = mad_sat(x, y >> 20, x);
  out[i + 15 * n] = min(x, y) ^ max(x, y);
}

kernel void unsigned_builtins(global const uint* a, global const uint* b, global uint* out) {
  int i = get_global_id(0), n = get_global_size(0);
  uint x = a[i], y = b[i];
  out[i] = abs_diff(x, y);
  out[i + n] = add_sat(x, y);
  out[i + 2 * n] = sub_sat(x, y);
  out[i + 3 * n] = hadd(x, y);
  out[i + 4 * n] = rhadd(x, y);
  out[i + 5 * n] = mul_hi(x, y);
  out[i + 6 * n] = rotate(x, y);
  out[i + 7 * n] = mad_sat(x >> 12, y >> 12, x);
  out[i + 8 * n] = mul24(x & 0xffffff, y & 0xffffff);
  out[i + 9 * n] = upsample((ushort)x, (ushort)y);
  out[i + 10 * n] = popcount(x & y);
  out[i + 11 * n] = clz(x >> (y & 31));
}

kernel void long_builtins(global const long* a, global const long* b, global long* out) {
  int i = get_global_id(0), n = get_global_size(0);
  long x = a[i], y = b[i];
  out[i] = (long)abs(x);
  out[i + n] = (long)abs_diff(x, y);
  out[i + 2 * n] = add_sat(x, y);
  out[i + 3 * n] = sub_sat(x, y);
  out[i + 4 * n] = hadd(x, y);
  out[i + 5 * n] = rhadd(x, y);
  out[i + 6 * n] = mul_hi(x, y);
  out[i + 7 * n] = rotate(x, y);
  out[i + 8 * n] = clz(x);
  out[i + 9 * n] = popcount(x);
  out[i + 10 * n] = (long)mul_hi((ulong)x, (ulong)y);
  out[i + 11 * n] = clamp(x, y * (y < 0), y * (y > 0));
}

kernel void narrow_builtins(global const char* a, global const char* b, global char* out, global ushort* wide) {
  int i = get_global_id(0), n = get_global_size(0);
  char x = a[i], y = b[i];
  uchar p = as_uchar(x), q = as_uchar(y);
  out[i] = add_sat(x, y);
  out[i + n] = sub_sat(x, y);
  out[i + 2 * n] = as_char(add_sat(p, q));
  out[i + 3 * n] = as_char(sub_sat(p, q));
  out[i + 4 * n] = hadd(x, y);
  out[i + 5 * n] = as_char(rhadd(p, q));
  out[i + 6 * n] = as_char(abs_diff(x, y));
  out[i + 7 * n] = mul_hi(x, y);
  out[i + 8 * n] = rotate(x, y);
  out[i + 9 * n] = clz(x);
  out[i + 10 * n] = popcount(x);
  wide[i] = upsample(p, q);
  wide[i + n] = add_sat((ushort)(p * 257), (ushort)(q * 129));
  wide[i + 2 * n] = rotate((ushort)(p * 257), (ushort)q);
  wide[i + 3 * n] = clz((ushort)q);
  wide[i + 4 * n] = mul_hi((ushort)(p * 257), (ushort)(q * 257));
}

kernel void crc_bitwise(global const uchar* in, global uint* out, int length) {
  uint crc = ~0u;
  global const uchar* p = in + get_global_id(0) * length;
  for (int k = 0; k < length; ++k) {
    crc ^= p[k];
    for (int b = 0; b < 8; ++b) crc = (crc >> 1) ^ (0xedb88320u & -(crc & 1));
  }
  out[get_global_id(0)] = ~crc;
}

// The table is made by the group first.
kernel void crc_table(global const uchar* in, global uint* out, int length) {
  local uint table[256];
  for (uint v = get_local_id(0); v < 256; v += get_local_size(0)) {
    uint c = v;
    for (int b = 0; b < 8; ++b) c = c & 1 ? 0xedb88320u ^ (c >> 1) : c >> 1;
    table[v] = c;
  }
  barrier(CLK_LOCAL_MEM_FENCE);
  uint crc = 0xffffffff;
  for (int k = 0; k < length; ++k) crc = table[(crc ^ in[get_global_id(0) * length + k]) & 255] ^ (crc >> 8);
  out[get_global_id(0)] = crc ^ 0xffffffff;
}

kernel void hashes(global const uint* in, global uint* fnv, global uint* mixed, global ulong* wide) {
  int i = get_global_id(0);
  uint v = in[i], h = 2166136261u;
  for (int b = 0; b < 4; ++b) h = (h ^ ((v >> (8 * b)) & 255)) * 16777619u;
  fnv[i] = h;
  v *= 0xcc9e2d51u;
  v = rotate(v, 15u) * 0x1b873593u;
  v = rotate(v ^ h, 13u) * 5 + 0xe6546b64u;
  v ^= v >> 16;
  v *= 0x85ebca6bu;
  v ^= v >> 13;
  v *= 0xc2b2ae35u;
  mixed[i] = v ^ (v >> 16);
  ulong z = ((ulong)v << 32 | h) + 0x9e3779b97f4a7c15ul;
  z = (z ^ (z >> 30)) * 0xbf58476d1ce4e5b9ul;
  z = (z ^ (z >> 27)) * 0x94d049bb133111ebul;
  wide[i] = z ^ (z >> 31);
}

uint spread(uint x) {
  x = (x | (x << 8)) & 0x00ff00ff;
  x = (x | (x << 4)) & 0x0f0f0f0f;
  x = (x | (x << 2)) & 0x33333333;
  return (x | (x << 1)) & 0x55555555;
}

kernel void bit_orders(global const uint* in, global uint* out) {
  int i = get_global_id(0), n = get_global_size(0);
  uint v = in[i];
  out[i] = spread(v & 0xffff) | (spread(v >> 16) << 1);
  out[i + n] = v ^ (v >> 1);
  uint r = 0;
  for (int b = 0; b < 32; ++b) r |= ((v >> b) & 1) << (31 - b);
  out[i + 2 * n] = r;
  out[i + 3 * n] = (v << 24) | ((v & 0xff00) << 8) | ((v >> 8) & 0xff00) | (v >> 24);
  uint count = 0;
  for (uint w = v; w; w &= w - 1) ++count;
  out[i + 4 * n] = count;
  out[i + 5 * n] = v & -v;
}

constant uint sha_k[64] = {
    0x428a2f98, 0x71374491, 0xb5c0fbcf, 0xe9b5dba5, 0x3956c25b, 0x59f111f1, 0x923f82a4, 0xab1c5ed5, 0xd807aa98, 0x12835b01, 0x243185be,
    0x550c7dc3, 0x72be5d74, 0x80deb1fe, 0x9bdc06a7, 0xc19bf174, 0xe49b69c1, 0xefbe4786, 0x0fc19dc6, 0x240ca1cc, 0x2de92c6f, 0x4a7484aa,
    0x5cb0a9dc, 0x76f988da, 0x983e5152, 0xa831c66d, 0xb00327c8, 0xbf597fc7, 0xc6e00bf3, 0xd5a79147, 0x06ca6351, 0x14292967, 0x27b70a85,
    0x2e1b2138, 0x4d2c6dfc, 0x53380d13, 0x650a7354, 0x766a0abb, 0x81c2c92e, 0x92722c85, 0xa2bfe8a1, 0xa81a664b, 0xc24b8b70, 0xc76c51a3,
    0xd192e819, 0xd6990624, 0xf40e3585, 0x106aa070, 0x19a4c116, 0x1e376c08, 0x2748774c, 0x34b0bcb5, 0x391c0cb3, 0x4ed8aa4a, 0x5b9cca4f,
    0x682e6ff3, 0x748f82ee, 0x78a5636f, 0x84c87814, 0x8cc70208, 0x90befffa, 0xa4506ceb, 0xbef9a3f7, 0xc67178f2};

// One block of SHA-256 (FIPS 180-4).
kernel void sha256(global const uint* message, global uint* digest) {
  uint w[16];
  uint s[8] = {0x6a09e667, 0xbb67ae85, 0x3c6ef372, 0xa54ff53a, 0x510e527f, 0x9b05688c, 0x1f83d9ab, 0x5be0cd19};
  int i = get_global_id(0);
  for (int k = 0; k < 16; ++k) w[k] = message[i * 16 + k];
  uint a = s[0], b = s[1], c = s[2], d = s[3], e = s[4], f = s[5], g = s[6], h = s[7];
  for (int k = 0; k < 64; ++k) {
    if (k >= 16) {
      uint x = w[(k + 1) & 15], y = w[(k + 14) & 15];
      w[k & 15] += (rotate(x, 25u) ^ rotate(x, 14u) ^ (x >> 3)) + w[(k + 9) & 15] +
                   (rotate(y, 15u) ^ rotate(y, 13u) ^ (y >> 10));
    }
    uint t1 = h + (rotate(e, 26u) ^ rotate(e, 21u) ^ rotate(e, 7u)) + bitselect(g, f, e) + sha_k[k] + w[k & 15];
    uint t2 = (rotate(a, 30u) ^ rotate(a, 19u) ^ rotate(a, 10u)) + bitselect(a, b, c ^ a);
    h = g;
    g = f;
    f = e;
    e = d + t1;
    d = c;
    c = b;
    b = a;
    a = t1 + t2;
  }
  uint r[8] = {a, b, c, d, e, f, g, h};
  for (int k = 0; k < 8; ++k) digest[i * 8 + k] = s[k] + r[k];
}

// XTEA, the reference's 32 rounds.
kernel void cipher(global uint2* data, constant uint* key) {
  uint2 v = data[get_global_id(0)];
  uint sum = 0;
  for (int r = 0; r < 32; ++r) {
    v.x += (((v.y << 4) ^ (v.y >> 5)) + v.y) ^ (sum + key[sum & 3]);
    sum += 0x9e3779b9u;
    v.y += (((v.x << 4) ^ (v.x >> 5)) + v.x) ^ (sum + key[(sum >> 11) & 3]);
  }
  data[get_global_id(0)] = v;
}

#define QUARTER(a, b, c, d)           \
  v[a] += v[b];                       \
  v[d] = rotate(v[d] ^ v[a], 16u);    \
  v[c] += v[d];                       \
  v[b] = rotate(v[b] ^ v[c], 12u);    \
  v[a] += v[b];                       \
  v[d] = rotate(v[d] ^ v[a], 8u);     \
  v[c] += v[d];                       \
  v[b] = rotate(v[b] ^ v[c], 7u);
kernel void chacha(global const uint* key, global uint* out) {
  uint v[16], first[16];
  for (int k = 0; k < 16; ++k) first[k] = v[k] = k == 12 ? (uint)get_global_id(0) : key[k];
  for (int r = 0; r < 10; ++r) {
    QUARTER(0, 4, 8, 12)
    QUARTER(1, 5, 9, 13)
    QUARTER(2, 6, 10, 14)
    QUARTER(3, 7, 11, 15)
    QUARTER(0, 5, 10, 15)
    QUARTER(1, 6, 11, 12)
    QUARTER(2, 7, 8, 13)
    QUARTER(3, 4, 9, 14)
  }
  for (int k = 0; k < 16; ++k) out[get_global_id(0) * 16 + k] = v[k] + first[k];
}

kernel void base64(global const uchar* in, global uchar* out) {
  int i = get_global_id(0);
  uint v = (in[3 * i] << 16) | (in[3 * i + 1] << 8) | in[3 * i + 2];
  for (int k = 3; k >= 0; --k) {
    uint d = v & 63;
    v >>= 6;
    uchar c = d < 26 ? 'A' + d : d < 52 ? 'a' + d - 26 : d < 62 ? '0' + d - 52 : d == 62 ? '+' : '/';
    out[4 * i + k] = c;
  }
}

kernel void find_text(global const char* text, constant char* pattern, global int* hits, int n, int length) {
  int i = get_global_id(0);
  if (i + length > n) return;
  int k = 0;
  while (k < length && (text[i + k] | 32) == pattern[k]) ++k;
  if (k == length) atomic_inc(hits);
  hits[1 + i] = k;
}

kernel void parse_numbers(global const char* text, global const int* start, global int* out) {
  int i = get_global_id(0), at = start[i], value = 0;
  bool negative = text[at] == '-';
  if (negative) ++at;
  for (; text[at] >= '0' && text[at] <= '9'; ++at) value = value * 10 + (text[at] - '0');
  out[i] = negative ? -value : value;
}
