#include "twin.h"

/* Tile by tile, as the kernel's blocks go. */
static void transpose(const float *in, float *out, int rows, int cols) {
  float t[32][33];
  for (int by = 0; by < rows; by += 32)
    for (int bx = 0; bx < cols; bx += 32) {
      for (int j = 0; j < 32; ++j)
        for (int i = 0; i < 32; ++i)
          if (bx + i < cols && by + j < rows) t[j][i] = in[(by + j) * cols + bx + i];
      for (int j = 0; j < 32; ++j)
        for (int i = 0; i < 32; ++i)
          if (by + i < rows && bx + j < cols) out[(bx + j) * rows + by + i] = t[i][j];
    }
}

static void twin(void) {
  transpose(FLOATS(0), FLOATS(1), INT(2), INT(3));
}
