// xorshift128+ and PCG32 a thread, states kept between launches; a Monte Carlo count of points in the circle.
struct State {
  unsigned long long a, b, pcg;
};

__device__ unsigned long long nextXorshift(State& s) {
  unsigned long long x = s.a, y = s.b;
  s.a = y;
  x ^= x << 23;
  s.b = x ^ y ^ (x >> 17) ^ (y >> 26);
  return s.b + y;
}

__device__ unsigned nextPcg(State& s) {
  unsigned long long old = s.pcg;
  s.pcg = old * 6364136223846793005ull + 1442695040888963407ull;
  unsigned shifted = (unsigned)(((old >> 18) ^ old) >> 27), rotation = (unsigned)(old >> 59);
  return __funnelshift_r(shifted, shifted, rotation);
}

extern "C" __global__ void seedStates(State* states, unsigned long long seed) {
  int i = blockIdx.x * blockDim.x + threadIdx.x;
  unsigned long long z = seed + i * 0x9E3779B97F4A7C15ull;
  auto mix = [&z]() {
    z += 0x9E3779B97F4A7C15ull;
    unsigned long long v = (z ^ (z >> 30)) * 0xBF58476D1CE4E5B9ull;
    v = (v ^ (v >> 27)) * 0x94D049BB133111EBull;
    return v ^ (v >> 31);
  };
  State s;
  s.a = mix();
  s.b = mix();
  s.pcg = mix();
  states[i] = s;
}

extern "C" __global__ void countInside(State* states, unsigned* inside, unsigned* words, int draws) {
  int i = blockIdx.x * blockDim.x + threadIdx.x;
  State s = states[i];
  unsigned count = 0, last = 0;
  for (int d = 0; d < draws; d++) {
    unsigned long long bits = nextXorshift(s);
    double x = (double)(bits >> 11) * 0x1p-53;
    double y = (double)nextPcg(s) * 0x1p-32;
    count += __dadd_rn(__dmul_rn(x, x), __dmul_rn(y, y)) < 1.0;
    last = (unsigned)bits;
  }
  states[i] = s;
  inside[i] += count;
  words[i] = last;
}
