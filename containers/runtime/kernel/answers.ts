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
  private readonly main: AnswerOutput;
  private readonly scores: AnswerOutput | undefined;
  private readonly labels: readonly string[] | undefined;

  constructor(manifest: KernelModelManifest) {
    const { answer } = manifest;
    const find = (name: string): AnswerOutput => {
      const output = manifest.outputs.find((candidate) => candidate.name === name);
      if (output === undefined) throw new Error(`there is no output '${name}'`);
      const length = outputLength(manifest, name);
      const { element } = output;
      return { name, length, element, itemBytes: length * (element === 'f64' ? 8 : 4) };
    };
    this.main = find(answer.output);
    if (answer.kind === 'argmax') {
      this.labels = answer.labels;
      if (answer.scores !== undefined) {
        this.scores = answer.scores === answer.output ? this.main : find(answer.scores);
      }
    }
    this.outputs =
      this.scores === undefined || this.scores === this.main ? [this.main] : [this.main, this.scores];
  }

  /** @param place the item's place in the outputs. */
  read(id: number, place: number, bytes: ReadonlyMap<string, Uint8Array>): ItemResult {
    const values = valuesOf(this.main, place, bytes);
    const bad = values.findIndex((value) => !Number.isFinite(value));
    if (bad >= 0) {
      return {
        id,
        ok: false,
        code: 'modelError',
        message: `the model's output '${this.main.name}'[${bad}] is ${values[bad]}, not a finite number`,
      };
    }
    if (this.labels === undefined) return { id, ok: true, output: JSON.stringify(Array.from(values)) };
    const output = this.labels[argmax(values)];
    if (this.scores === undefined) return { id, ok: true, output };
    const scores = this.scores === this.main ? values : valuesOf(this.scores, place, bytes);
    return {
      id,
      ok: true,
      output,
      scores: scores instanceof Float32Array ? scores : Float32Array.from(scores),
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
