// e4m3 by e5m2 with a scale for each row and column, as quantised training does.

extern "C" __global__ void mmaEighths(const unsigned* a, const unsigned* b, const float* rowScale, const float* columnScale,
                                      float* c, int n, int k) {
  int g = threadIdx.x / 4, t = threadIdx.x % 4;
  int row = blockIdx.y * 16, column = blockIdx.x * 8;
  float d[4] = {};
  for (int at = 0; at < k; at += 32) {
    const unsigned* x = a + ((row + g) * k + at) / 4 + t;
    const unsigned* y = b + ((column + g) * k + at) / 4 + t;
    asm("mma.sync.aligned.m16n8k32.row.col.f32.e4m3.e5m2.f32 {%0,%1,%2,%3}, {%4,%5,%6,%7}, {%8,%9}, {%0,%1,%2,%3};"
        : "+f"(d[0]), "+f"(d[1]), "+f"(d[2]), "+f"(d[3])
        : "r"(x[0]), "r"(x[2 * k]), "r"(x[4]), "r"(x[2 * k + 4]), "r"(y[0]), "r"(y[4]));
  }
  for (int i = 0; i < 4; i++) {
    int at = row + g + i / 2 * 8, to = column + t * 2 + i % 2;
    c[at * n + to] = d[i] * rowScale[at] * columnScale[to];
  }
}
