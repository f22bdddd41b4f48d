// After the programs of the Parboil suite, written anew.
#include "corpus.cuh"

// A and C column-major.
KERNEL sgemmNt(float *RESTRICT c, const float *RESTRICT a, const float *RESTRICT b, idx m, idx n, idx k) {
  idx row = (idx)blockIdx.x * blockDim.x + threadIdx.x, col = (idx)blockIdx.y * blockDim.y + threadIdx.y;
  if (row >= m || col >= n) return;
  float sum = 0.0f;
  LOOP for (idx i = 0; i < k; i++) sum += a[row + i * m] * b[col + i * n];
  c[row + col * m] = sum;
}

KERNEL spmvJds(float *RESTRICT y, const float *RESTRICT values, const int *RESTRICT columns, const int *RESTRICT starts,
               const float *RESTRICT x, const int *RESTRICT order, idx rows, idx diagonals) {
  idx row = GLOBAL_ID;
  if (row >= rows) return;
  float sum = 0.0f;
  LOOP for (idx d = 0; d < diagonals; d++) {
    int at = starts[d] + (int)row;
    sum += values[at] * x[columns[at]];
  }
  y[order[row]] = sum;
}

KERNEL spmvCsr(float *RESTRICT y, const float *RESTRICT values, const int *RESTRICT columns, const int *RESTRICT starts,
               const float *RESTRICT x, idx rows) {
  idx row = GLOBAL_ID;
  if (row >= rows) return;
  float sum = 0.0f;
  LOOP for (int e = starts[row]; e < starts[row + 1]; e++) sum += values[e] * x[columns[e]];
  y[row] = sum;
}

// Rows padded to one length: only what it gathers is unknown.
KERNEL spmvEll(float *RESTRICT y, const float *RESTRICT values, const int *RESTRICT columns, const float *RESTRICT x, idx rows,
               idx longest) {
  idx row = GLOBAL_ID;
  if (row >= rows) return;
  float sum = 0.0f;
  LOOP for (idx i = 0; i < longest; i++) sum += values[i * rows + row] * x[columns[i * rows + row]];
  y[row] = sum;
}

KERNEL stencil7(float *RESTRICT next, const float *RESTRICT now, float c0, float c1, idx nx, idx ny, idx nz) {
  idx x = (idx)blockIdx.x * blockDim.x + threadIdx.x + 1, y = (idx)blockIdx.y + 1;
  if (x >= nx - 1) return;
  LOOP for (idx z = 1; z < nz - 1; z++) {
    idx at = x + nx * (y + ny * z);
    next[at] = c1 * (now[at + 1] + now[at - 1] + now[at + nx] + now[at - nx] + now[at + nx * ny] + now[at - nx * ny]) -
               c0 * now[at];
  }
}

KERNEL sad4x4(unsigned short *RESTRICT out, const unsigned char *RESTRICT frame, const unsigned char *RESTRICT reference,
              idx width, idx blocksX, idx positions) {
  idx at = threadIdx.x, bx = blockIdx.x, by = blockIdx.y;
  if (at >= positions) return;
  unsigned sum = 0;
  for (int y = 0; y < 4; y++)
    for (int x = 0; x < 4; x++) {
      int a = frame[(by * 4 + y) * width + bx * 4 + x], b = reference[(by * 4 + y) * width + bx * 4 + x + at];
      sum += abs(a - b);
    }
  out[(by * blocksX + bx) * positions + at] = (unsigned short)sum;
}

KERNEL histoMain(unsigned *bins, const unsigned *RESTRICT image, idx n, idx binCount) {
  idx stride = (idx)gridDim.x * blockDim.x;
  LOOP for (idx i = GLOBAL_ID; i < n; i += stride) atomicAdd(bins + image[i] % binCount, 1u);
}

KERNEL histoSaturate(unsigned char *RESTRICT out, const unsigned *RESTRICT bins, idx n) {
  idx i = GLOBAL_ID;
  if (i < n) out[i] = (unsigned char)min(bins[i], 255u);
}

KERNEL mriPhi(float *RESTRICT magnitude, const float *RESTRICT real, const float *RESTRICT imaginary, idx n) {
  idx i = GLOBAL_ID;
  if (i < n) magnitude[i] = real[i] * real[i] + imaginary[i] * imaginary[i];
}

