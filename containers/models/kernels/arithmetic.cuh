// What the library's kernels share. Sums run in a fixed order whatever the batch, so an item's result never depends on
// its neighbours, and two runs agree bit for bit.
#pragma once

// Values of the `activation` argument.
constexpr int RELU = 1, LOGISTIC = 2, TANH = 3;

// e^x within 1 unit in the last place; 0 below -708, infinity above 709. Plain products and sums: a fused multiply-add
// costs the simulator's host several times as much.
__device__ __forceinline__ double exponential(double x) {
  if (x < -708.0) return 0.0;
  if (x > 709.0) return __longlong_as_double(0x7ff0000000000000LL);
  const double shifted = x * 1.4426950408889634 + 6755399441055744.0;  // rounds to a whole number in the low bits
  const double n = shifted - 6755399441055744.0;
  const double r = (x - n * 6.93147180369123816490e-01) - n * 1.90821492927058770002e-10;
  double p = 1.6059043836821613e-10;
  p = p * r + 2.08767569878681e-09;
  p = p * r + 2.505210838544172e-08;
  p = p * r + 2.755731922398589e-07;
  p = p * r + 2.7557319223985893e-06;
  p = p * r + 2.48015873015873e-05;
  p = p * r + 0.0001984126984126984;
  p = p * r + 0.001388888888888889;
  p = p * r + 0.008333333333333333;
  p = p * r + 0.041666666666666664;
  p = p * r + 0.16666666666666666;
  p = p * r + 0.5;
  const double e = 1.0 + (r + r * r * p);
  return e * __longlong_as_double((1023LL + static_cast<long long>(__double2int_rn(n))) << 52);
}

__device__ __forceinline__ double activated(double x, int activation) {
  if (activation == RELU) return x > 0.0 ? x : 0.0;
  if (activation == LOGISTIC) return 1.0 / (1.0 + exponential(-x));
  if (activation == TANH) {
    const double e = exponential(-2.0 * fabs(x));
    return copysign((1.0 - e) / (1.0 + e), x);
  }
  return x;
}

__device__ __forceinline__ float activated(float x, int activation) {
  if (activation == RELU) return fmaxf(x, 0.f);
  return activation == 0 ? x : static_cast<float>(activated(static_cast<double>(x), activation));
}

// Four neighbouring values, loaded with 16 bytes an instruction. `from` must be aligned to 16 bytes.
template <typename T>
struct Four {
  T a, b, c, d;
};
__device__ __forceinline__ Four<float> loadFour(const float* __restrict__ from) {
  const float4 v = *reinterpret_cast<const float4*>(from);
  return {v.x, v.y, v.z, v.w};
}
__device__ __forceinline__ Four<double> loadFour(const double* __restrict__ from) {
  const double2 u = reinterpret_cast<const double2*>(from)[0], v = reinterpret_cast<const double2*>(from)[1];
  return {u.x, u.y, v.x, v.y};
}
