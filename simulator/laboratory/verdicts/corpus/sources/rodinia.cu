// After the programs of the Rodinia suite, written anew.
#include "corpus.cuh"

// Breadth-first search: marks the neighbours of the frontier.
KERNEL bfsExpand(const int *RESTRICT starts, const int *RESTRICT edges, unsigned char *frontier, unsigned char *updating,
                 const unsigned char *RESTRICT visited, int *cost, idx nodes) {
  idx node = GLOBAL_ID;
  if (node >= nodes || !frontier[node]) return;
  frontier[node] = 0;
  for (int e = starts[node]; e < starts[node + 1]; e++) {
    int to = edges[e];
    if (!visited[to]) {
      cost[to] = cost[node] + 1;
      updating[to] = 1;
    }
  }
}

// Makes what was marked the next frontier: it only reads when nothing was.
KERNEL bfsAdvance(unsigned char *frontier, unsigned char *updating, unsigned char *visited, unsigned char *again, idx nodes) {
  idx node = GLOBAL_ID;
  if (node < nodes && updating[node]) {
    frontier[node] = 1;
    visited[node] = 1;
    *again = 1;
    updating[node] = 0;
  }
}

// The first frame sets the template, later ones blend into it.
KERNEL trackTemplate(float *templates, const float *RESTRICT frame, idx points, idx width, int frameNumber) {
  idx p = blockIdx.x, at = p * blockDim.x + threadIdx.x;
  if (p >= points) return;
  float seen = frame[p * 2 * width + threadIdx.x];
  if (frameNumber == 0) templates[at] = seen;
  else templates[at] = 0.9f * templates[at] + 0.1f * seen;
}

KERNEL hotspot(float *RESTRICT next, const float *RESTRICT now, const float *RESTRICT power, idx rows, idx cols, float step) {
  idx x = (idx)blockIdx.x * blockDim.x + threadIdx.x, y = (idx)blockIdx.y * blockDim.y + threadIdx.y;
  if (x >= cols || y >= rows) return;
  idx at = y * cols + x;
  float here = now[at];
  float north = y > 0 ? now[at - cols] : here, south = y < rows - 1 ? now[at + cols] : here;
  float west = x > 0 ? now[at - 1] : here, east = x < cols - 1 ? now[at + 1] : here;
  next[at] = here + step * (north + south + west + east - 4.0f * here + power[at]);
}

KERNEL pathfinder(int *RESTRICT next, const int *RESTRICT now, const int *RESTRICT wall, idx cols, idx row) {
  idx x = GLOBAL_ID;
  if (x >= cols) return;
  int best = now[x];
  if (x > 0) best = min(best, now[x - 1]);
  if (x < cols - 1) best = min(best, now[x + 1]);
  next[x] = best + wall[row * cols + x];
}

KERNEL gaussianFan1(float *RESTRICT multipliers, const float *RESTRICT a, idx size, idx t) {
  idx i = GLOBAL_ID;
  if (i >= size - 1 - t) return;
  multipliers[size * (i + t + 1) + t] = a[size * (i + t + 1) + t] / a[size * t + t];
}

KERNEL gaussianFan2(const float *RESTRICT multipliers, float *a, float *b, idx size, idx t) {
  idx x = (idx)blockIdx.x * blockDim.x + threadIdx.x, y = (idx)blockIdx.y * blockDim.y + threadIdx.y;
  if (x >= size - 1 - t || y >= size - t) return;
  a[size * (x + 1 + t) + y + t] -= multipliers[size * (x + 1 + t) + t] * a[size * t + y + t];
  if (y == 0) b[x + 1 + t] -= multipliers[size * (x + 1 + t) + t] * b[t];
}

