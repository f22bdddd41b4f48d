import { outputLength, type KernelModelManifest } from '../../models/index.js';
import type { ItemResult } from '../../protocol/index.js';

/** One output of the model that answers are made of. */
export interface AnswerOutput {
  readonly name: string;
  /** Values of one item. */
  readonly length: number;
  readonly element: 'f32' | 'f64' | 'i32';
  readonly itemBytes: number;
}

type Values = Float32Array | Float64Array | Int32Array;

/** Makes answers of what the kernels have left in the outputs, as the manifest's `answer` says. */
export class AnswerReader {
  /** What must be copied back. */
  readonly outputs: readonly AnswerOutput[];
  private readonly write: (values: ReadonlyMap<AnswerOutput, Values>) => string;
  private readonly scores: AnswerOutput | undefined;

  constructor(manifest: KernelModelManifest) {
    const { answer } = manifest;
    const find = (name: string): AnswerOutput => {
      const output = manifest.outputs.find((candidate) => candidate.name === name);
      if (output === undefined) throw new Error(`there is no output '${name}'`);
      const length = outputLength(manifest, name);
      const { element } = output;
      return { name, length, element, itemBytes: length * (element === 'f64' ? 8 : 4) };
    };
    if (answer.kind === 'tensors') {
      this.outputs = answer.outputs.map(find);
      const names = answer.outputs.map(
        (name) => manifest.outputs.find((output) => output.name === name)?.tensor?.name ?? name,
      );
      this.write = (values) =>
        JSON.stringify(
          Object.fromEntries(
            this.outputs.map((output, place) => [names[place], Array.from(of(values, output))]),
          ),
        );
      return;
    }
    const main = find(answer.output);
    this.write = writerOf(answer, main);
    const scores = answer.kind === 'values' ? undefined : answer.scores;
    if (scores !== undefined) this.scores = scores === answer.output ? main : find(scores);
    this.outputs = this.scores === undefined || this.scores === main ? [main] : [main, this.scores];
  }

  /** @param place the item's place in the outputs. */
  read(id: number, place: number, bytes: ReadonlyMap<string, Uint8Array>): ItemResult {
    const values = new Map<AnswerOutput, Values>();
    for (const output of this.outputs) {
      const own = valuesOf(output, place, bytes);
      const bad =
        output === this.scores && this.outputs.length > 1
          ? -1
          : own.findIndex((value) => !Number.isFinite(value));
      if (bad >= 0) {
        return {
          id,
          ok: false,
          code: 'modelError',
          message: `the model's output '${output.name}'[${bad}] is ${own[bad]}, not a finite number`,
        };
      }
      values.set(output, own);
    }
    const output = this.write(values);
    if (this.scores === undefined) return { id, ok: true, output };
    const scores = of(values, this.scores);
    return {
      id,
      ok: true,
      output,
      scores: scores instanceof Float32Array ? scores : Float32Array.from(scores),
    };
  }
}

function of(values: ReadonlyMap<AnswerOutput, Values>, output: AnswerOutput): Values {
  return values.get(output) ?? new Float32Array(0);
}

/** How a main output becomes the answer's text. */
function writerOf(
  answer: Exclude<KernelModelManifest['answer'], { kind: 'tensors' }>,
  main: AnswerOutput,
): (values: ReadonlyMap<AnswerOutput, Values>) => string {
  switch (answer.kind) {
    case 'values':
      return (values) => JSON.stringify(Array.from(of(values, main)));
    case 'argmax':
      return (values) => answer.labels[argmax(of(values, main))];
    case 'label':
      return (values) => {
        const [value] = of(values, main);
        return answer.labels?.[value] ?? String(value);
      };
  }
}

/** A copy of one item's values: a view would keep the whole batch alive for as long as one answer is cached. */
function valuesOf(output: AnswerOutput, place: number, outputs: ReadonlyMap<string, Uint8Array>): Values {
  const bytes = outputs.get(output.name);
  if (bytes === undefined) throw new Error(`output '${output.name}' was not copied back`);
  const item = bytes.subarray(place * output.itemBytes, (place + 1) * output.itemBytes);
  const { buffer } = new Uint8Array(item);
  switch (output.element) {
    case 'f32':
      return new Float32Array(buffer);
    case 'f64':
      return new Float64Array(buffer);
    case 'i32':
      return new Int32Array(buffer);
  }
}

function argmax(values: Values): number {
  let best = 0;
  for (let index = 1; index < values.length; index++) if (values[index] > values[best]) best = index;
  return best;
}
