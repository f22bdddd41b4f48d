// Steps of the Collatz sequence in 64 bits: loops of very different lengths in one warp; signed division and remainder.
extern "C" __global__ void collatz(const unsigned long long* starts, int* steps, unsigned long long* peaks, long long* mixed,
                                   int n) {
  int i = blockIdx.x * blockDim.x + threadIdx.x;
  if (i >= n) return;
  unsigned long long v = starts[i], peak = v;
  int count = 0;
  while (v != 1) {
    v = v % 2 == 0 ? v / 2 : 3 * v + 1;
    peak = v > peak ? v : peak;
    count++;
  }
  steps[i] = count;
  peaks[i] = peak;
  long long a = (long long)peak * (i % 2 == 0 ? 1 : -1), b = (i % 7) - 3;
  mixed[i] = b == 0 ? -1 : (a / b) * 1000 + a % b + a / 1000000007;
}
