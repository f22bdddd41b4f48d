// Stroke features of 28 x 28 pixels: in each cell of CELL_WIDTH x CELL_WIDTH pixels and along four directions, the means of how much ink rises
// and of how much it falls from the pixel behind to the pixel ahead; outside the digit is paper.
// features[batch x CELLS x DIRECTIONS x 2]. Who includes this says what CELL_WIDTH is: a divisor of 28.

constexpr int WIDTH = 28;
constexpr int PADDED_WIDTH = WIDTH + 2;
constexpr int CELL_COLUMNS = WIDTH / CELL_WIDTH;
constexpr int CELLS = CELL_COLUMNS * CELL_COLUMNS;
constexpr int DIRECTIONS = 4;
constexpr int FEATURES = CELLS * DIRECTIONS * 2;

// grid = batch, block = (DIRECTIONS, CELL_WIDTH, CELLS): a thread a direction and row of a cell.
extern "C" __global__ void stroke_features(const float* __restrict__ pixels, float* __restrict__ features) {
  constexpr int THREADS = DIRECTIONS * CELL_WIDTH * CELLS;
  __shared__ float padded[PADDED_WIDTH * PADDED_WIDTH];
  __shared__ float partial[CELL_WIDTH][FEATURES];
  const int direction = threadIdx.x, row = threadIdx.y, cell = threadIdx.z;
  const int thread = (cell * CELL_WIDTH + row) * DIRECTIONS + direction;

  for (int k = thread; k < PADDED_WIDTH * PADDED_WIDTH; k += THREADS) {
    const int y = k / PADDED_WIDTH - 1, x = k % PADDED_WIDTH - 1;
    const bool inside = y >= 0 && y < WIDTH && x >= 0 && x < WIDTH;
    padded[k] = inside ? pixels[(blockIdx.x * WIDTH + y) * WIDTH + x] : 0.f;
  }
  __syncthreads();

  // Right, down, down right, down left.
  const int ahead = direction == 0 ? 1 : PADDED_WIDTH + (direction == 1 ? 0 : direction == 2 ? 1 : -1);
  const int y = cell / CELL_COLUMNS * CELL_WIDTH + row + 1, x = cell % CELL_COLUMNS * CELL_WIDTH + 1;
  const float* here = padded + y * PADDED_WIDTH + x;
  float rise = 0.f, fall = 0.f;
#pragma unroll
  for (int k = 0; k < CELL_WIDTH; k++) {
    const float difference = here[k + ahead] - here[k - ahead];
    rise += fmaxf(difference, 0.f);
    fall += fmaxf(-difference, 0.f);
  }
  partial[row][(cell * DIRECTIONS + direction) * 2] = rise;
  partial[row][(cell * DIRECTIONS + direction) * 2 + 1] = fall;
  __syncthreads();

  if (thread >= FEATURES) return;
  float total = 0.f;
#pragma unroll
  for (int k = 0; k < CELL_WIDTH; k++) total += partial[k][thread];
  features[blockIdx.x * FEATURES + thread] = total / (CELL_WIDTH * CELL_WIDTH);
}
