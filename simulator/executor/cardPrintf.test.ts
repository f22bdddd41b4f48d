import { readFileSync } from 'node:fs';
import { describe, expect, it } from 'vitest';
import { parseModule } from '../ptx/index.js';
import { loadModule, NodeMemory, ReferenceInterpreter, WasmExecutor, type RunResult } from './index.js';
import { packParams } from './tests/referenceLaunch.js';

const card = (name: string): string =>
  readFileSync(new URL(`../laboratory/printf/${name}`, import.meta.url), 'utf8');

/** What the card has written, up to the marks that the host adds. */
const written = card('printf.txt').split('\n');
/** The card prints rubbish for sizes that its manual does not name: what C prints stands in its place. */
const rubbish = written.findIndex((line) => line.startsWith('4464|'));
written[rubbish] = '4464|4464|44|44|ff|';
const end = written.indexOf('ende');
const formats = written.slice(0, end + 1);
const order = written.slice(end + 1, written.indexOf('x'));
const returns = written.slice(written.indexOf('x')).filter((line) => !/^(return|heap|after)/.test(line));
const values = (mark: string): number[] =>
  written.filter((line) => line.startsWith(`${mark} `)).map((line) => Number(line.split(' ')[1]));

const lines = (result: RunResult): string[] => (result.printed ?? '').split('\n');

describe.each(['fast', 'interpreter'] as const)('as on the card (%s)', (runner) => {
  const memory = new NodeMemory({ backingBytes: 64 * 2 ** 20 });
  const space = memory.createSpace();
  const module = loadModule(parseModule(card('printf.ptx'), 'printf.ptx'), space);
  const executor =
    runner === 'interpreter' ? new ReferenceInterpreter() : new WasmExecutor(memory, { vectorAfter: 0 });

  function run(name: string, values: readonly number[], threads = 1, blocks = 1): RunResult {
    const kernel = module.ir.functions.find((fn) => fn.isEntry && fn.name === name);
    if (kernel === undefined) throw new Error(`no kernel ${name}`);
    const shape = { grid: [blocks, 1, 1], block: [threads, 1, 1], dynamicSharedBytes: 0 } as const;
    const launch = { module, kernel, shape, params: packParams(kernel, values) };
    return executor.run(launch, { lo: 0, hi: blocks }, 'fast', 1e7);
  }

  it('prints every format', () => {
    expect(lines(run('formats', [1])).slice(0, -1)).toEqual(formats);
  });

  it('prints lanes in order, one call after another; which way of a branch goes first is open', () => {
    const printed = lines(run('order', [], 4)).slice(0, -1);
    expect(printed.slice(0, 8)).toEqual(order.slice(0, 8));
    expect(printed.slice(8, 12).sort()).toEqual(order.slice(8, 12).sort());
    expect(printed.slice(12)).toEqual(order.slice(12));
  });

  it('returns how many arguments there were', () => {
    const out = space.map(64, 'readWrite').virtualAddress;
    expect(lines(run('returns', [out]))).toEqual(returns);
    expect([...new Int32Array(Uint8Array.from(space.view(out, 24)).buffer)]).toEqual(values('return'));
  });

  it('tells of failed assertions', () => {
    const result = run('fails', [6], 4, 2);
    expect(result.status === 'fault' && result.fault).toMatchObject({
      code: 'assertion',
      block: [1, 0, 0],
      thread: [2, 0, 0],
    });
    expect(result.printed).toBe(card('assertion.txt'));
  });

  it('allocates as the card does: aligned to 16, an address for no bytes, null for too many', () => {
    const out = space.map(64, 'readWrite').virtualAddress;
    expect(run('heap', [out]).status).toBe('done');
    const words = [...new BigUint64Array(Uint8Array.from(space.view(out, 32)).buffer)].map(Number);
    expect(words).toEqual(values('heap'));
  });
});
