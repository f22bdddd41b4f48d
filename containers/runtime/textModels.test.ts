import { mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import { packageRoot } from '../../simulator/files/index.js';
import { VirtualClock } from '../../simulator/time/index.js';
import { importSklearn, loadKernelModel, ModelError, writeModelFolder } from '../models/index.js';
import type { ContainerFrame, ResultFrame } from '../protocol/index.js';
import { KernelModelContainer } from './kernel/index.js';
import { tryModel } from './trial/index.js';
import { FrontendDouble } from './tests/frontendDouble.js';
import { VirtualNode } from './virtualNode.js';

const EXPORTS = join(packageRoot(), 'containers/runtime/tests/sklearn');
const UTF8 = new TextEncoder();

let folder: string;
beforeEach(() => {
  folder = mkdtempSync(join(tmpdir(), 'texts-'));
});
afterEach(() => rmSync(folder, { recursive: true }));

function imported(name: string): string {
  const file = join(EXPORTS, `${name}.json`);
  const model = importSklearn(readFileSync(file, 'utf8'), file, { inputType: 'doubles', maxBatchSize: 8 });
  return writeModelFolder(model, join(folder, name)).folder;
}

describe('models of strings', () => {
  it.each([
    ['counts', 33],
    ['tableUnknown', 20],
  ])('%s answers as scikit-learn does', (name, cases) => {
    const { golden, problem } = tryModel(imported(name));
    expect({ problem, golden }).toEqual({
      problem: undefined,
      golden: { cases, passed: cases, failures: [] },
    });
  });

  it('take strings of any length, and measure without golden inputs too', () => {
    const path = imported('tableUnknown');
    const { manifest } = loadKernelModel(path);
    expect(manifest.inputs[0]).toMatchObject({
      type: 'strings',
      encoding: { file: 'encoding.json', columns: ['x0', 'x1', 'x2', 'x3', 'x4'] },
    });
    rmSync(join(path, 'golden.json'));
    const { problem, batches } = tryModel(path);
    expect(problem).toBeUndefined();
    expect(batches.map(({ batchSize }) => batchSize)).toEqual([1, 2, 4, 8]);
  });

  it('refuse a query that they cannot take, and answer the others of its batch', () => {
    const clock = new VirtualClock();
    const node = new VirtualNode({ clock });
    const frontend = new FrontendDouble(
      node.start({
        model: 'm',
        version: '1',
        replica: '0',
        inputType: 'strings',
        path: imported('tableUnknown'),
      }),
    );
    clock.run();
    expect(frontend.frames[0]).toMatchObject({ kind: 'hello', inputType: 'strings' });
    expect(frontend.frames[0]).not.toHaveProperty('inputLength');
    const rows = [
      ['red', '1', 0.5, true, ''],
      ['red', '1', 'much', true, ''],
      ['mauve', '1', 0.5, false, ''],
    ];
    const id = frontend.ask(rows.map((row) => UTF8.encode(JSON.stringify(row))));
    clock.run();
    node.close(() => undefined);
    expect(frontend.outcomes(id)).toEqual(['yes', 'invalidInput', expect.any(String)]);
    expect(frontend.result(id)?.results[1]).toMatchObject({
      message: `input[2] (column 'x2') must be a number, "much" came`,
    });
  });

  it('let the host do something else while they read a long text', () => {
    const clock = new VirtualClock();
    const virtual = new VirtualNode({ clock });
    const frames: ContainerFrame[] = [];
    const turns: (() => void)[] = [];
    const container = new KernelModelContainer({
      model: loadKernelModel(imported('counts')),
      identity: { model: 'm', version: '1', replica: '0' },
      clock,
      driver: virtual.gpuNode,
      gpu: 0,
      hostTurn: (next) => turns.push(next),
      outlet: { onFrame: (frame) => void frames.push(frame) },
    });
    clock.run();
    const ask = (batchId: number, text: string): void => {
      container.onFrame({
        kind: 'predict',
        batchId,
        items: [{ id: 0, bytes: UTF8.encode(text), budgetNs: 1e9 }],
      });
      clock.run();
    };
    const answered = (): number[] =>
      frames.filter((frame): frame is ResultFrame => frame.kind === 'result').map(({ batchId }) => batchId);
    ask(1, 'goal moon '.repeat(12_000));
    ask(2, 'orbit telescope');
    ask(3, 'goal moon '.repeat(12_000));
    // The short one does not wait for the long ones.
    expect(answered()).toEqual([2]);
    expect(turns).toHaveLength(2);
    container.onFrame({ kind: 'cancel', batchId: 3, itemIds: [0] });
    for (let turn = turns.shift(); turn !== undefined; turn = turns.shift()) turn();
    clock.run();
    expect(answered().sort()).toEqual([1, 2, 3]);
    const outcome = (batchId: number) =>
      frames
        .filter((frame): frame is ResultFrame => frame.kind === 'result')
        .find((frame) => frame.batchId === batchId)?.results[0];
    expect(outcome(1)).toMatchObject({ ok: true, output: 'sport' });
    expect(outcome(3)).toMatchObject({ ok: false, code: 'cancelled' });
    // One that is closed over a text does not go on.
    ask(4, 'goal moon '.repeat(12_000));
    container.close();
    for (let turn = turns.shift(); turn !== undefined; turn = turns.shift()) turn();
    clock.run();
    expect(answered()).not.toContain(4);
    virtual.close(() => undefined);
  });

  it.each<[string, (encoding: { parts: Record<string, unknown>[] }) => void, string]>([
    ['another width', ({ parts }) => void parts.pop(), 'parts: they make'],
    [
      'a column that is not there',
      ({ parts }) => void (parts[0].column = 9),
      'parts[0].column: 9 of 5 columns',
    ],
    ['no category', ({ parts }) => void (parts[0].categories = []), 'parts[0].categories'],
    ['an unknown kind', ({ parts }) => void (parts[0].kind = 'colour'), 'parts[0].kind'],
  ])('with an encoding of %s is refused', (_what, change, problem) => {
    const path = imported('tableUnknown');
    const file = join(path, 'encoding.json');
    const encoding = JSON.parse(readFileSync(file, 'utf8')) as { parts: Record<string, unknown>[] };
    change(encoding);
    writeFileSync(file, JSON.stringify(encoding));
    expect(() => loadKernelModel(path)).toThrow(ModelError);
    expect(() => loadKernelModel(path)).toThrow(problem);
  });
});
