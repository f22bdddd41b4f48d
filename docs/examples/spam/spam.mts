import type { Model, ModelOutput, ScoredOutput } from 'windjammer/process';

const WEIGHTS: ReadonlyMap<string, number> = new Map([
  ['free', 1.5],
  ['winner', 2],
  ['prize', 1.5],
  ['click', 1],
  ['meeting', -1.5],
  ['thanks', -1],
]);
const BIAS = -1;

/** Marks a text as spam by its words. */
class Spam implements Model<'strings'> {
  readonly inputType = 'strings';

  predictOne(text: string): ModelOutput | ScoredOutput {
    if (text.trim() === '') throw new Error('the text is empty');
    const words = text.toLowerCase().match(/[a-z]+/g) ?? [];
    const sum = words.reduce((total, word) => total + (WEIGHTS.get(word) ?? 0), BIAS);
    const spam = 1 / (1 + Math.exp(-sum));
    return { output: spam > 0.5 ? 'spam' : 'ham', scores: [1 - spam, spam] };
  }
}

export default Spam;
