import { readFileSync } from 'node:fs';

/** Answers of two runs to the same queries. */
export interface ComparedOutputs {
  /** Predicted in both. */
  readonly both: number;
  readonly different: number;
  /** Predicted in one of them only: the other answered its default, or ended before. */
  readonly alone: number;
}

interface AnswerLine {
  readonly number: number;
  readonly output: string;
  readonly default: boolean;
}

/** @param one,other files of `--save-answers` */
export function compareOutputs(one: string, other: string): ComparedOutputs {
  const [ours, theirs] = [predictionsOf(one), predictionsOf(other)];
  let [both, different] = [0, 0];
  for (const [number, output] of ours) {
    const their = theirs.get(number);
    if (their === undefined) continue;
    both += 1;
    if (their !== output) different += 1;
  }
  return { both, different, alone: ours.size + theirs.size - 2 * both };
}

function predictionsOf(path: string): Map<number, string> {
  const lines = readFileSync(path, 'utf8')
    .split('\n')
    .filter((line) => line !== '');
  const answers = lines.map((line) => JSON.parse(line) as AnswerLine);
  return new Map(answers.filter((one) => !one.default).map(({ number, output }) => [number, output]));
}
