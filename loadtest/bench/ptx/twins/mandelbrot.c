#include "twin.h"

static void mandelbrot(int *counts, int width, int height, float left, float top, float step, int limit) {
  for (int y = 0; y < height; ++y)
    for (int x = 0; x < width; ++x) {
      float cr = left + x * step, ci = top + y * step, r = 0.f, i = 0.f;
      int count = 0;
      while (count < limit && r * r + i * i <= 4.f) {
        float next = r * r - i * i + cr;
        i = 2.f * r * i + ci;
        r = next;
        ++count;
      }
      counts[y * width + x] = count;
    }
}

static void twin(void) {
  mandelbrot(INTS(0), INT(1), INT(2), FLOAT(3), FLOAT(4), FLOAT(5), INT(6));
}
