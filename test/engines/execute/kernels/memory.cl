// Where values live: private arrays, structures, constants, several local arguments, ids of all kinds.
#pragma OPENCL FP_CONTRACT OFF

kernel void private_arrays(global const int* in, global int* out, int n) {
  int v[16];
  int i = get_global_id(0);
  for (int k = 0; k < 16; ++k) v[k] = in[(i * 16 + k) % n];
  for (int k = 0; k < 16; ++k) {
    int at = (v[k] + k * i) & 15;
    int t = v[at];
    v[at] = v[15 - k];
    v[15 - k] = t + k;
  }
  uint sum = 0;
  for (int k = 15; k >= 0; --k) sum = sum * 31u + v[k];
  out[i] = (int)sum;
}

kernel void private_matrix(global const short* in, global int* out) {
  short m[4][5];
  char order[5] = {3, 1, 4, 0, 2};
  int i = get_global_id(0);
  for (int k = 0; k < 20; ++k) m[k / 5][order[k % 5]] = in[i * 20 + k];
  int trace = 0;
  for (int k = 0; k < 4; ++k) trace += m[k][(k + i) % 5] * m[(k + i) & 3][k];
  out[i] = trace;
}

typedef struct {
  float x, y;
  int kind;
  char tag;
  short weights[3];
} particle;

kernel void array_of_structures(global particle* p, global float* mass) {
  int i = get_global_id(0);
  particle mine = p[i];
  mine.x += mine.y * 0.5f;
  mine.kind = mine.kind * 2 + mine.tag;
  mine.weights[mine.kind & 1] -= 7;
  p[i].x = mine.x;
  p[i].kind = mine.kind;
  p[i].weights[1] = mine.weights[1];
  mass[i] = mine.weights[0] + mine.weights[1] + mine.weights[2] + mine.x;
}

typedef struct {
  int width, height;
  float scale;
  short steps[4];
  uchar flags;
} settings;

kernel void structure_argument(global const int* in, global float* out, settings s) {
  int x = get_global_id(0), y = get_global_id(1);
  if (x >= s.width || y >= s.height) return;
  float v = in[y * s.width + x] * s.scale;
  for (int k = 0; k < 4; ++k) v += s.steps[k] * (k + x);
  if (s.flags & 2) v = -v;
  out[y * s.width + x] = v;
}

kernel void structure_indexed(global int* out, settings s) {
  int i = get_global_id(0);
  out[i] = s.steps[i & 3] * s.width + s.height * (i % 3);
}

typedef struct {
  int key;
  int data[6];
} record;

// Whole structures are copied: to private memory, to local memory and back.
kernel void copy_structures(global const record* in, global record* out, int n) {
  local record shared_records[16];
  int t = get_local_id(0), i = get_global_id(0);
  record r = in[i];
  shared_records[t] = r;
  barrier(CLK_LOCAL_MEM_FENCE);
  record other = shared_records[(t + 1) % get_local_size(0)];
  other.data[r.key % 6] += r.data[(r.key + 1) % 6];
  out[i] = other;
}

typedef union {
  float f;
  uint u;
  uchar b[4];
} word;

kernel void unions(global const float* in, global uint* out) {
  word w;
  w.f = in[get_global_id(0)];
  w.b[get_global_id(0) & 3] ^= 0x5a;
  out[get_global_id(0)] = w.u;
}

constant int primes[10] = {2, 3, 5, 7, 11, 13, 17, 19, 23, 29};
constant char name[] = "interpreter";
constant float2 corners[3] = {(float2)(0, 1), (float2)(2, 3), (float2)(4, 5.5f)};
constant struct {
  short a;
  long b;
} pairs[3] = {{1, -1000000000000}, {2, 5}, {-3, 1l << 40}};

kernel void constants(global const int* in, global long* out, constant int* given) {
  int i = get_global_id(0), at = in[i];
  out[i] = primes[at % 10] * 1000 + name[at % 11] + given[i % 4] + pairs[at % 3].b + pairs[i % 3].a +
           (int)(corners[at % 3].y * 2);
}

kernel void local_arguments(global const int* in, global int* out, local int* a, local short* b, int rounds,
                            local double* c) {
  int t = get_local_id(0), n = get_local_size(0), i = get_global_id(0);
  a[t] = in[i];
  b[t] = (short)(in[i] * 3);
  c[t] = in[i] * 0.5;
  for (int r = 0; r < rounds; ++r) {
    barrier(CLK_LOCAL_MEM_FENCE);
    int x = a[(t + 1) % n] + b[(t + r) % n];
    double y = c[n - 1 - t];
    barrier(CLK_LOCAL_MEM_FENCE);
    a[t] = x;
    b[t] = (short)x;
    c[t] += y;
  }
  out[i] = a[t] + (int)c[t];
}

