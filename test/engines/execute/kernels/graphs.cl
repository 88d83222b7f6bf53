// Sparse matrices and graphs: gathers, trip counts from memory, frontiers.
#pragma OPENCL FP_CONTRACT OFF

kernel void csr_row_an_item(global const int* start, global const int* column, global const float* value,
                            global const float* x, global float* y, int rows) {
  int row = get_global_id(0);
  if (row >= rows) return;
  float sum = 0;
  for (int k = start[row]; k < start[row + 1]; ++k) sum = sum + value[k] * x[column[k]];
  y[row] = sum;
}

kernel void csr_row_a_group(global const int* start, global const int* column, global const int* value,
                            global const int* x, global int* y) {
  local int part[32];
  int row = get_group_id(0), t = get_local_id(0), sum = 0;
  for (int k = start[row] + t; k < start[row + 1]; k += 32) sum += value[k] * x[column[k]];
  part[t] = sum;
  barrier(CLK_LOCAL_MEM_FENCE);
  for (int s = 16; s > 0; s >>= 1) {
    if (t < s) part[t] += part[t + s];
    barrier(CLK_LOCAL_MEM_FENCE);
  }
  if (t == 0) y[row] = part[0];
}

kernel void ell(global const int* column, global const float* value, global const float* x, global float* y, int rows,
                int width) {
  int row = get_global_id(0);
  if (row < rows) {
    float sum = 0;
    for (int k = 0; k < width; ++k) {
      int c = column[k * rows + row];
      if (c < 0) break;
      sum = sum + value[k * rows + row] * x[c];
    }
    y[row] = sum;
  }
}

kernel void coo(global const int* row, global const int* column, global const int* value, global const int* x,
                global int* y, int n) {
  for (int k = get_global_id(0); k < n; k += get_global_size(0)) atomic_add(&y[row[k]], value[k] * x[column[k]]);
}

kernel void bfs_step(global const int* start, global const int* edge, global int* level, global int* again, int nodes,
                     int current) {
  int v = get_global_id(0);
  if (v >= nodes || level[v] != current) return;
  for (int k = start[v]; k < start[v + 1]; ++k) {
    int w = edge[k];
    if (atomic_cmpxchg(&level[w], -1, current + 1) == -1) atomic_or(again, 1);
  }
}

kernel void bfs_pull(global const int* start, global const int* edge, global const int* level, global int* next,
                     int nodes, int current) {
  int v = get_global_id(0);
  if (v >= nodes) return;
  int mine = level[v];
  if (mine < 0)
    for (int k = start[v]; k < start[v + 1]; ++k)
      if (level[edge[k]] == current) {
        mine = current + 1;
        break;
      }
  next[v] = mine;
}

kernel void relax(global const int* start, global const int* edge, global const int* weight, global const int* distance,
                  global int* next, int nodes) {
  int v = get_global_id(0);
  if (v >= nodes) return;
  int d = distance[v];
  if (d == INT_MAX) return;
  for (int k = start[v]; k < start[v + 1]; ++k) atomic_min(&next[edge[k]], d + weight[k]);
}

kernel void rank_step(global const int* start, global const int* edge, global const float* rank, global float* next,
                      int nodes) {
  int v = get_global_id(0);
  if (v >= nodes) return;
  float sum = 0;
  for (int k = start[v]; k < start[v + 1]; ++k) {
    int w = edge[k];
    int degree = start[w + 1] - start[w];
    if (degree > 0) sum = sum + rank[w] / degree;
  }
  next[v] = 0.15f / nodes + 0.85f * sum;
}

// Common neighbours of the ends of each edge by merging two sorted lists.
kernel void triangles(global const int* start, global const int* edge, global uint* count, int nodes) {
  int v = get_global_id(0);
  if (v >= nodes) return;
  uint found = 0;
  for (int k = start[v]; k < start[v + 1]; ++k) {
    int w = edge[k];
    if (w <= v) continue;
    int i = start[v], j = start[w];
    while (i < start[v + 1] && j < start[w + 1]) {
      int a = edge[i], b = edge[j];
      if (a == b) {
        found += a > w;
        ++i;
        ++j;
      } else if (a < b) {
        ++i;
      } else {
        ++j;
      }
    }
  }
  count[v] = found;
}

// Follows parents to the root.
kernel void find_roots(global const int* parent, global int* root, global int* depth, int n) {
  int v = get_global_id(0);
  if (v >= n) return;
  int at = v, steps = 0;
  while (parent[at] != at && steps < n) {
    at = parent[at];
    steps++;
  }
  root[v] = at;
  depth[v] = steps;
}

// Row of each stored element by binary search in the row starts.
kernel void expand_rows(global const int* start, global int* row, int rows, int stored) {
  int k = get_global_id(0);
  if (k >= stored) return;
  int low = 0, high = rows;
  while (high - low > 1) {
    int middle = (low + high) >> 1;
    if (start[middle] <= k)
      low = middle;
    else
      high = middle;
  }
  row[k] = low;
}
