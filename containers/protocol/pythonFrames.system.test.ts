import { spawnSync } from 'node:child_process';
import { join } from 'node:path';
import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { packageRoot } from '../../simulator/files/index.js';
import { FRAME_KINDS, type Frame } from './frameFields.js';
import type { ContainerFrame, FrontendFrame, ItemResult } from './frames.js';
import { encodeFrame, FrameReader } from './streamCodec.js';
import { comparable, frameOf } from './tests/arbitraryFrames.js';

const SEED = 20261130;
const SCRIPT = join(packageRoot(), 'containers/python/tests/frameEcho.py');

function python(args: readonly string[], input: string | Uint8Array): Buffer {
  const { status, stdout, stderr } = spawnSync('python3', ['-B', SCRIPT, ...args], {
    input,
    maxBuffer: 1 << 28,
  });
  if (status !== 0) throw new Error(`python3: ${stderr.toString()}`);
  return stdout;
}

const samples = <T>(of: fc.Arbitrary<T>): T[] => fc.sample(of, { seed: SEED, numRuns: 200 });
const base64 = (bytes: Uint8Array): string => Buffer.from(bytes).toString('base64');
const parsed = (lines: Buffer): unknown[] =>
  lines
    .toString()
    .trim()
    .split('\n')
    .map((line) => JSON.parse(line) as unknown);

/** As `repr` of Python has a double, told by what it reads back to. */
const said = (frame: FrontendFrame): unknown =>
  frame.kind === 'cancel'
    ? frame
    : {
        kind: frame.kind,
        batchId: frame.batchId,
        isSuspect: frame.isSuspect === true,
        items: frame.items.map(({ id, budgetNs, bytes }) => [id, budgetNs, base64(bytes)]),
      };

describe('frames in Python', () => {
  it.each([1, 7, 65_536])('are read as they were sent, in pieces of %i bytes', (pieceBytes) => {
    const frames = [...samples(frameOf('predict')), ...samples(frameOf('cancel'))];
    const lines = parsed(
      python(['read', String(pieceBytes)], Buffer.concat(frames.map((one) => encodeFrame(one)))),
    );
    const read = lines.map((line) => {
      const frame = line as { readonly items?: [number, string, string][] };
      const number = (text: string): number => Number(text.replace('inf', 'Infinity'));
      return frame.items === undefined
        ? frame
        : { ...frame, items: frame.items.map(([id, budget, bytes]) => [id, number(budget), bytes]) };
    });
    expect(read).toEqual(frames.map(said));
  });

  it('are written as they are read here', () => {
    const hellos = samples(frameOf('hello')).map(({ golden: _, ...hello }) => hello);
    const downs = samples(frameOf('down')).map(({ isOutside: _, ...down }) => down);
    const results = samples(frameOf('result')).map(({ parts: _, ...result }) => result);
    const frames: ContainerFrame[] = [...hellos, ...downs, ...results];
    const lines = frames.map((frame) => `${JSON.stringify(described(frame))}\n`).join('');
    const read: Frame[] = [];
    new FrameReader((frame) => read.push(frame)).push(python(['write'], lines));
    expect(comparable(read)).toEqual(
      comparable(frames.map((one) => (one.kind === 'hello' ? { ...one, protocolVersion: 2 } : one))),
    );
  });

  it.each<[string, number[], string]>([
    ['a length of 0', [0, 0, 0, 0, 2, 1], 'a frame of 0 bytes'],
    ['a length of 4 GiB', [255, 255, 255, 255, 2, 1], 'a frame of 4294967295 bytes'],
    ['another version', [2, 0, 0, 0, 1, 1], 'a frame of protocol version 1; this side speaks version 2'],
    ['what only a container sends', [2, 0, 0, 0, 2, FRAME_KINDS.indexOf('down')], 'not the server'],
    ['a frame that is too short', [2, 0, 0, 0, 2, 1], 'ends inside a field'],
    ['HTTP', [...Buffer.from('GET / HTTP/1.1')], 'a frame of 542393671 bytes'],
  ])('refuse %s', (_what, bytes, message) => {
    expect(parsed(python(['read', '64'], Uint8Array.from(bytes)))).toEqual([
      { kind: 'refused', message: expect.stringContaining(message) as string },
    ]);
  });
});

function described(frame: ContainerFrame): unknown {
  if (frame.kind === 'hello') {
    const { model, version, replica, inputType, inputLength = null, maxBatchSize, credits } = frame;
    return {
      kind: 'hello',
      fields: [model, version, replica, inputType, inputLength, maxBatchSize, credits],
    };
  }
  if (frame.kind !== 'result') return frame;
  const { batchId, serviceNs, calls = null, results } = frame;
  // JSON has no word for some doubles.
  const text = Object.is(serviceNs, -0) ? '-0' : String(serviceNs);
  return { kind: 'result', batchId, serviceNs: text, calls, results: results.map(resultFields) };
}

function resultFields(result: ItemResult): unknown[] {
  if (!result.ok) return [result.id, result.code, result.message, ''];
  const { id, output, scores } = result;
  if (scores === undefined) return [id, 'answer', output, ''];
  return [
    id,
    'scoredAnswer',
    output,
    base64(new Uint8Array(scores.buffer, scores.byteOffset, scores.byteLength)),
  ];
}
