// Integers of 256 bits with carry chains in inline assembly: sum, difference with borrow, and the 512-bit product.
extern "C" __global__ void bigIntegers(const unsigned* a, const unsigned* b, unsigned* sums, unsigned* differences,
                                       unsigned* products, int n) {
  int i = blockIdx.x * blockDim.x + threadIdx.x;
  if (i >= n) return;
  unsigned x[8], y[8], r[8], carry;
  for (int k = 0; k < 8; k++) {
    x[k] = a[i * 8 + k];
    y[k] = b[i * 8 + k];
  }
  asm("add.cc.u32 %0, %9, %17;\n\taddc.cc.u32 %1, %10, %18;\n\taddc.cc.u32 %2, %11, %19;\n\taddc.cc.u32 %3, %12, %20;\n\t"
      "addc.cc.u32 %4, %13, %21;\n\taddc.cc.u32 %5, %14, %22;\n\taddc.cc.u32 %6, %15, %23;\n\taddc.cc.u32 %7, %16, %24;\n\t"
      "addc.u32 %8, 0, 0;"
      : "=&r"(r[0]), "=&r"(r[1]), "=&r"(r[2]), "=&r"(r[3]), "=&r"(r[4]), "=&r"(r[5]), "=&r"(r[6]), "=&r"(r[7]), "=r"(carry)
      : "r"(x[0]), "r"(x[1]), "r"(x[2]), "r"(x[3]), "r"(x[4]), "r"(x[5]), "r"(x[6]), "r"(x[7]), "r"(y[0]), "r"(y[1]),
        "r"(y[2]), "r"(y[3]), "r"(y[4]), "r"(y[5]), "r"(y[6]), "r"(y[7]));
  for (int k = 0; k < 8; k++) sums[i * 9 + k] = r[k];
  sums[i * 9 + 8] = carry;
  asm("sub.cc.u32 %0, %9, %17;\n\tsubc.cc.u32 %1, %10, %18;\n\tsubc.cc.u32 %2, %11, %19;\n\tsubc.cc.u32 %3, %12, %20;\n\t"
      "subc.cc.u32 %4, %13, %21;\n\tsubc.cc.u32 %5, %14, %22;\n\tsubc.cc.u32 %6, %15, %23;\n\tsubc.cc.u32 %7, %16, %24;\n\t"
      "subc.u32 %8, 0, 0;"
      : "=&r"(r[0]), "=&r"(r[1]), "=&r"(r[2]), "=&r"(r[3]), "=&r"(r[4]), "=&r"(r[5]), "=&r"(r[6]), "=&r"(r[7]), "=r"(carry)
      : "r"(x[0]), "r"(x[1]), "r"(x[2]), "r"(x[3]), "r"(x[4]), "r"(x[5]), "r"(x[6]), "r"(x[7]), "r"(y[0]), "r"(y[1]),
        "r"(y[2]), "r"(y[3]), "r"(y[4]), "r"(y[5]), "r"(y[6]), "r"(y[7]));
  for (int k = 0; k < 8; k++) differences[i * 9 + k] = r[k];
  differences[i * 9 + 8] = carry;
  unsigned p[16] = {};
#pragma unroll
  for (int k = 0; k < 8; k++) {
    unsigned over = 0;
#pragma unroll
    for (int j = 0; j < 8; j++) {
      unsigned low;
      asm("mad.lo.cc.u32 %0, %2, %3, %5;\n\tmadc.hi.u32 %1, %2, %3, 0;\n\tadd.cc.u32 %0, %0, %4;\n\taddc.u32 %1, %1, 0;"
          : "=&r"(low), "=&r"(carry)
          : "r"(x[k]), "r"(y[j]), "r"(over), "r"(p[k + j]));
      p[k + j] = low;
      over = carry;
    }
    p[k + 8] = over;
  }
  for (int k = 0; k < 16; k++) products[i * 16 + k] = p[k];
}
