// Rotary position embedding in place: pairs turned by position times a frequency. Angles of hundreds of thousands take
// sincosf's slow path; the frequencies are also computed by powf.
extern "C" __global__ void rotary(float2* x, const float* frequencies, float* powers, int pairs, int start, float base) {
  int p = threadIdx.x, position = start + blockIdx.x * 37;
  if (p >= pairs) return;
  float angle = __fmul_rn((float)position, frequencies[p]);
  float s, c;
  sincosf(angle, &s, &c);
  float2 v = x[blockIdx.x * pairs + p];
  x[blockIdx.x * pairs + p] = make_float2(v.x * c - v.y * s, v.x * s + v.y * c);
  if (blockIdx.x == 0) powers[p] = powf(base, -(float)p / (float)pairs);
}
