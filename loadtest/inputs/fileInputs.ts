import { parseJsonText, readTextFile } from '../../simulator/files/index.js';
import type { InputForm } from '../../containers/protocol/index.js';
import { encodeInput } from '../../services/frontend/index.js';
import { LoadError } from '../trace/index.js';
import type { InputPool } from './inputPool.js';

/** Inputs of a file: a JSON array, or a JSON value a line; each an input by itself or `{"input": …, "label": …}`. */
export class FileInputs implements InputPool {
  readonly source: string;
  private readonly inputs: readonly Uint8Array[];
  private readonly labels: readonly (string | undefined)[];

  /**
   * @param form what the models take.
   * @throws LoadError naming the file, the sample, and what is wrong with it.
   */
  constructor(path: string, form: InputForm) {
    const samples = readSamples(path);
    if (samples.length === 0) throw new LoadError(path, 'there is no input in it');
    const inputs: Uint8Array[] = [];
    const labels: (string | undefined)[] = [];
    samples.forEach((sample, at) => {
      const { input, label } = isObject(sample) ? sample : { input: sample };
      if (input === undefined) throw new LoadError(path, `sample ${at} has no field input`);
      const encoded = encodeInput(form, input, `sample ${at}: input`);
      if (encoded instanceof Error) throw new LoadError(path, encoded.message, { cause: encoded });
      inputs.push(encoded);
      labels.push(label === undefined ? undefined : labelText(label, path, at));
    });
    this.inputs = inputs;
    this.labels = labels;
    this.source = `${inputs.length} inputs of ${path}`;
  }

  get size(): number {
    return this.inputs.length;
  }

  input(sample: number): Uint8Array {
    return this.inputs[sample];
  }

  label(sample: number): string | undefined {
    return this.labels[sample];
  }
}

function readSamples(path: string): readonly unknown[] {
  let text: string;
  try {
    text = readTextFile(path);
  } catch (cause) {
    throw new LoadError('--inputs', `${path} cannot be read (${(cause as Error).message})`, { cause });
  }
  const lines = text.split('\n');
  if (/\.(jsonl|ndjson)$/i.test(path)) {
    return lines.flatMap((line, at) => (line.trim() === '' ? [] : [parse(line, `${path}:${at + 1}`)]));
  }
  const whole = parse(text, path);
  if (!Array.isArray(whole)) {
    throw new LoadError(path, 'it must hold a JSON array of inputs; name it .jsonl when there is one a line');
  }
  return whole as readonly unknown[];
}

function parse(text: string, where: string): unknown {
  try {
    return parseJsonText(text);
  } catch (cause) {
    throw new LoadError(where, `not JSON: ${(cause as Error).message}`, { cause });
  }
}

/** Labels are compared as text with what models answer. */
function labelText(label: unknown, path: string, at: number): string {
  if (typeof label === 'string') return label;
  if (typeof label === 'number' || typeof label === 'boolean') return String(label);
  throw new LoadError(path, `sample ${at}: label must be a string or a number, as the models answer it`);
}

function isObject(value: unknown): value is Record<string, unknown> {
  return typeof value === 'object' && value !== null && !Array.isArray(value);
}