KERNEL ludDiagonal(float *matrix, idx size, idx offset) {
  __shared__ float tile[8][8];
  LOOP for (int i = 0; i < 8; i++) tile[i][threadIdx.x] = matrix[(offset + i) * size + offset + threadIdx.x];
  __syncthreads();
  for (int i = 0; i < 7; i++) {
    if (threadIdx.x > i) {
      for (int j = 0; j < i; j++) tile[threadIdx.x][i] -= tile[threadIdx.x][j] * tile[j][i];
      tile[threadIdx.x][i] /= tile[i][i] + 4.0f;
    }
    __syncthreads();
    if (threadIdx.x > i)
      for (int j = 0; j < i + 1; j++) tile[i + 1][threadIdx.x] -= tile[i + 1][j] * tile[j][threadIdx.x];
    __syncthreads();
  }
  LOOP for (int i = 1; i < 8; i++) matrix[(offset + i) * size + offset + threadIdx.x] = tile[i][threadIdx.x];
}

// Needleman-Wunsch: a diagonal of the matrix from the two before it.
KERNEL nwDiagonal(int *scores, const int *RESTRICT reference, idx cols, idx diagonal, int penalty) {
  idx i = GLOBAL_ID + 1;
  if (i >= diagonal || diagonal - i >= cols) return;
  idx j = diagonal - i, at = i * cols + j;
  scores[at] = max(scores[at - cols - 1] + reference[at], max(scores[at - 1], scores[at - cols]) - penalty);
}

KERNEL kmeansAssign(int *RESTRICT membership, const float *RESTRICT features, const float *RESTRICT centres, idx points,
                    idx clusters, idx dimensions) {
  idx p = GLOBAL_ID;
  if (p >= points) return;
  int best = -1;
  float least = 3.4e38f;
  LOOP for (idx c = 0; c < clusters; c++) {
    float distance = 0.0f;
    LOOP for (idx d = 0; d < dimensions; d++) {
      float difference = features[d * points + p] - centres[c * dimensions + d];
      distance += difference * difference;
    }
    if (distance < least) {
      least = distance;
      best = (int)c;
    }
  }
  membership[p] = best;
}

KERNEL kmeansInvert(float *RESTRICT out, const float *RESTRICT in, idx points, idx dimensions) {
  idx p = GLOBAL_ID;
  if (p >= points) return;
  LOOP for (idx d = 0; d < dimensions; d++) out[d * points + p] = in[p * dimensions + d];
}

struct Place {
  float latitude, longitude;
};

KERNEL nearestDistance(float *RESTRICT distances, const Place *RESTRICT places, idx count, float latitude, float longitude) {
  idx i = (idx)blockDim.x * ((idx)gridDim.x * blockIdx.y + blockIdx.x) + threadIdx.x;
  if (i >= count) return;
  Place p = places[i];
  distances[i] = sqrtf((latitude - p.latitude) * (latitude - p.latitude) + (longitude - p.longitude) * (longitude - p.longitude));
}

KERNEL backpropForward(float *RESTRICT partial, const float *RESTRICT input, const float *RESTRICT weights, idx hidden) {
  __shared__ float products[8][8];
  idx row = (idx)blockIdx.y * 8 + threadIdx.y;
  products[threadIdx.y][threadIdx.x] = input[row + 1] * weights[(row + 1) * (hidden + 1) + threadIdx.x + 1];
  __syncthreads();
  for (int d = 1; d < 8; d *= 2) {
    if (threadIdx.y % (2 * d) == 0) products[threadIdx.y][threadIdx.x] += products[threadIdx.y + d][threadIdx.x];
    __syncthreads();
  }
  if (threadIdx.y == 0) partial[blockIdx.y * hidden + threadIdx.x] = products[0][threadIdx.x];
}

KERNEL backpropAdjust(float *weights, float *previous, const float *RESTRICT delta, const float *RESTRICT input, idx hidden) {
  idx row = (idx)blockIdx.y * 8 + threadIdx.y + 1, col = threadIdx.x + 1, at = row * (hidden + 1) + col;
  float change = 0.3f * delta[col] * input[row] + 0.3f * previous[at];
  weights[at] += change;
  previous[at] = change;
}

