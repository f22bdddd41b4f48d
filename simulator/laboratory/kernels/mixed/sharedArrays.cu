// Several arrays of different types carved out of one dynamic shared memory, beside static ones, and a union of views.
extern "C" __global__ void sharedArrays(const float* values, double* sums, int* order, unsigned char* flags, int count,
                                        int doubles) {
  extern __shared__ __align__(16) unsigned char arena[];
  __shared__ int fixed[32];
  double* d = reinterpret_cast<double*>(arena);
  float* f = reinterpret_cast<float*>(d + doubles);
  short* s = reinterpret_cast<short*>(f + count);
  unsigned char* c = reinterpret_cast<unsigned char*>(s + count);
  int t = threadIdx.x;
  fixed[t & 31] = 0;
  if (t < doubles) d[t] = 0.5 * t;
  if (t < count) {
    f[t] = values[blockIdx.x * count + t];
    c[t] = 0;
  }
  __syncthreads();
  if (t < count) {
    int rank = 0;
    for (int i = 0; i < count; i++) rank += f[i] < f[t] || (f[i] == f[t] && i < t);
    s[rank] = t;
    c[rank] = f[t] > 0.0f;
    atomicAdd(&fixed[rank & 31], t);
  }
  __syncthreads();
  if (t < doubles)
    for (int i = t; i < count; i += doubles) d[t] += (double)f[s[i]];
  __syncthreads();
  if (t < doubles) sums[blockIdx.x * doubles + t] = d[doubles - 1 - t] + fixed[t];
  if (t < count) {
    order[blockIdx.x * count + t] = s[t];
    flags[blockIdx.x * count + t] = c[t];
  }
}
