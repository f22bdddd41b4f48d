// Distances between binary descriptors: bits that differ, and bits that both have.

extern "C" __global__ void mmaBits(const unsigned* a, const unsigned* b, int* different, int* common, int n, int k) {
  int g = threadIdx.x / 4, t = threadIdx.x % 4;
  int row = blockIdx.y * 16, column = blockIdx.x * 8;
  int d[4] = {}, e[4] = {};
  for (int at = 0; at < k; at += 256) {
    const unsigned* x = a + ((row + g) * k + at) / 32 + t;
    const unsigned* y = b + ((column + g) * k + at) / 32 + t;
    int below = 8 * k / 32;
    asm("mma.sync.aligned.m16n8k256.row.col.s32.b1.b1.s32.xor.popc {%0,%1,%2,%3}, {%4,%5,%6,%7}, {%8,%9}, {%0,%1,%2,%3};"
        : "+r"(d[0]), "+r"(d[1]), "+r"(d[2]), "+r"(d[3])
        : "r"(x[0]), "r"(x[below]), "r"(x[4]), "r"(x[below + 4]), "r"(y[0]), "r"(y[4]));
    asm("mma.sync.aligned.m16n8k256.row.col.s32.b1.b1.s32.and.popc {%0,%1,%2,%3}, {%4,%5,%6,%7}, {%8,%9}, {%0,%1,%2,%3};"
        : "+r"(e[0]), "+r"(e[1]), "+r"(e[2]), "+r"(e[3])
        : "r"(x[0]), "r"(x[below]), "r"(x[4]), "r"(x[below + 4]), "r"(y[0]), "r"(y[4]));
  }
  for (int i = 0; i < 4; i++) {
    int at = (row + g + i / 2 * 8) * n + column + t * 2 + i % 2;
    different[at] = d[i];
    common[at] = e[i];
  }
}
