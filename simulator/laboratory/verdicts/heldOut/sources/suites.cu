// In the manner of the Rodinia and Parboil benchmarks.
#include "unseen.cuh"

struct Node { int start, edges; };
K bfsMask(const Node *R nodes, const int *R edges, bool *mask, bool *updating, const bool *R visited, int *cost, int n) {
  const int tid = blockIdx.x * 64 + threadIdx.x;
  if (tid < n && mask[tid]) {
    mask[tid] = false;
    for (int i = nodes[tid].start; i < nodes[tid].edges + nodes[tid].start; i++) {
      const int id = edges[i];
      if (!visited[id]) cost[id] = cost[tid] + 1, updating[id] = true;
    }
  }
}
K bfsLevels(const int *R rowStart, const int *R edges, const int *R levelIn, int *R levelOut, int n, int current) {
  const int v = blockIdx.x * blockDim.x + threadIdx.x;
  if (v >= n) return;
  int level = levelIn[v];
  if (level < 0)
    for (int e = rowStart[v]; e < rowStart[v + 1]; e++)
      if (levelIn[edges[e]] == current) level = current + 1;
  levelOut[v] = level;
}

#define HB 16
#define INSIDE(x, lo, hi) ((x >= (lo)) && (x <= (hi)))
K hotspotPyramid(int iteration, const float *R power, const float *R src, float *R dst, int cols, int rows, int borderCols,
                 int borderRows, float cap, float rx, float ry, float rz, float step) {
  __shared__ float tempOn[HB][HB], powerOn[HB][HB], tempT[HB][HB];
  const float stepDivCap = step / cap;
  const int bx = blockIdx.x, by = blockIdx.y, tx = threadIdx.x, ty = threadIdx.y;
  const int smallRows = HB - iteration * 2, smallCols = HB - iteration * 2;
  const int blkY = smallRows * by - borderRows, blkX = smallCols * bx - borderCols, blkYmax = blkY + HB - 1, blkXmax = blkX + HB - 1;
  const int yidx = blkY + ty, xidx = blkX + tx, index = cols * yidx + xidx;
  if (INSIDE(yidx, 0, rows - 1) && INSIDE(xidx, 0, cols - 1)) {
    tempOn[ty][tx] = src[index];
    powerOn[ty][tx] = power[index];
  }
  __syncthreads();
  const int validYmin = blkY < 0 ? -blkY : 0, validYmax = blkYmax > rows - 1 ? HB - 1 - (blkYmax - rows + 1) : HB - 1;
  const int validXmin = blkX < 0 ? -blkX : 0, validXmax = blkXmax > cols - 1 ? HB - 1 - (blkXmax - cols + 1) : HB - 1;
  int N = ty - 1, S = ty + 1, W = tx - 1, E = tx + 1;
  N = N < validYmin ? validYmin : N;
  S = S > validYmax ? validYmax : S;
  W = W < validXmin ? validXmin : W;
  E = E > validXmax ? validXmax : E;
  bool computed = false;
  for (int i = 0; i < iteration; i++) {
    computed = false;
    if (INSIDE(tx, i + 1, HB - i - 2) && INSIDE(ty, i + 1, HB - i - 2) && INSIDE(tx, validXmin, validXmax) &&
        INSIDE(ty, validYmin, validYmax)) {
      computed = true;
      tempT[ty][tx] = tempOn[ty][tx] + stepDivCap * (powerOn[ty][tx] + (tempOn[S][tx] + tempOn[N][tx] - 2 * tempOn[ty][tx]) * ry +
                                                    (tempOn[ty][E] + tempOn[ty][W] - 2 * tempOn[ty][tx]) * rx + (80 - tempOn[ty][tx]) * rz);
    }
    __syncthreads();
    if (i == iteration - 1) break;
    if (computed) tempOn[ty][tx] = tempT[ty][tx];
    __syncthreads();
  }
  if (computed) dst[index] = tempT[ty][tx];
}
K srad1(float *R eC, float *R wC, float *R nC, float *R sC, const float *R J, float *R C, int cols, int rows, float q0) {
  const int bx = blockIdx.x, by = blockIdx.y, tx = threadIdx.x, ty = threadIdx.y;
  const int index = cols * 16 * by + 16 * bx + cols * ty + tx, indexN = cols * 16 * by + 16 * bx + tx - cols,
            indexS = cols * 16 * by + 16 * bx + cols * 16 + tx, indexW = cols * 16 * by + 16 * bx + cols * ty - 1,
            indexE = cols * 16 * by + 16 * bx + cols * ty + 16;
  __shared__ float temp[16][16], north[16][16], south[16][16], east[16][16], west[16][16];
  north[ty][tx] = by == 0 ? J[16 * bx + tx] : J[indexN];
  south[ty][tx] = by == gridDim.y - 1 ? J[cols * 16 * (gridDim.y - 1) + 16 * bx + cols * 15 + tx] : J[indexS];
  west[ty][tx] = bx == 0 ? J[cols * 16 * by + cols * ty] : J[indexW];
  east[ty][tx] = bx == gridDim.x - 1 ? J[cols * 16 * by + 16 * (gridDim.x - 1) + cols * ty + 15] : J[indexE];
  __syncthreads();
  temp[ty][tx] = J[index];
  __syncthreads();
  const float jc = temp[ty][tx], n = (ty == 0 ? north[ty][tx] : temp[ty - 1][tx]) - jc,
              s = (ty == 15 ? south[ty][tx] : temp[ty + 1][tx]) - jc, w = (tx == 0 ? west[ty][tx] : temp[ty][tx - 1]) - jc,
              e = (tx == 15 ? east[ty][tx] : temp[ty][tx + 1]) - jc;
  const float g2 = (n * n + s * s + w * w + e * e) / (jc * jc), l = (n + s + w + e) / jc, num = 0.5f * g2 - l * l / 16,
              den = 1 + 0.25f * l, qsqr = num / (den * den);
  const float c = 1.0f / (1.0f + (qsqr - q0) / (q0 * (1 + q0)));
  C[index] = c < 0 ? 0 : c > 1 ? 1 : c;
  eC[index] = e, wC[index] = w, sC[index] = s, nC[index] = n;
}
K ludPerimeter(float *m, int dim, int offset) {
  __shared__ float dia[16][16], row[16][16], col[16][16];
  int idxInBlock, arrayOffset;
  if (threadIdx.x < 16) {
    idxInBlock = threadIdx.x;
    arrayOffset = offset * dim + offset;
    for (int i = 0; i < 8; i++, arrayOffset += dim) dia[i][idxInBlock] = m[arrayOffset + idxInBlock];
    arrayOffset = offset * dim + offset;
    for (int i = 0; i < 16; i++, arrayOffset += dim) row[i][idxInBlock] = m[arrayOffset + (blockIdx.x + 1) * 16 + idxInBlock];
  } else {
    idxInBlock = threadIdx.x - 16;
    arrayOffset = (offset + 8) * dim + offset;
    for (int i = 8; i < 16; i++, arrayOffset += dim) dia[i][idxInBlock] = m[arrayOffset + idxInBlock];
    arrayOffset = (offset + (blockIdx.x + 1) * 16) * dim + offset;
    for (int i = 0; i < 16; i++, arrayOffset += dim) col[i][idxInBlock] = m[arrayOffset + idxInBlock];
  }
  __syncthreads();
  if (threadIdx.x < 16) {
    for (int i = 1; i < 16; i++)
      for (int j = 0; j < i; j++) row[i][idxInBlock] -= dia[i][j] * row[j][idxInBlock];
  } else
    for (int i = 0; i < 16; i++) {
      for (int j = 0; j < i; j++) col[idxInBlock][i] -= col[idxInBlock][j] * dia[j][i];
      col[idxInBlock][i] /= dia[i][i];
    }
  __syncthreads();
  if (threadIdx.x < 16) {
    arrayOffset = (offset + 1) * dim + offset;
    for (int i = 1; i < 16; i++, arrayOffset += dim) m[arrayOffset + (blockIdx.x + 1) * 16 + idxInBlock] = row[i][idxInBlock];
  } else {
    arrayOffset = (offset + (blockIdx.x + 1) * 16) * dim + offset;
    for (int i = 0; i < 16; i++, arrayOffset += dim) m[arrayOffset + idxInBlock] = col[i][idxInBlock];
  }
}
K ludInternal(float *m, int dim, int offset) {
  __shared__ float row[16][16], col[16][16];
  const int gr = offset + (blockIdx.y + 1) * 16, gc = offset + (blockIdx.x + 1) * 16;
  row[threadIdx.y][threadIdx.x] = m[(offset + threadIdx.y) * dim + gc + threadIdx.x];
  col[threadIdx.y][threadIdx.x] = m[(gr + threadIdx.y) * dim + offset + threadIdx.x];
  __syncthreads();
  float s = 0;
  for (int i = 0; i < 16; i++) s += col[threadIdx.y][i] * row[i][threadIdx.x];
  m[(gr + threadIdx.y) * dim + gc + threadIdx.x] -= s;
}
K pathfinderPyramid(int iteration, const int *R wall, const int *R src, int *R results, int cols, int rows, int startStep,
                    int border) {
  __shared__ int prev[256], result[256];
  const int bx = blockIdx.x, tx = threadIdx.x, B = blockDim.x, smallCols = B - iteration * 2;
  const int blkX = smallCols * bx - border, blkXmax = blkX + B - 1, xidx = blkX + tx;
  const int validXmin = blkX < 0 ? -blkX : 0, validXmax = blkXmax > cols - 1 ? B - 1 - (blkXmax - cols + 1) : B - 1;
  int W = tx - 1, E = tx + 1;
  W = W < validXmin ? validXmin : W;
  E = E > validXmax ? validXmax : E;
  const bool isValid = INSIDE(tx, validXmin, validXmax);
  if (INSIDE(xidx, 0, cols - 1)) prev[tx] = src[xidx];
  __syncthreads();
  bool computed = false;
  for (int i = 0; i < iteration; i++) {
    computed = false;
    if (INSIDE(tx, i + 1, B - i - 2) && isValid) {
      computed = true;
      const int shortest = min(min(prev[W], prev[tx]), prev[E]);
      result[tx] = shortest + wall[cols * (startStep + i) + xidx];
    }
    __syncthreads();
    if (i == iteration - 1) break;
    if (computed) prev[tx] = result[tx];
    __syncthreads();
  }
  if (computed) results[xidx] = result[tx];
}
K kmeansPoint(const float *R features, int nfeatures, int npoints, int nclusters, int *R membership, const float *R clusters) {
  const unsigned block = gridDim.x * blockIdx.y + blockIdx.x, point = block * blockDim.x * blockDim.y + threadIdx.x;
  int index = -1;
  if (point < npoints) {
    float least = 3.4e38f;
    for (int i = 0; i < nclusters; i++) {
      float dist = 0;
      for (int j = 0; j < nfeatures; j++) {
        const float d = features[point + j * npoints] - clusters[i * nfeatures + j];
        dist += d * d;
      }
      if (dist < least) least = dist, index = i;
    }
    membership[point] = index;
  }
}
K layerForward(const float *R input, const float *R weights, float *R partial, int in, int hid) {
  const int by = blockIdx.y, tx = threadIdx.x, ty = threadIdx.y;
  const int index = (hid + 1) * 16 * by + (hid + 1) * ty + tx + 1 + (hid + 1), indexIn = 16 * by + ty + 1;
  __shared__ float node[16], w[16][16];
  if (tx == 0) node[ty] = input[indexIn];
  __syncthreads();
  w[ty][tx] = weights[index];
  __syncthreads();
  w[ty][tx] *= node[ty];
  __syncthreads();
  for (int i = 1; i <= 4; i++) {
    const int p = 1 << i;
    if (ty % p == 0) w[ty][tx] += w[ty + p / 2][tx];
    __syncthreads();
  }
  if (tx == 0) partial[by * hid + ty] = w[tx][ty];
}
K fan2Apart(const float *R m, const float *R a, float *R out, int size, int t) {
  const int x = blockIdx.x * blockDim.x + threadIdx.x, y = blockIdx.y * blockDim.y + threadIdx.y;
  if (x >= size - 1 - t || y >= size - t) return;
  out[size * (x + 1 + t) + y + t] = a[size * (x + 1 + t) + y + t] - m[size * (x + 1 + t) + t] * a[size * t + y + t];
}
K pgainCost(int num, int dim, int x, const float *R weight, const int *R assign, const float *R cost, int K_, const float *R coord,
            float *R work, const int *R table, bool *R switches) {
  extern __shared__ float coords[];
  const int tid = blockIdx.x * blockDim.x + threadIdx.x;
  if (threadIdx.x == 0)
    for (int i = 0; i < dim; i++) coords[i] = coord[i * num + x];
  __syncthreads();
  if (tid >= num) return;
  float d = 0;
  for (int i = 0; i < dim; i++) d += (coord[i * num + tid] - coords[i]) * (coord[i * num + tid] - coords[i]);
  d *= weight[tid];
  if (d < cost[tid]) {
    switches[tid] = true;
    work[K_ * (num / K_) + tid] = d - cost[tid];
  } else work[tid] = table[assign[tid]] * (cost[tid] - d);
}
struct Vec4 { float v, x, y, z; };
struct BoxNeighbour { int number; };
struct Box { int number, first, count; BoxNeighbour near[4]; };
K lavaBoxes(float alpha, int boxes, const Box *R box, const Vec4 *R rv, const float *R qv, Vec4 *R fv) {
  const int bx = blockIdx.x;
  __shared__ Vec4 rA[32], rB[32];
  __shared__ float qB[32];
  if (bx >= boxes) return;
  const int first = box[bx].first;
  for (int w = threadIdx.x; w < 32; w += blockDim.x) rA[w] = rv[first + w];
  __syncthreads();
  for (int k = 0; k < 1 + box[bx].count; k++) {
    const int pointer = k == 0 ? bx : box[bx].near[k - 1].number, from = box[pointer].first;
    for (int w = threadIdx.x; w < 32; w += blockDim.x) rB[w] = rv[from + w], qB[w] = qv[from + w];
    __syncthreads();
    for (int w = threadIdx.x; w < 32; w += blockDim.x) {
      Vec4 f = {0, 0, 0, 0};
      for (int j = 0; j < 32; j++) {
        const float r2 = rA[w].v + rB[j].v - rA[w].x * rB[j].x, vij = __expf(-alpha * r2);
        f.v += qB[j] * vij;
        f.x += qB[j] * vij * (rA[w].x - rB[j].x);
      }
      if (k == box[bx].count) fv[first + w] = f;
    }
    __syncthreads();
  }
}
// Structure of arrays: one array of variables, a stride of nelr elements from one to the next.
K cfdStepFactor(int nelr, const float *R variables, const float *R areas, float *R factors) {
  const int i = blockDim.x * blockIdx.x + threadIdx.x;
  const float density = variables[i], mx = variables[i + 1 * nelr], my = variables[i + 2 * nelr], mz = variables[i + 3 * nelr],
              energy = variables[i + 4 * nelr], v2 = (mx * mx + my * my + mz * mz) / (density * density),
              pressure = 0.4f * (energy - 0.5f * density * v2);
  factors[i] = 0.5f / (sqrtf(areas[i]) * (sqrtf(v2) + sqrtf(1.4f * fabsf(pressure) / density)));
}
K cfdFlux(int nelr, const int *R neighbours, const float *R normals, const float *R variables, float *R fluxes) {
  const int i = blockDim.x * blockIdx.x + threadIdx.x;
  float f = 0;
#pragma unroll
  for (int j = 0; j < 4; j++) {
    const int nb = neighbours[i + j * nelr];
    const float nx = normals[i + j * nelr];
    if (nb >= 0) f += nx * (variables[nb] + variables[nb + nelr]);
    else if (nb == -1) f += nx * variables[i];
  }
  fluxes[i] = f;
  fluxes[i + nelr] = -f;
}
K cfdTimeStep(int j, int nelr, const float *R old, float *R variables, const float *R factors, const float *R fluxes) {
  const int i = blockDim.x * blockIdx.x + threadIdx.x;
  const float factor = factors[i] / (4 - j);
  for (int k = 0; k < 5; k++) variables[i + k * nelr] = old[i + k * nelr] + factor * fluxes[i + k * nelr];
}
K nwWavefront(const int *R reference, int *itemsets, int cols, int penalty, int i, int blockWidth) {
  const int bx = blockIdx.x, tx = threadIdx.x, bX = bx, bY = i - 1 - bx;
  const int index = cols * 16 * bY + 16 * bX + tx + cols + 1, indexN = cols * 16 * bY + 16 * bX + tx + 1,
            indexW = cols * 16 * bY + 16 * bX + cols, indexNW = cols * 16 * bY + 16 * bX;
  __shared__ int temp[17][17], ref[16][16];
  if (tx == 0) temp[0][0] = itemsets[indexNW];
  for (int ty = 0; ty < 16; ty++) ref[ty][tx] = reference[index + cols * ty];
  __syncthreads();
  temp[tx + 1][0] = itemsets[indexW + cols * tx];
  __syncthreads();
  temp[0][tx + 1] = itemsets[indexN];
  __syncthreads();
  for (int m = 0; m < 16; m++) {
    if (tx <= m) {
      const int x = tx + 1, y = m - tx + 1;
      temp[y][x] = max(max(temp[y - 1][x - 1] + ref[y - 1][x - 1], temp[y][x - 1] - penalty), temp[y - 1][x] - penalty);
    }
    __syncthreads();
  }
  for (int m = 14; m >= 0; m--) {
    if (tx <= m) {
      const int x = tx + 16 - m, y = 16 - tx;
      temp[y][x] = max(max(temp[y - 1][x - 1] + ref[y - 1][x - 1], temp[y][x - 1] - penalty), temp[y - 1][x] - penalty);
    }
    __syncthreads();
  }
  for (int ty = 0; ty < 16; ty++) itemsets[index + ty * cols] = temp[ty + 1][tx + 1];
}
// Parboil.
K sgemmTiledNt(const float *R A, int lda, const float *R B, int ldb, float *C, int ldc, int k, float alpha, float beta) {
  float c[8];
  for (int i = 0; i < 8; i++) c[i] = 0;
  const int mid = threadIdx.y * blockDim.x + threadIdx.x, m = blockIdx.x * 32 + mid, n = blockIdx.y * 8 + threadIdx.x;
  __shared__ float bS[4][8];
  for (int i = 0; i < k; i += 4) {
    bS[threadIdx.y][threadIdx.x] = B[n + (i + threadIdx.y) * ldb];
    __syncthreads();
    for (int j = 0; j < 4; j++) {
      const float a = A[m + (i + j) * lda];
      for (int kk = 0; kk < 8; kk++) c[kk] += a * bS[j][kk];
    }
    __syncthreads();
  }
  const int t = ldc * blockIdx.y * 8 + m;
  for (int i = 0; i < 8; i++) C[t + i * ldc] = C[t + i * ldc] * beta + alpha * c[i];
}
K spmvJdsGrid(float *R dst, const float *R data, const int *R index, const int *R perm, const float *R x, int dim, const int *R ptr,
              const int *R rows) {
  const int ix = blockIdx.x * blockDim.x + threadIdx.x, warp = ix >> 5;
  if (ix >= dim) return;
  float sum = 0;
  const int bound = rows[warp];
  for (int k = 0; k < bound; k++) {
    const int j = ptr[k] + ix;
    sum += data[j] * x[index[j]];
  }
  dst[perm[ix]] = sum;
}
K spmvCsrVector(float *R y, const int *R rowPtr, const int *R colIdx, const float *R val, const float *R x, int rows) {
  __shared__ volatile float part[128];
  const int thread = blockDim.x * blockIdx.x + threadIdx.x, row = thread / 32, lane = thread & 31;
  if (row < rows) {
    const int from = rowPtr[row], to = rowPtr[row + 1];
    float s = 0;
    for (int j = from + lane; j < to; j += 32) s += val[j] * x[colIdx[j]];
    part[threadIdx.x] = s;
    if (lane < 16) part[threadIdx.x] += part[threadIdx.x + 16];
    if (lane < 8) part[threadIdx.x] += part[threadIdx.x + 8];
    if (lane < 4) part[threadIdx.x] += part[threadIdx.x + 4];
    if (lane < 2) part[threadIdx.x] += part[threadIdx.x + 2];
    if (lane < 1) y[row] = part[threadIdx.x] + part[threadIdx.x + 1];
  }
}
K spmvEllColumn(float *R y, const int *R col, const float *R val, const float *R x, int rows, int width, int pitch) {
  const int row = blockDim.x * blockIdx.x + threadIdx.x;
  if (row >= rows) return;
  float s = 0;
  for (int i = 0; i < width; i++) {
    const int c = col[row + i * pitch];
    const float v = val[row + i * pitch];
    if (v != 0) s += v * x[c];
  }
  y[row] = s;
}
// Two points a thread along x, planes kept in registers, a halo in shared memory.
K stencilCoarsened(float c0, float c1, const float *R A0, float *R Anext, int nx, int ny, int nz) {
  const int i = blockIdx.x * blockDim.x * 2 + threadIdx.x, i2 = i + blockDim.x, j = blockIdx.y * blockDim.y + threadIdx.y;
  extern __shared__ float plane[];
  const int shId = threadIdx.x + threadIdx.y * blockDim.x * 2, shId2 = shId + blockDim.x;
  if (i >= nx || j >= ny) return;
#define AT(x, y, z) ((x) + nx * ((y) + ny * (z)))
  float bottom = A0[AT(i, j, 0)], top, current = A0[AT(i, j, 1)], bottom2 = 0, current2 = 0;
  const bool second = i2 < nx;
  if (second) bottom2 = A0[AT(i2, j, 0)], current2 = A0[AT(i2, j, 1)];
  for (int k = 1; k < nz - 1; k++) {
    top = A0[AT(i, j, k + 1)];
    plane[shId] = current;
    if (second) plane[shId2] = current2;
    if (i > 0 && i < nx - 1 && j > 0 && j < ny - 1)
      Anext[AT(i, j, k)] = (top + bottom + A0[AT(i + 1, j, k)] + A0[AT(i - 1, j, k)] + A0[AT(i, j + 1, k)] + A0[AT(i, j - 1, k)]) * c1 - plane[shId] * c0;
    bottom = current, current = top;
    if (second) {
      const float top2 = A0[AT(i2, j, k + 1)];
      if (i2 < nx - 1 && j > 0 && j < ny - 1)
        Anext[AT(i2, j, k)] = (top2 + bottom2 + A0[AT(i2 + 1, j, k)] + A0[AT(i2 - 1, j, k)] + A0[AT(i2, j + 1, k)] + A0[AT(i2, j - 1, k)]) * c1 - plane[shId2] * c0;
      bottom2 = current2, current2 = top2;
    }
  }
}
// D2Q9 lattice in one array of cells x 9 + margins; streams to neighbours.
K lbmStream(const float *R src, float *R dst, int nx, int ny) {
  const int x = threadIdx.x, y = blockIdx.x, margin = nx + 1, plane = nx * ny + 2 * margin, cell = margin + y * nx + x;
  if (x >= nx) return;
  const int dx[9] = {0, 1, 0, -1, 0, 1, -1, -1, 1}, dy[9] = {0, 0, 1, 0, -1, 1, 1, -1, -1};
  float rho = 0;
#pragma unroll
  for (int q = 0; q < 9; q++) rho += src[q * plane + cell];
#pragma unroll
  for (int q = 0; q < 9; q++) dst[q * plane + cell + dx[q] + dy[q] * nx] = src[q * plane + cell] * 0.9f + rho * 0.01f;
}
struct KValues { float kx, ky, kz, phi; };
__constant__ KValues ck[16];
K mriqGrid(int numK, int kGlobal, const float *R x, const float *R y, const float *R z, float *Qr, float *Qi) {
  const int xi = blockIdx.x * blockDim.x + threadIdx.x;
  const float sx = x[xi], sy = y[xi], sz = z[xi];
  float qr = Qr[xi], qi = Qi[xi];
  int k = 0;
  if (numK % 2) {
    const float e = 6.28f * (ck[0].kx * sx + ck[0].ky * sy + ck[0].kz * sz);
    qr += ck[0].phi * __cosf(e), qi += ck[0].phi * __sinf(e);
    k++;
    kGlobal++;
  }
  for (; k < 16 && kGlobal < numK; k += 2, kGlobal += 2) {
    const float e = 6.28f * (ck[k].kx * sx + ck[k].ky * sy + ck[k].kz * sz), e1 = 6.28f * (ck[k + 1].kx * sx + ck[k + 1].ky * sy);
    qr += ck[k].phi * __cosf(e) + ck[k + 1].phi * __cosf(e1);
    qi += ck[k].phi * __sinf(e) + ck[k + 1].phi * __sinf(e1);
  }
  Qr[xi] = qr, Qi[xi] = qi;
}
K mriqPhi(const float *R phiR, const float *R phiI, float *R phiMag, int numK) {
  const int i = blockIdx.x * 512 + threadIdx.x;
  if (i < numK) phiMag[i] = phiR[i] * phiR[i] + phiI[i] * phiI[i];
}
__constant__ float binb[9];
K tpacfHist(long long *R hist, const float *R xs, const float *R ys, int sets, int elements) {
  __shared__ unsigned sh[8][32];
  const int w = threadIdx.x & 31, by = threadIdx.x >> 5;
  for (int b = by; b < 8; b += blockDim.x >> 5) sh[b][w] = 0;
  __syncthreads();
  const float *x = xs + (long long)blockIdx.x * elements, *y = ys + (long long)blockIdx.x * elements;
  if (by == 0)
    for (int i = w; i < elements; i += 32)
      for (int j = 0; j < elements; j++) {
        const float d = x[i] * x[j] + y[i] * y[j];
        int lo = 0, hi = 8;
        while (hi > lo + 1) {
          const int k = (lo + hi) / 2;
          if (d >= binb[k]) hi = k;
          else lo = k;
        }
        sh[lo][w]++;
      }
  __syncthreads();
  if (threadIdx.x < 8) {
    long long s = 0;
    for (int i = 0; i < 32; i++) s += sh[threadIdx.x][i];
    hist[blockIdx.x * 8 + threadIdx.x] = s;
  }
}
K histoPrivate(unsigned *R partial, const unsigned *R img, int n, int bins) {
  extern __shared__ unsigned local[];
  for (int b = threadIdx.x; b < bins; b += blockDim.x) local[b] = 0;
  __syncthreads();
  for (int i = blockIdx.x * blockDim.x + threadIdx.x; i < n; i += gridDim.x * blockDim.x) atomicAdd(&local[img[i] % bins], 1);
  __syncthreads();
  for (int b = threadIdx.x; b < bins; b += blockDim.x) partial[blockIdx.x * bins + b] = local[b];
}
K histoFinal(unsigned char *R out, const unsigned *R bins, int height, int width) {
  const uint2 *in = reinterpret_cast<const uint2 *>(bins);
  for (int i = blockIdx.x * blockDim.x + threadIdx.x; i < height * width / 4; i += blockDim.x * gridDim.x) {
    const uint2 v = in[i];
    uchar4 o;
    o.x = min(v.x & 0xffff, 255), o.y = min(v.x >> 16, 255), o.z = min(v.y & 0xffff, 255), o.w = min(v.y >> 16, 255);
    reinterpret_cast<uchar4 *>(out)[i] = o;
  }
}
K sadSearch(unsigned short *R sads, const unsigned short *R cur, const unsigned short *R ref, int mbWidth, int mbHeight, int range) {
  const int mbx = blockIdx.x, mby = blockIdx.y, w = mbWidth * 4, h = mbHeight * 4, side = 2 * range + 1;
  for (int p = threadIdx.x; p < side * side; p += blockDim.x) {
    const int oy = p / side - range, ox = p % side - range;
    unsigned s = 0;
    for (int y = 0; y < 4; y++)
      for (int x = 0; x < 4; x++) {
        const int ry = min(max(mby * 4 + y + oy, 0), h - 1), rx = min(max(mbx * 4 + x + ox, 0), w - 1);
        s += abs(cur[(mby * 4 + y) * w + mbx * 4 + x] - ref[ry * w + rx]);
      }
    sads[(mby * mbWidth + mbx) * side * side + p] = s;
  }
}
K sadLarger(const unsigned short *R in, unsigned short *R out, int mbWidth, int count) {
  const ushort2 *from = reinterpret_cast<const ushort2 *>(in);
  const int mb = blockIdx.y * mbWidth + blockIdx.x;
  for (int i = threadIdx.x; i < count; i += blockDim.x) {
    const ushort2 a = from[mb * 4 * count + i], b = from[(mb * 4 + 1) * count + i], c = from[(mb * 4 + 2) * count + i],
                  d = from[(mb * 4 + 3) * count + i];
    reinterpret_cast<ushort2 *>(out)[mb * count + i] = make_ushort2(a.x + b.x + c.x + d.x, a.y + b.y + c.y + d.y);
  }
}
__constant__ int4 nbrList[8] = {{0, 0}, {1, 0}, {-1, 0}, {0, 1}};
__constant__ int nbrLen = 4;
K cutcpRegions(const float4 *R bins, float *R regions, int binX, int binY, float h, float cutoff2) {
  __shared__ float4 bin[8];
  const int bx = blockIdx.x, by = blockIdx.y, region = by * gridDim.x + bx, t = threadIdx.x;
  const float x = bx * h + (t & 3) * 0.5f, y = by * h + (t >> 2 & 3) * 0.5f;
  float e = 0;
  for (int n = 0; n < nbrLen; n++) {
    const int ix = bx + nbrList[n].x, iy = by + nbrList[n].y;
    __syncthreads();
    if (t < 8 && ix >= 0 && iy >= 0 && ix < binX && iy < binY) bin[t] = bins[(iy * binX + ix) * 8 + t];
    __syncthreads();
    for (int i = 0; i < 8; i++) {
      if (bin[i].w == 0) break;
      const float r2 = (bin[i].x - x) * (bin[i].x - x) + (bin[i].y - y) * (bin[i].y - y);
      if (r2 < cutoff2) e += bin[i].w * rsqrtf(r2) * (1 - r2 / cutoff2);
    }
  }
  regions[region * 32 + t] = e;
}
K nearestRecord(const float2 *R locations, float *R distances, int records, float lat, float lng) {
  const int id = blockDim.x * (gridDim.x * blockIdx.y + blockIdx.x) + threadIdx.x;
  if (id >= records) return;
  const float2 l = locations[id];
  distances[id] = sqrtf((lat - l.x) * (lat - l.x) + (lng - l.y) * (lng - l.y));
}
K heartwallConvolve(const float *R in, const float *R mask, float *R out, int inRows, int inCols, int maskRows, int maskCols) {
  const int rows = inRows + maskRows - 1, cols = inCols + maskCols - 1;
  for (int e = threadIdx.x; e < rows * cols; e += blockDim.x) {
    const int row = (e + 1) % rows == 0 ? rows - 1 : (e + 1) % rows - 1, col = (e + 1) / rows - ((e + 1) % rows == 0);
    const int i0 = max(0, row - inRows + 1), i1 = min(row, maskRows - 1), j0 = max(0, col - inCols + 1), j1 = min(col, maskCols - 1);
    float s = 0;
    for (int j = j0; j <= j1; j++)
      for (int i = i0; i <= i1; i++) s += mask[j * maskRows + i] * in[(col - j) * inRows + row - i];
    out[e] = s;
  }
}
K dwtRows(float *R out, const float *R in, int w, int h) {
  const int x = blockIdx.x * blockDim.x + threadIdx.x, y = blockIdx.y;
  if (x >= w / 2 || y >= h) return;
  const float a = in[y * w + 2 * x], b = in[y * w + 2 * x + 1];
  out[y * w + x] = (a + b) * 0.5f;
  out[y * w + w / 2 + x] = (a - b) * 0.5f;
}
