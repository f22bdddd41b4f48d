import { readFileSync } from 'node:fs';
import { describe, expect, it } from 'vitest';
import { loadModule, NodeMemory, ReferenceInterpreter, WasmExecutor } from '../../executor/index.js';
import { parseModule, printModule } from '../../ptx/index.js';
import { firstDifference, referenceResult, runFixture } from '../kernels/index.js';
import { compilerPrograms, gangInputs, gangResults } from './index.js';

const variants = ['fast', 'observed', 'resumable'] as const;
const TURN = 20_000;

describe.each(compilerPrograms.map((program) => [program.name, program] as const))('%s', (_, program) => {
  const expected = referenceResult(program);

  it.each(variants)('computes what plain TypeScript does (%s)', (variant) => {
    const result = runFixture(program, variant, undefined, variant === 'resumable' ? TURN : undefined);
    expect(firstDifference(program, result.buffers, expected)).toBeUndefined();
  });

  it('computes what plain TypeScript does (reference interpreter)', () => {
    const { buffers } = runFixture(program, 'fast', new ReferenceInterpreter());
    expect(firstDifference(program, buffers, expected)).toBeUndefined();
  });

  it('is the same when it was printed and read again', () => {
    const once = printModule(parseModule(readFileSync(program.ptx, 'utf8'), 'once.ptx'));
    expect(printModule(parseModule(once, 'once.ptx'))).toBe(once);
  });
});

describe('OpenACC of GCC', () => {
  const text = readFileSync(new URL('./gangs.ptx', import.meta.url), 'utf8');
  const n = gangInputs.x.length;

  it.each([...variants, 'interpreter' as const])('computes what plain TypeScript does (%s)', (way) => {
    const memory = new NodeMemory({ backingBytes: 16 << 20 });
    const space = memory.createSpace();
    const map = (bytes: Uint8Array): number => {
      const { virtualAddress } = space.map(bytes.byteLength, 'readWrite');
      space.view(virtualAddress, bytes.byteLength).set(bytes);
      return virtualAddress;
    };
    const addresses = (list: readonly number[]): Uint8Array =>
      new Uint8Array(BigUint64Array.from(list, BigInt).buffer);
    const x = map(new Uint8Array(gangInputs.x.slice().buffer));
    const y = map(new Uint8Array(gangInputs.y.slice().buffer));
    const record = map(addresses([x, y, map(new Uint8Array(Int32Array.of(n).buffer))]));
    const module = loadModule(parseModule(text, 'gangs.ptx'), space);
    const [kernel] = module.ir.functions;
    if (kernel === undefined) throw new Error('no kernel');
    const shape = { grid: [4, 1, 1], block: [32, 1, 1], dynamicSharedBytes: 0 } as const;
    const launch = { module, kernel, shape, params: addresses([record]) };
    const blocks = { lo: 0, hi: 4 };
    const result =
      way === 'interpreter'
        ? new ReferenceInterpreter().run(launch, blocks, 'fast', 1_000_000)
        : new WasmExecutor(memory, { vectorAfter: 0 }).run(launch, blocks, way, 1_000_000);
    expect(result.status).toBe('done');
    const left = new Int32Array(space.view(x, 4 * n).slice().buffer);
    expect([...left]).toEqual([...gangResults()]);
  });
});
