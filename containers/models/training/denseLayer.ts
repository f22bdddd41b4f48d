import type { Draws } from './draws.js';

/**
 * A dense layer while it is trained, by stochastic gradient descent with momentum and weight decay. Weights lie
 * input-major, `[inputs][outputs]`, as the kernels read them.
 */
export class DenseLayer {
  readonly weights: Float32Array;
  readonly biases: Float32Array;
  readonly weightGradients: Float32Array;
  readonly biasGradients: Float32Array;
  private readonly weightMomenta: Float32Array;
  private readonly biasMomenta: Float32Array;

  constructor(
    readonly inputs: number,
    readonly outputs: number,
    draws: Draws,
  ) {
    // He initialisation, uniform with the same variance.
    const limit = Math.sqrt(6 / inputs);
    this.weights = Float32Array.from({ length: inputs * outputs }, () => draws.symmetric(limit));
    this.biases = new Float32Array(outputs);
    this.weightGradients = new Float32Array(inputs * outputs);
    this.biasGradients = new Float32Array(outputs);
    this.weightMomenta = new Float32Array(inputs * outputs);
    this.biasMomenta = new Float32Array(outputs);
  }

  /** `result = biases + input * weights`. */
  forward(input: Float32Array, result: Float32Array): void {
    const { inputs, outputs, weights } = this;
    result.set(this.biases);
    for (let i = 0; i < inputs; i++) {
      const value = input[i];
      // Four pixels in five are blank.
      if (value === 0) continue;
      const row = i * outputs;
      for (let o = 0; o < outputs; o++) result[o] += value * weights[row + o];
    }
  }

  /** Adds one example's gradients, given the loss's gradient at this layer's result. */
  accumulate(input: Float32Array, gradient: Float32Array): void {
    const { inputs, outputs, weightGradients } = this;
    for (let o = 0; o < outputs; o++) this.biasGradients[o] += gradient[o];
    for (let i = 0; i < inputs; i++) {
      const value = input[i];
      if (value === 0) continue;
      const row = i * outputs;
      for (let o = 0; o < outputs; o++) weightGradients[row + o] += value * gradient[o];
    }
  }

  /** The loss's gradient at this layer's input. */
  backward(gradient: Float32Array, inputGradient: Float32Array): void {
    for (let i = 0; i < this.inputs; i++) {
      const row = i * this.outputs;
      let sum = 0;
      for (let o = 0; o < this.outputs; o++) sum += gradient[o] * this.weights[row + o];
      inputGradient[i] = sum;
    }
  }

  /** Takes one step along what was accumulated over `examples`, and forgets it. */
  step(examples: number, rate: number, momentum: number, weightDecay: number): void {
    descend(
      this.weights,
      this.weightGradients,
      this.weightMomenta,
      1 / examples,
      rate,
      momentum,
      weightDecay,
    );
    descend(this.biases, this.biasGradients, this.biasMomenta, 1 / examples, rate, momentum, 0);
  }
}

function descend(
  values: Float32Array,
  gradients: Float32Array,
  momenta: Float32Array,
  scale: number,
  rate: number,
  momentum: number,
  decay: number,
): void {
  for (let k = 0; k < values.length; k++) {
    const moved = momentum * momenta[k] + gradients[k] * scale + decay * values[k];
    momenta[k] = moved;
    values[k] -= rate * moved;
    gradients[k] = 0;
  }
}
