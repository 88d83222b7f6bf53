// Sorting, merging and searching.
kernel void bitonic_local(global const int* in, global int* out) {
  local int v[256];
  int t = get_local_id(0), base = get_group_id(0) * 256;
  v[t] = in[base + t];
  v[t + 128] = in[base + t + 128];
  for (int size = 2; size <= 256; size *= 2)
    for (int stride = size / 2; stride > 0; stride /= 2) {
      barrier(CLK_LOCAL_MEM_FENCE);
      int i = 2 * t - (t & (stride - 1));
      bool up = (i & size) == 0;
      int a = v[i], b = v[i + stride];
      if ((a > b) == up) {
        v[i] = b;
        v[i + stride] = a;
      }
    }
  barrier(CLK_LOCAL_MEM_FENCE);
  out[base + t] = v[t];
  out[base + t + 128] = v[t + 128];
}

kernel void bitonic_global_step(global uint* keys, global uint* values, uint size, uint stride) {
  uint t = get_global_id(0);
  uint i = (t / stride) * 2 * stride + t % stride, j = i + stride;
  uint a = keys[i], b = keys[j];
  if ((a < b) != ((i & size) == 0)) {
    keys[i] = b;
    keys[j] = a;
    uint swap = values[i];
    values[i] = values[j];
    values[j] = swap;
  }
}

kernel void odd_even(global short* data, int n) {
  local short v[90];
  int t = get_local_id(0), base = get_group_id(0) * n;
  for (int i = t; i < n; i += get_local_size(0)) v[i] = data[base + i];
  barrier(CLK_LOCAL_MEM_FENCE);
  for (int pass = 0; pass < n; ++pass) {
    int i = 2 * t + (pass & 1);
    if (i + 1 < n && v[i] > v[i + 1]) {
      short swap = v[i];
      v[i] = v[i + 1];
      v[i + 1] = swap;
    }
    barrier(CLK_LOCAL_MEM_FENCE);
  }
  for (int i = t; i < n; i += get_local_size(0)) data[base + i] = v[i];
}

// One pass of a radix sort by four bits: local counts, scan of digits, stable scatter within the group.
kernel void radix_pass(global const uint* in, global uint* out, int shift) {
  local uint digit[64];
  local int first[16];
  int t = get_local_id(0), base = get_group_id(0) * 64;
  uint key = in[base + t], d = (key >> shift) & 15;
  digit[t] = d;
  barrier(CLK_LOCAL_MEM_FENCE);
  if (t < 16) {
    int less = 0;
    for (int i = 0; i < 64; ++i) less += digit[i] < t;
    first[t] = less;
  }
  barrier(CLK_LOCAL_MEM_FENCE);
  int before = 0;
  for (int i = 0; i < t; ++i)
    if (digit[i] == d) before++;
  out[base + first[d] + before] = key;
}

kernel void rank_sort(global const float* in, global float* out, int n) {
  int i = get_global_id(0);
  if (i >= n) return;
  float v = in[i];
  int rank = 0;
  for (int j = 0; j < n; ++j) rank += in[j] < v || (in[j] == v && j < i);
  out[rank] = v;
}

kernel void insertion_sort(global int* data) {
  int v[12];
  int base = get_global_id(0) * 12;
  for (int i = 0; i < 12; ++i) v[i] = data[base + i];
  for (int i = 1; i < 12; ++i) {
    int x = v[i], j = i - 1;
    while (j >= 0 && v[j] > x) {
      v[j + 1] = v[j];
      --j;
    }
    v[j + 1] = x;
  }
  for (int i = 0; i < 12; ++i) data[base + i] = v[i];
}

kernel void heap_sort(global int* data, int n) {
  global int* v = data + get_global_id(0) * n;
  for (int top = n / 2 - 1, end = n; end > 1;) {
    int x;
    if (top >= 0) {
      x = v[top];
    } else {
      --end;
      x = v[end];
      v[end] = v[0];
    }
    int hole = top >= 0 ? top : 0;
    for (int child; (child = 2 * hole + 1) < end; hole = child) {
      if (child + 1 < end && v[child + 1] > v[child]) child++;
      if (v[child] <= x) break;
      v[hole] = v[child];
    }
    v[hole] = x;
    if (top >= 0) --top;
  }
}

// Quicksort with a stack of its own in private memory.
kernel void quick_sort(global int* data, int n) {
  global int* v = data + get_global_id(0) * n;
  int stack[32];
  int depth = 0;
  stack[depth++] = 0;
  stack[depth++] = n - 1;
  while (depth > 0) {
    int high = stack[--depth], low = stack[--depth];
    if (low >= high) continue;
    int pivot = v[(low + high) / 2], i = low, j = high;
    while (i <= j) {
      while (v[i] < pivot) ++i;
      while (v[j] > pivot) --j;
      if (i <= j) {
        int swap = v[i];
        v[i++] = v[j];
        v[j--] = swap;
      }
    }
    if (j - low > high - i) {
      stack[depth++] = low;
      stack[depth++] = j;
      stack[depth++] = i;
      stack[depth++] = high;
    } else {
      stack[depth++] = i;
      stack[depth++] = high;
      stack[depth++] = low;
      stack[depth++] = j;
    }
  }
}

int lower_bound(global const int* v, int n, int x) {
  int low = 0;
  while (n > 0) {
    int step = n / 2;
    if (v[low + step] < x) {
      low += step + 1;
      n -= step + 1;
    } else {
      n = step;
    }
  }
  return low;
}

kernel void search(global const int* sorted, global const int* wanted, global int* found, int n) {
  int i = get_global_id(0), low = 0, high = n - 1;
  int at = -1;
  while (low <= high) {
    int middle = low + (high - low) / 2, v = sorted[middle];
    if (v == wanted[i]) {
      at = v;
      break;
    }
    if (v < wanted[i])
      low = middle + 1;
    else
      high = middle - 1;
  }
  found[i] = at >= 0 ? at : -low - 1;
}

// Each work-item finds where its part of the output begins in both inputs, then merges.
kernel void merge_path(global const int* a, global const int* b, global int* out, int na, int nb, int part) {
  int diagonal = get_global_id(0) * part;
  if (diagonal >= na + nb) return;
  int low = max(0, diagonal - nb), high = min(diagonal, na);
  while (low < high) {
    int middle = (low + high) / 2;
    if (a[middle] <= b[diagonal - 1 - middle])
      low = middle + 1;
    else
      high = middle;
  }
  int i = low, j = diagonal - low;
  for (int k = 0; k < part && diagonal + k < na + nb; ++k) {
    bool take = i < na && (j >= nb || a[i] <= b[j]);
    out[diagonal + k] = take ? a[i++] : b[j++];
  }
}

kernel void merge_by_rank(global const int* a, global const int* b, global int* out, int na, int nb) {
  int i = get_global_id(0);
  if (i < na) {
    out[i + lower_bound(b, nb, a[i])] = a[i];
  } else if (i < na + nb) {
    i -= na;
    out[i + lower_bound(a, na, b[i] + 1)] = b[i];
  }
}
