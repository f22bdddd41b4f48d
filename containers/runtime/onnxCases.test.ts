import { mkdtempSync, readFileSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import { packageRoot } from '../../simulator/files/index.js';
import { judgeModel } from './tests/onnxNodeSuite.js';

interface PackedTensor {
  readonly dims: readonly number[];
  /** Floats, little-endian, in base64. */
  readonly values: string;
}

interface Case {
  readonly name: string;
  readonly source: string;
  readonly model: string;
  readonly inputs: readonly PackedTensor[];
  readonly outputs: readonly PackedTensor[];
}

const FILE = join(packageRoot(), 'containers/runtime/tests/onnxCases.json');
const { cases } = JSON.parse(readFileSync(FILE, 'utf8')) as { readonly cases: readonly Case[] };

let folder: string;
beforeEach(() => {
  folder = mkdtempSync(join(tmpdir(), 'cases-'));
});
afterEach(() => rmSync(folder, { recursive: true }));

function numbers({ dims, values }: PackedTensor): Float32Array {
  const floats = new Float32Array(new Uint8Array(Buffer.from(values, 'base64')).buffer);
  expect(floats).toHaveLength(dims.reduce((product, extent) => product * extent, 1));
  return floats;
}

describe('attention and fused operators', () => {
  it.each(cases.map(({ name, source }, place) => [name, source, place] as const))(
    '%s answers as %s does',
    (_name, _source, place) => {
      const { model, inputs, outputs } = cases[place];
      const set = { inputs: inputs.map(numbers), outputs: outputs.map(numbers) };
      const bytes = new Uint8Array(Buffer.from(model, 'base64'));
      expect(judgeModel(bytes, () => [set], join(folder, 'model'))).toEqual({ kind: 'right' });
    },
  );
});