KERNEL lavaForces(float4 *forces, const float4 *RESTRICT particles, const int *RESTRICT neighbours, idx boxes, idx each) {
  idx box = blockIdx.x, i = threadIdx.x;
  if (i >= each) return;
  float4 mine = particles[box * each + i], sum = forces[box * each + i];
  LOOP for (idx k = 0; k < 2; k++) {
    idx other = neighbours[box * 2 + k];
    LOOP for (idx j = 0; j < each; j++) {
      float4 p = particles[other * each + j];
      float r = mine.x * p.x + mine.y * p.y + mine.z * p.z;
      float u = __expf(-r);
      sum.x += u * (mine.x - p.x);
      sum.y += u * (mine.y - p.y);
      sum.z += u * (mine.z - p.z);
      sum.w += u;
    }
  }
  forces[box * each + i] = sum;
}

// Finds keys in a tree of fixed height: each level's node is read from the one above.
KERNEL treeFind(int *RESTRICT found, const int *RESTRICT keys, const int *RESTRICT children, const int *RESTRICT wanted,
                idx queries, idx height) {
  idx q = GLOBAL_ID;
  if (q >= queries) return;
  int node = 0;
  LOOP for (idx level = 0; level < height; level++) {
    int slot = 0;
    for (int k = 0; k < 3; k++)
      if (wanted[q] >= keys[node * 3 + k]) slot = k + 1;
    node = children[node * 4 + slot];
  }
  found[q] = node;
}

KERNEL bucketCount(int *buckets, int *RESTRICT order, const float *RESTRICT in, const float *RESTRICT pivots, idx n) {
  idx i = GLOBAL_ID;
  if (i >= n) return;
  float v = in[i];
  int low = 0;
  for (int step = 4; step > 0; step /= 2)
    if (v >= pivots[low + step - 1]) low += step;
  order[i] = (low << 24) + atomicAdd(buckets + low, 1);
}

KERNEL bucketPrefix(int *RESTRICT offsets, const int *RESTRICT histogram, idx blocks, idx buckets) {
  idx b = GLOBAL_ID;
  if (b >= buckets) return;
  int sum = 0;
  LOOP for (idx i = 0; i < blocks; i++) {
    offsets[i * buckets + b] = sum;
    sum += histogram[i * buckets + b];
  }
}

// Merges pairs of sorted runs, a thread a pair: where each goes on depends on what it reads.
KERNEL mergeRuns(int *RESTRICT out, const int *RESTRICT in, idx runs, idx length) {
  idx pair = GLOBAL_ID;
  if (pair * 2 >= runs) return;
  const int *left = in + pair * 2 * length, *right = left + length;
  int *to = out + pair * 2 * length;
  idx i = 0, j = 0;
  LOOP while (i < length && j < length) {
    if (left[i] <= right[j]) *to++ = left[i++];
    else *to++ = right[j++];
  }
  LOOP while (i < length) *to++ = left[i++];
  LOOP while (j < length) *to++ = right[j++];
}

KERNEL sradCoefficient(float *RESTRICT coefficient, float *RESTRICT north, const float *RESTRICT image, idx rows, idx cols,
                       float q0) {
  idx i = GLOBAL_ID;
  if (i >= rows * cols) return;
  idx row = i / cols, col = i % cols;
  float here = image[i];
  float n = image[(row > 0 ? row - 1 : 0) * cols + col] - here;
  float w = image[row * cols + (col > 0 ? col - 1 : 0)] - here;
  north[i] = n;
  float g = (n * n + w * w) / (here * here + 1.0f);
  coefficient[i] = 1.0f / (1.0f + (g - q0) / (q0 * (1.0f + q0)));
}

KERNEL clusterGain(float *RESTRICT costs, const float *RESTRICT points, const int *RESTRICT centreOf,
                   const float *RESTRICT weights, idx count, idx dimensions, idx candidate) {
  idx p = GLOBAL_ID;
  if (p >= count) return;
  float toCandidate = 0.0f, toCentre = 0.0f;
  LOOP for (idx d = 0; d < dimensions; d++) {
    float x = points[d * count + p];
    float a = x - points[d * count + candidate], b = x - points[d * count + centreOf[p]];
    toCandidate += a * a;
    toCentre += b * b;
  }
  costs[p] = weights[p] * (toCandidate - toCentre);
}
