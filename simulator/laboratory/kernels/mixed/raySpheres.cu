// Rays against spheres: nearest hit, shading by its normal, one bounce; structures of vectors, early exits, rsqrtf.
struct Sphere {
  float3 centre;
  float radius;
  float3 colour;
  int mirror;
};

__device__ float dot(float3 a, float3 b) { return a.x * b.x + a.y * b.y + a.z * b.z; }
__device__ float3 along(float3 o, float3 d, float t) { return make_float3(o.x + d.x * t, o.y + d.y * t, o.z + d.z * t); }
__device__ float3 unit(float3 v) {
  float s = rsqrtf(dot(v, v));
  return make_float3(v.x * s, v.y * s, v.z * s);
}

extern "C" __global__ void raySpheres(const Sphere* spheres, int count, float4* image, int* hits, int width, int height) {
  int x = blockIdx.x * blockDim.x + threadIdx.x, y = blockIdx.y * blockDim.y + threadIdx.y;
  if (x >= width || y >= height) return;
  float3 o = make_float3(0, 0, -5), d = unit(make_float3((x - width * 0.5f) / width, (y - height * 0.5f) / height, 1));
  float4 sum = make_float4(0, 0, 0, 1);
  int seen = -1;
  for (int bounce = 0; bounce < 2; bounce++) {
    float nearest = 1e30f;
    int hit = -1;
    for (int s = 0; s < count; s++) {
      float3 to = make_float3(spheres[s].centre.x - o.x, spheres[s].centre.y - o.y, spheres[s].centre.z - o.z);
      float middle = dot(to, d), off = dot(to, to) - middle * middle, square = spheres[s].radius * spheres[s].radius;
      if (off > square) continue;
      float t = middle - sqrtf(square - off);
      if (t > 1e-3f && t < nearest) {
        nearest = t;
        hit = s;
      }
    }
    if (bounce == 0) seen = hit;
    if (hit < 0) {
      sum.x += 0.1f;
      break;
    }
    float3 p = along(o, d, nearest), c = spheres[hit].centre;
    float3 n = unit(make_float3(p.x - c.x, p.y - c.y, p.z - c.z));
    float light = fmaxf(0.0f, dot(n, make_float3(0.6f, -0.64f, -0.48f)));
    sum.x += light * spheres[hit].colour.x;
    sum.y += light * spheres[hit].colour.y;
    sum.z += light * spheres[hit].colour.z;
    if (!spheres[hit].mirror) break;
    d = along(d, n, -2.0f * dot(d, n));
    o = p;
  }
  image[y * width + x] = sum;
  hits[y * width + x] = seen;
}
