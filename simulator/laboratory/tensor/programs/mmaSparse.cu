// Two of four: A is packed, a word of metadata for rows g and g + 8 of a tile says which columns stayed.

extern "C" __global__ void mmaSparse(const unsigned* a, const unsigned* metadata, const unsigned* b, float* c, int n, int k) {
  int lane = threadIdx.x, g = lane / 4, t = lane % 4;
  int row = blockIdx.y * 16, column = blockIdx.x * 8;
  float d[4] = {};
  for (int at = 0; at < k; at += 16) {
    const unsigned* x = a + ((row + g) * k + at) / 4 + t;
    const unsigned* y = b + ((column + g) * k + at) / 2 + t;
    unsigned e = metadata[(blockIdx.y * (k / 16) + at / 16) * 8 + g];
    asm("mma.sp::ordered_metadata.sync.aligned.m16n8k16.row.col.f32.f16.f16.f32 "
        "{%0,%1,%2,%3}, {%4,%5}, {%6,%7}, {%0,%1,%2,%3}, %8, 0x0;"
        : "+f"(d[0]), "+f"(d[1]), "+f"(d[2]), "+f"(d[3]) : "r"(x[0]), "r"(x[2 * k]), "r"(y[0]), "r"(y[4]), "r"(e));
  }
  for (int i = 0; i < 4; i++) c[(row + g + i / 2 * 8) * n + column + t * 2 + i % 2] = d[i];
}
