// Global alignment of pairs of sequences (Needleman and Wunsch), a pair a work-item, a row of the table at a time. Cells
// whose letters match take the diagonal; others look for the best gap.
//
//   kernelcast converge libconverge/examples/align.cl --global 512 --block 64 --arg "length=48" \
//     --buffer "letters=65536:uniform(0,4)"

__kernel void align(__global const int* restrict letters, __global int* restrict score, int length) {
  const int id = (int)get_global_id(0);
  int row[65];
  for (int k = 0; k <= length; ++k) row[k] = -2 * k;
  for (int i = 1; i <= length; ++i) {
    const int letter = letters[(id * 97 + i) & 65535];
    int diagonal = row[0];
    row[0] = -2 * i;
    for (int k = 1; k <= length; ++k) {
      int best;
      if (letter == letters[(id * 31 + k) & 65535]) {
        best = diagonal + 3;
      } else {
        best = max(diagonal - 1, max(row[k], row[k - 1]) - 2);
      }
      diagonal = row[k];
      row[k] = best;
    }
  }
  score[id] = row[length];
}
