import { existsSync, mkdtempSync, readFileSync, readdirSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { VirtualClock } from '../../../simulator/time/index.js';
import { importOnnx, ModelError, writeModelFolder } from '../../models/index.js';
import { ProtobufReader, readOnnx, readOnnxTensor } from '../../models/testing/index.js';
import { FrontendDouble } from './frontendDouble.js';
import { message, type Field } from '../../models/testing/index.js';
import { VirtualNode } from '../virtualNode.js';

/** What became of one of ONNX's node tests. */
export type NodeVerdict =
  | { readonly kind: 'right' }
  /** Imports, and some value is not what the test expects. */
  | { readonly kind: 'wrong'; readonly why: string }
  | { readonly kind: 'refused'; readonly why: string };

/** ONNX's node tests as Debian has them. */
export const NODE_TESTS = '/usr/share/libonnx-testdata/data/node';
export const NODE_TESTS_PACKAGE = 'libonnx-testdata';

/** What is written down of all node tests. */
export interface NodeList {
  readonly source: string;
  /** Those of one node from one batch of floats to another: one graph input of float, of two extents at least, and one output of float with the same first extent. */
  readonly batched: readonly string[];
  readonly right: readonly string[];
  /** Why each of the others is refused. */
  readonly refused: Readonly<Record<string, string>>;
  /** Those of the refused that are right where inputs behind the first are constants of the model, as exporters write them. */
  readonly rightWithConstants: readonly string[];
}

const FLOAT = 1;

/** Whether a test's model is one node from one batch of floats to another. */
export function isBatchedFloats(folder: string): boolean {
  const bytes = new Uint8Array(readFileSync(join(folder, 'model.onnx')));
  try {
    const { nodes, inputs, outputs } = readOnnx(bytes, 'model.onnx', folder);
    if (nodes.length !== 1 || inputs.length !== 1 || outputs.length !== 1) return false;
    const [input, output] = [inputs[0], outputs[0]];
    if (input.elementType !== FLOAT || output.elementType !== FLOAT) return false;
    return (input.shape?.length ?? 0) >= 2 && input.shape?.[0] === output.shape?.[0];
  } catch {
    return false;
  }
}

/** The tolerance of ONNX's own runner. */
const RELATIVE = 1e-3;
const ABSOLUTE = 1e-7;

/**
 * Imports the model of a test, asks it the test's inputs and holds it to the test's outputs.
 * @param folder with `model.onnx` and `test_data_set_*`
 * @param withConstants inputs behind the first, but updates of a scatter, become constants of the model
 */
export function judgeNode(folder: string, withConstants = false): NodeVerdict {
  const out = mkdtempSync(join(tmpdir(), 'onnx-node-'));
  try {
    return judge(folder, join(out, 'model'), withConstants);
  } catch (error) {
    if (error instanceof ModelError)
      return { kind: 'refused', why: `${error.field ?? ''}: ${error.problem}` };
    throw error;
  } finally {
    rmSync(out, { recursive: true, force: true });
  }
}

function judge(folder: string, out: string, withConstants: boolean): NodeVerdict {
  const file = new Uint8Array(readFileSync(join(folder, 'model.onnx')));
  const names = readdirSync(folder).filter((name) => name.startsWith('test_data_set_'));
  const sets = (): AskedSet[] =>
    names.map((set): AskedSet => {
      const of = (kind: string): Float64Array[] => {
        const found: Float64Array[] = [];
        for (let place = 0; existsSync(join(folder, set, `${kind}_${place}.pb`)); place++)
          found.push(readTensor(join(folder, set, `${kind}_${place}.pb`)).values);
        return found;
      };
      return { inputs: of('input'), outputs: of('output') };
    });
  if (!withConstants) return judgeModel(file, sets, out, folder);
  const constants = readOnnx(file, 'model.onnx', folder).inputs.flatMap(({ name }, place) =>
    place === 0 || name === 'updates' ? [] : [{ name, place }],
  );
  const isAsked = (_values: unknown, place: number): boolean =>
    !constants.some((constant) => constant.place === place);
  const asked = (): AskedSet[] =>
    sets()
      .slice(0, 1)
      .map(({ inputs, outputs }) => ({ inputs: inputs.filter(isAsked), outputs }));
  const tensors = constants.map(({ name, place }): Field => {
    const bytes = new Uint8Array(readFileSync(join(folder, names[0], `input_${place}.pb`)));
    // The last of several names counts.
    return [5, new Uint8Array(Buffer.concat([bytes, message([[8, name]])]))];
  });
  return judgeModel(withTensors(file, tensors), asked, out, folder);
}

/** The file with more initializers in its graph: the graph is written again, behind what it was. */
function withTensors(file: Uint8Array, tensors: readonly Field[]): Uint8Array {
  const reader = new ProtobufReader(file);
  let graph = new Uint8Array();
  while (reader.next()) {
    if (reader.field === 7) graph = new Uint8Array(reader.data());
    else reader.skip();
  }
  // The last of several graphs counts.
  const whole = new Uint8Array(Buffer.concat([graph, message(tensors)]));
  return new Uint8Array(Buffer.concat([file, message([[7, whole]])]));
}

/** Values of a model's inputs, and what it is to answer. */
export interface AskedSet {
  readonly inputs: readonly ArrayLike<number>[];
  readonly outputs: readonly ArrayLike<number>[];
}

/**
 * Imports a model, asks it and holds it to its outputs.
 * @param sets asked for once the import is there: those of a model that is refused may be no tensors
 * @param out folder to write the import into
 * @param folder of the model's further files
 * @throws ModelError where the import refuses it
 */
export function judgeModel(
  bytes: Uint8Array,
  sets: () => readonly AskedSet[],
  out: string,
  folder?: string,
): NodeVerdict {
  const model = importOnnx(bytes, 'model.onnx', {
    name: 'node',
    maxBatchSize: 32,
    answersValues: true,
    ...(folder === undefined ? {} : { folder }),
  });
  const path = writeModelFolder(model, out).folder;
  const { manifest } = model;
  const [input] = manifest.inputs;
  const tensors = input.tensors ?? [];
  for (const { inputs, outputs } of sets()) {
    const widths = tensors.map(({ shape }) => shape.reduce((product, extent) => product * extent, 1));
    // A graph that has a batch is asked once for each of its rows.
    const rows = inputs[0].length / widths[0];
    const items = Array.from({ length: rows }, (_, row) =>
      tensors.flatMap((_tensor, place) =>
        Array.from({ length: widths[place] }, (_value, k) => inputs[place][row * widths[place] + k]),
      ),
    );
    const answers = ask(path, input.type, items);
    if (typeof answers === 'string') return { kind: 'wrong', why: answers };
    const { answer } = manifest;
    const names = answer.kind === 'tensors' ? answer.outputs : [];
    const count = answer.kind === 'tensors' ? names.length : 1;
    for (let place = 0; place < Math.min(count, outputs.length); place++) {
      const name = manifest.outputs.find((output) => output.name === names[place])?.tensor?.name ?? '';
      const got = answers.flatMap((text) => {
        const json = JSON.parse(text) as number | number[] | Record<string, number[]>;
        if (typeof json === 'number') return [json];
        return Array.isArray(json) ? json : json[name];
      });
      const why = difference(got, outputs[place]);
      if (why !== undefined) return { kind: 'wrong', why: `output ${place}: ${why}` };
    }
  }
  return { kind: 'right' };
}

function readTensor(file: string): { readonly values: Float64Array } {
  return readOnnxTensor(new Uint8Array(readFileSync(file)), file);
}

function ask(path: string, inputType: string, items: readonly (readonly number[])[]): string[] | string {
  const clock = new VirtualClock();
  const node = new VirtualNode({ clock });
  const frontend = new FrontendDouble(
    node.start({ model: 'm', version: '1', replica: '0', inputType: inputType as 'floats', path }),
  );
  clock.run();
  const id = frontend.ask(items.map((item) => encoded(inputType, item)));
  clock.run();
  node.close(() => undefined);
  if (!frontend.kinds().includes('hello')) return `it does not start: ${JSON.stringify(frontend.frames)}`;
  const result = frontend.result(id);
  const failed = result?.results.find(({ ok }) => !ok);
  if (result === undefined) return 'no answer';
  return failed === undefined ? [...frontend.outcomes(id)] : JSON.stringify(failed);
}

function encoded(inputType: string, values: readonly number[]): Uint8Array {
  switch (inputType) {
    case 'floats':
      return new Uint8Array(Float32Array.from(values).buffer);
    case 'doubles':
      return new Uint8Array(Float64Array.from(values).buffer);
    case 'integers':
      return new Uint8Array(Int32Array.from(values).buffer);
    default:
      return Uint8Array.from(values);
  }
}

function difference(got: readonly number[], expected: ArrayLike<number>): string | undefined {
  if (got.length !== expected.length) return `${got.length} values, expected ${expected.length}`;
  const at = got.findIndex(
    (value, k) =>
      !(
        value === expected[k] || Math.abs(value - expected[k]) <= ABSOLUTE + RELATIVE * Math.abs(expected[k])
      ),
  );
  return at < 0 ? undefined : `values[${at}] is ${got[at]}, expected ${expected[at]}`;
}
