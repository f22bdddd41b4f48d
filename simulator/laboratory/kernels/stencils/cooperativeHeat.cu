// Many heat steps in one launch: all blocks meet at grid.sync between steps.
#include <cooperative_groups.h>
namespace cg = cooperative_groups;

extern "C" __global__ void cooperativeHeat(float* a, float* b, int width, int height, float rate, int steps) {
  cg::grid_group grid = cg::this_grid();
  for (int step = 0; step < steps; step++) {
    for (unsigned at = grid.thread_rank(); at < width * height; at += grid.size()) {
      int x = at % width, y = at / width;
      float centre = a[at];
      if (x > 0 && y > 0 && x < width - 1 && y < height - 1) {
        float around = __fadd_rn(__fadd_rn(a[at - 1], a[at + 1]), __fadd_rn(a[at - width], a[at + width]));
        centre = __fmaf_rn(rate, __fmaf_rn(-4.0f, centre, around), centre);
      }
      b[at] = centre;
    }
    grid.sync();
    float* kept = a;
    a = b;
    b = kept;
  }
}
