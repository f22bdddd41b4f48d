// Powers modulo odd numbers of 64 bits by Montgomery's product (mul.hi), and by 128-bit remainders.
typedef unsigned long long u64;

__device__ u64 montgomery(u64 a, u64 b, u64 modulus, u64 inverse) {
  u64 low = a * b, high = __umul64hi(a, b);
  u64 q = low * inverse, reduced = __umul64hi(q, modulus);
  u64 result = high - reduced;
  return high < reduced ? result + modulus : result;
}

extern "C" __global__ void modularPower(const u64* bases, const u64* exponents, const u64* moduli, u64* powers,
                                        u64* remainders, int n) {
  int i = blockIdx.x * blockDim.x + threadIdx.x;
  if (i >= n) return;
  u64 m = moduli[i], inverse = m;
  for (int k = 0; k < 5; k++) inverse *= 2 - m * inverse;
  u64 one = (0 - m) % m, square = one;
  for (int k = 0; k < 64; k++) square = square >= m - square ? square - (m - square) : square + square;
  u64 base = montgomery(bases[i] % m, square, m, inverse), result = one;
  for (u64 e = exponents[i]; e != 0; e >>= 1) {
    if (e & 1) result = montgomery(result, base, m, inverse);
    base = montgomery(base, base, m, inverse);
  }
  powers[i] = montgomery(result, 1, m, inverse);
  u64 rest = __umul64hi(bases[i], exponents[i]) % m, low = bases[i] * exponents[i];
  for (int bit = 63; bit >= 0; bit--) {
    bool over = rest >> 63;
    rest = (rest << 1) | ((low >> bit) & 1);
    if (over || rest >= m) rest -= m;
  }
  remainders[i] = rest;
}
