import { readFileSync } from 'node:fs';
import { describe, expect, it } from 'vitest';
import { parseModule } from '../ptx/index.js';
import { loadModule, NodeMemory, ReferenceInterpreter, WasmExecutor } from './index.js';
import type { ExecutorLaunch, RunResult } from './types.js';

/** Every spelling that the parser admits, behind a branch that no thread takes: it has to have a meaning, not values. */
function guardedSpellings(): string {
  const text = readFileSync(new URL('../ptx/fixtures/spellings.ptx', import.meta.url), 'utf8');
  const lines = text.split('\n');
  const body = lines.findIndex((line) => line.startsWith('.reg .v4')) + 1;
  const end = lines.lastIndexOf('ret;');
  return [
    ...lines.slice(0, body),
    'mov.u32 %r8, %tid.x; setp.gt.u32 %p8, %r8, 5000; @!%p8 bra END;',
    ...lines.slice(body, end),
    'END: ret;',
    ...lines.slice(end + 1),
  ].join('\n');
}

type Run = (memory: NodeMemory, launch: ExecutorLaunch) => RunResult;
const range = { lo: 0, hi: 1 };
const fuel = 1_000_000;
const compiled =
  (variant: 'fast' | 'observed' | 'resumable'): Run =>
  (memory, launch) =>
    new WasmExecutor(memory, { vectorAfter: 0 }).run(launch, range, variant, fuel);

describe('every spelling of the parser', () => {
  it.each<[string, Run]>([
    ['fast', compiled('fast')],
    ['observed', compiled('observed')],
    ['resumable', compiled('resumable')],
    ['interpreter', (_, launch) => new ReferenceInterpreter().run(launch, range, 'fast', fuel)],
  ])('has a meaning: %s', (_, run) => {
    const memory = new NodeMemory({ backingBytes: 16 << 20 });
    const module = loadModule(parseModule(guardedSpellings(), 'spellings.ptx'), memory.createSpace());
    const [kernel] = module.ir.functions;
    if (kernel === undefined) throw new Error('no kernel');
    expect(kernel.refusal).toBeUndefined();
    expect(kernel.instructions.length).toBeGreaterThan(280);
    const shape = { grid: [1, 1, 1], block: [32, 1, 1], dynamicSharedBytes: 0 } as const;
    const launch = { module, kernel, shape, params: new Uint8Array(kernel.parameterBytes) };
    expect(run(memory, launch).status).toBe('done');
  });
});
