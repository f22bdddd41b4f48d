/** Scores by class, in double precision, of one digit's pixels or of its features. */
export type ClassScores<Input = Float32Array> = (input: Input) => Float64Array;

/** Probabilities of the scores times `scale`. */
export function softmax(scores: Float64Array, scale = 1): Float64Array {
  const largest = Math.max(...scores);
  const exponentials = scores.map((score) => Math.exp(scale * (score - largest)));
  const sum = exponentials.reduce((total, value) => total + value, 0);
  return exponentials.map((value) => value / sum);
}

/** Index of the largest value, the first of equals. */
export function argmax(values: Float64Array): number {
  let best = 0;
  for (let index = 1; index < values.length; index++) if (values[index] > values[best]) best = index;
  return best;
}
