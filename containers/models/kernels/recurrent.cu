// Recurrent layers as ONNX has them: one block for each item, sequence of it and direction, step after step.
// grid = (batch, sequences, directions), block = min(hidden, 128); dynamic shared memory: hidden * 6 floats.
#include "arithmetic.cuh"

extern __shared__ float state[];

// What `shape` has, in this order; strides are in elements, and items of W, R and the rest are 0 apart where they are the
// same for all. `kind`: 0 RNN, 1 LSTM (gates i, o, f, c), 2 GRU (gates z, r, h). `before`: linear_before_reset.
struct Shape {
  int kind, steps, inputs, hidden, gates, directions, before, reverse;
  int xStep, xSequence, xItem, yStep, yDirection, ySequence, yItem, hDirection, hSequence, hItem;
  int wItem, rItem, bItem, h0Item, c0Item, pItem, activation;
};
static_assert(sizeof(Shape) == 25 * 4, "as recurrentLayers.ts writes it");

__device__ __forceinline__ float sigmoid(float x) { return activated(x, LOGISTIC); }

// x, weights[directions x gates * hidden x inputs], recurrence[directions x gates * hidden x hidden],
// bias[directions x 2 * gates * hidden], h0, c0[directions x sequences x hidden] (as hDirection and hSequence say),
// peepholes[directions x 3 * hidden] (i, o, f).
extern "C" __global__ void recurrent_f32(const float* __restrict__ x, const float* __restrict__ weights,
                                         const float* __restrict__ recurrence, const float* __restrict__ bias,
                                         const float* __restrict__ h0, const float* __restrict__ c0,
                                         const float* __restrict__ peepholes, float* __restrict__ y, float* __restrict__ yh,
                                         float* __restrict__ yc, const int* __restrict__ shape) {
  const Shape& s = *reinterpret_cast<const Shape*>(shape);
  const int item = blockIdx.x, sequence = blockIdx.y, direction = blockIdx.z, hidden = s.hidden;
  float* h = state;
  float* c = state + hidden;
  float* gates = state + 2 * hidden;
  const float* w = weights + item * s.wItem + direction * s.gates * hidden * s.inputs;
  const float* r = recurrence + item * s.rItem + direction * s.gates * hidden * hidden;
  const float* b = bias + item * s.bItem + direction * 2 * s.gates * hidden;
  const float* p = peepholes + item * s.pItem + direction * 3 * hidden;
  const int place = direction * s.hDirection + sequence * s.hSequence;
  for (int unit = threadIdx.x; unit < hidden; unit += blockDim.x) {
    h[unit] = h0[item * s.h0Item + place + unit];
    c[unit] = c0[item * s.c0Item + place + unit];
  }
  __syncthreads();
  const bool isBack = s.reverse != 0 || direction == 1;
  for (int n = 0; n < s.steps; n++) {
    const int step = isBack ? s.steps - 1 - n : n;
    const float* from = x + item * s.xItem + sequence * s.xSequence + step * s.xStep;
    // Gates from the input and the state; of a GRU's last gate both parts are kept apart.
    for (int row = threadIdx.x; row < s.gates * hidden; row += blockDim.x) {
      float fromInput = b[row], fromState = b[s.gates * hidden + row];
      for (int k = 0; k < s.inputs; k++) fromInput += from[k] * w[row * s.inputs + k];
      const bool isLast = s.kind == 2 && row >= 2 * hidden;
      if (!isLast || s.before != 0) {
        for (int k = 0; k < hidden; k++) fromState += h[k] * r[row * hidden + k];
      }
      if (isLast) {
        gates[row] = fromInput;
        gates[row + hidden] = fromState;
      } else gates[row] = fromInput + fromState;
    }
    __syncthreads();
    if (s.kind == 2 && s.before == 0) {
      // The state behind its reset, in place of the update of c, which a GRU has not.
      for (int unit = threadIdx.x; unit < hidden; unit += blockDim.x) c[unit] = sigmoid(gates[hidden + unit]) * h[unit];
      __syncthreads();
      for (int unit = threadIdx.x; unit < hidden; unit += blockDim.x) {
        float sum = 0.f;
        for (int k = 0; k < hidden; k++) sum += c[k] * r[(2 * hidden + unit) * hidden + k];
        gates[3 * hidden + unit] += sum;
      }
      __syncthreads();
    }
    for (int unit = threadIdx.x; unit < hidden; unit += blockDim.x) {
      float next;
      if (s.kind == 0) next = activated(gates[unit], s.activation);
      else if (s.kind == 1) {
        const float input = sigmoid(gates[unit] + p[unit] * c[unit]);
        const float forget = sigmoid(gates[2 * hidden + unit] + p[2 * hidden + unit] * c[unit]);
        const float cell = forget * c[unit] + input * activated(gates[3 * hidden + unit], TANH);
        c[unit] = cell;
        next = sigmoid(gates[hidden + unit] + p[hidden + unit] * cell) * activated(cell, TANH);
      } else {
        const float update = sigmoid(gates[unit]);
        const float fromState = s.before != 0 ? sigmoid(gates[hidden + unit]) * gates[3 * hidden + unit] : gates[3 * hidden + unit];
        next = (1.f - update) * activated(gates[2 * hidden + unit] + fromState, TANH) + update * h[unit];
      }
      h[unit] = next;
      y[item * s.yItem + step * s.yStep + direction * s.yDirection + sequence * s.ySequence + unit] = next;
    }
    __syncthreads();
  }
  for (int unit = threadIdx.x; unit < hidden; unit += blockDim.x) {
    yh[item * s.hItem + place + unit] = h[unit];
    yc[item * s.hItem + place + unit] = c[unit];
  }
}