struct Sample {
  float kx, ky, kz, magnitude;
};

KERNEL mriQ(float *RESTRICT real, float *RESTRICT imaginary, const float *RESTRICT x, const float *RESTRICT y,
            const float *RESTRICT z, const Sample *RESTRICT samples, idx count, idx sampleCount) {
  idx i = GLOBAL_ID;
  if (i >= count) return;
  float re = 0.0f, im = 0.0f;
  LOOP for (idx s = 0; s < sampleCount; s++) {
    Sample k = samples[s];
    float angle = 6.2831853f * (k.kx * x[i] + k.ky * y[i] + k.kz * z[i]);
    re += k.magnitude * __cosf(angle);
    im += k.magnitude * __sinf(angle);
  }
  real[i] = re;
  imaginary[i] = im;
}

// The accumulating form: it adds to what earlier launches have left.
KERNEL mriQAccumulate(float *real, const float *RESTRICT x, const Sample *RESTRICT samples, idx count, idx sampleCount) {
  idx i = GLOBAL_ID;
  if (i >= count) return;
  float re = real[i];
  LOOP for (idx s = 0; s < sampleCount; s++) re += samples[s].magnitude * __cosf(samples[s].kx * x[i]);
  real[i] = re;
}

// Gathers the samples of a cell, whose range stands in memory.
KERNEL gridCells(float *RESTRICT grid, const float *RESTRICT values, const int *RESTRICT starts, idx cells) {
  idx cell = GLOBAL_ID;
  if (cell >= cells) return;
  float sum = 0.0f;
  LOOP for (int s = starts[cell]; s < starts[cell + 1]; s++) sum += values[s];
  grid[cell] = sum;
}

KERNEL reorderSamples(float *RESTRICT out, const float *RESTRICT in, const int *RESTRICT order, idx n) {
  idx i = GLOBAL_ID;
  if (i < n) out[i] = in[order[i]];
}

KERNEL cutoffPotential(float *RESTRICT grid, const float4 *RESTRICT atoms, idx width, idx height, idx count, float cutoff) {
  idx x = (idx)blockIdx.x * blockDim.x + threadIdx.x, y = (idx)blockIdx.y * blockDim.y + threadIdx.y;
  if (x >= width || y >= height) return;
  float sum = 0.0f;
  LOOP for (idx a = 0; a < count; a++) {
    float4 atom = atoms[a];
    float dx = x * 0.5f - atom.x, dy = y * 0.5f - atom.y, r2 = dx * dx + dy * dy + atom.z * atom.z;
    if (r2 < cutoff) sum += atom.w * rsqrtf(r2 + 0.01f);
  }
  grid[y * width + x] = sum;
}

// Pairs of points by distance, through a search in the borders of the bins.
KERNEL angularBins(int *RESTRICT out, const float *RESTRICT angles, const float *RESTRICT borders, idx n, idx bins) {
  idx i = GLOBAL_ID;
  if (i >= n) return;
  idx low = 0, high = bins;
  LOOP while (high > low + 1) {
    idx middle = (low + high) / 2;
    if (angles[i] >= borders[middle]) low = middle;
    else high = middle;
  }
  out[i] = (int)low;
}

// One step of a lattice of three densities, from one grid to the other.
KERNEL latticeStep(float *RESTRICT to, const float *RESTRICT from, idx cells, float omega) {
  idx i = GLOBAL_ID;
  if (i < 1 || i >= cells - 1) return;
  float rest = from[i], right = from[cells + i - 1], left = from[2 * cells + i + 1];
  float density = rest + right + left;
  to[i] = rest + omega * (density * 0.5f - rest);
  to[cells + i] = right + omega * (density * 0.25f - right);
  to[2 * cells + i] = left + omega * (density * 0.25f - left);
}

KERNEL bfsQueue(int *queue, int *tail, const int *RESTRICT starts, const int *RESTRICT edges, int *colour,
                const int *RESTRICT frontier, idx count) {
  idx i = GLOBAL_ID;
  if (i >= count) return;
  int node = frontier[i];
  for (int e = starts[node]; e < starts[node + 1]; e++)
    if (atomicExch(colour + edges[e], 1) == 0) queue[atomicAdd(tail, 1)] = edges[e];
}