kernel void ids(global int* out) {
  int x = get_global_id(0), y = get_global_id(1), z = get_global_id(2);
  int sx = get_global_size(0), sy = get_global_size(1), sz = get_global_size(2);
  int i = (z * sy + y) * sx + x, n = sx * sy * sz;
  out[i] = get_local_id(0) + 100 * get_local_id(1) + 10000 * get_local_id(2);
  out[i + n] = get_group_id(0) + 100 * get_group_id(1) + 10000 * get_group_id(2);
  out[i + 2 * n] = get_local_size(0) + 100 * get_local_size(1) + 10000 * get_local_size(2);
  out[i + 3 * n] = get_num_groups(0) + 100 * get_num_groups(1) + 10000 * get_num_groups(2);
  out[i + 4 * n] = get_global_size(0) + 1000 * get_global_size(1) + get_global_offset(0);
}

kernel void ids_by_number(global int* out, int rounds) {
  int sum = 0;
  for (int d = 0; d < rounds; ++d) sum = sum * 37 + (int)get_global_id(d) + 5 * (int)get_local_size(d) + (int)get_group_id(d);
  out[get_global_id(1) * get_global_size(0) + get_global_id(0)] = sum;
}

kernel void reversed_range(global const int* in, global int* out) {
  int last = get_global_size(0) - 1, i = get_global_id(0);
  out[last - i] = in[i] + in[last - i];
  out[last + 1 + (i * 7 + 3) % (last + 1)] = in[(i * 5) % (last + 1)];
}

kernel void pointer_arithmetic(global const int* in, global int* out, int pitch) {
  global const int* row = in + get_global_id(1) * pitch;
  global const int *p = row + get_global_id(0), *end = row + pitch;
  int sum = 0;
  for (; p < end; p += get_global_size(0)) sum += *p;
  out[get_global_id(1) * get_global_size(0) + get_global_id(0)] = sum + (int)(p - end);
}

kernel void choose_pointer(global int* a, global int* b, global const int* in) {
  int i = get_global_id(0);
  global int* target = in[i] & 1 ? a : b;
  target[i] = in[i] * 2;
}

kernel void group_copies(global const int* in, global int* out) {
  local int tile[64];
  int g = get_group_id(0);
  event_t e = async_work_group_copy(tile, in + g * 64, 64, 0);
  wait_group_events(1, &e);
  int t = get_local_id(0);
  int v = tile[63 - t] + tile[(t * 3) & 63];
  barrier(CLK_LOCAL_MEM_FENCE);
  tile[t] = v;
  barrier(CLK_LOCAL_MEM_FENCE);
  e = async_work_group_copy(out + g * 64, tile, 64, 0);
  wait_group_events(1, &e);
}

kernel void fences(global volatile int* data, global int* out) {
  local volatile int box[32];
  int t = get_local_id(0);
  box[t] = t * 3;
  mem_fence(CLK_LOCAL_MEM_FENCE);
  int v = box[t];
  data[get_global_id(0)] = v + 1;
  mem_fence(CLK_GLOBAL_MEM_FENCE);
  out[get_global_id(0)] = data[get_global_id(0)] * 2;
}

__attribute__((noinline)) int helper(int depth, int* total, global const int* in) {
  int k = 0;
  for (; k < depth; ++k) *total += in[k] * depth;
  return k ? *total % k : -1;
}

kernel void functions(global const int* in, global int* out) {
  int total = get_global_id(0), r = helper(get_local_id(0) % 9, &total, in);
  r += helper(3, &total, in + 5);
  out[get_global_id(0)] = total * 10 + r;
}

kernel void narrow_stores(global uchar* bytes, global ushort* shorts, global bool* flags, int n) {
  int i = get_global_id(0);
  bytes[i * 3] = (uchar)(i * 17);
  shorts[i] = (ushort)(i * 4099);
  flags[i] = i % 3 == 0;
  if (i < n) bytes[i * 3 + 1] = bytes[i * 3] >> 1;
}

// Arrays so small that NVIDIA's assembler holds them in registers: index by data, by the counter of a loop that stays,
// by both, and written and read in different blocks.
kernel void small_arrays(global const int* in, global int* out, int n) {
  int i = get_global_id(0);
  int bins[4] = {1, 2, 3, 4};
#pragma unroll 1
  for (int k = 0; k < n; ++k) bins[in[(i + k) % n] & 3] += k;
  float sums[16];
  for (int k = 0; k < 16; ++k) sums[k] = (float)(k - i);
#pragma unroll 1
  for (int k = 0; k < n; ++k) {
    float x = (float)in[k];
#pragma unroll 2
    for (int j = 0; j < 16; ++j) {
      sums[j] += x;
      x += 1.0f;
    }
  }
  int pair[2];
  pair[i & 1] = i;
  pair[~i & 1] = -i;
  int turned[6];
#pragma unroll 1
  for (int k = 0; k < 6; ++k) turned[5 - k] = bins[k & 3] - k;
  int at = in[i % n] & 3;
  if (at > 1)
    turned[at] = 1000;
  else
    turned[at + 2] -= 7;
  int sum = pair[0] * 3 + pair[1] * 5;
  for (int k = 0; k < 16; ++k) sum = sum * 7 + (int)sums[k];
  for (int k = 0; k < 6; ++k) sum = sum * 11 + turned[k];
  for (int k = 0; k < 4; ++k) sum = sum * 13 + bins[k];
  out[i] = sum;
}
