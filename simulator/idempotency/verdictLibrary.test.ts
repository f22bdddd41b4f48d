import { readFileSync } from 'node:fs';
import { describe, expect, it } from 'vitest';
import { loadModule, NodeMemory, type LoadedModule } from '../executor/index.js';
import { parseModule, type IrFunction } from '../ptx/index.js';
import { analyzeKernel } from './analysis/index.js';
import type { ValidatedLaunch } from './validator/index.js';
import { contentKey, VERDICT_COSTS, VerdictLibrary } from './verdictLibrary.js';

const text = readFileSync(new URL('validator/tests/boundary.ptx', import.meta.url), 'utf8');

function loaded(ptx = text): LoadedModule {
  return loadModule(parseModule(ptx, 'boundary.ptx'), new NodeMemory({ isDeclaredOnly: true }).createSpace());
}

function kernelOf(module: LoadedModule, name: string): IrFunction {
  const found = module.ir.functions.find((fn) => fn.name === name);
  if (found === undefined) throw new RangeError(name);
  return found;
}

function launchOf(kernel: IrFunction, args: readonly number[]): ValidatedLaunch {
  const params = new Uint8Array(kernel.parameterBytes);
  const view = new DataView(params.buffer);
  kernel.parameters.forEach(({ offset, bytes }, index) => {
    if (bytes === 8) view.setBigUint64(offset, BigInt(args[index] ?? 0), true);
    else view.setUint32(offset, args[index] ?? 0, true);
  });
  return { params, shape: { grid: [4, 1, 1], block: [64, 1, 1] } };
}

describe('a library of verdicts', () => {
  const module = loaded();
  const add = kernelOf(module, 'add');
  const apart = launchOf(add, [0x10000, 0x20000, 0x30000, 200]);
  const same = launchOf(add, [0x10000, 0x10000, 0x30000, 200]);

  it('refuses until a kernel is analysed, once for each content', () => {
    const library = new VerdictLibrary();
    expect(library.judge(module, add, apart)).toEqual({
      idempotent: false,
      kind: 'pending',
      costNs: VERDICT_COSTS.kernelNs,
    });
    const again = loaded();
    expect(library.judge(again, kernelOf(again, 'add'), apart).kind).toBe('pending');
    expect(library.pending()).toBe(1);
    expect(library.analyseNext()).toBe(true);
    expect(library.analyseNext()).toBe(false);
    expect(library.judge(module, add, apart)).toMatchObject({
      idempotent: true,
      kind: 'launch',
      costNs: VERDICT_COSTS.launchNs,
    });
    expect(library.judge(again, kernelOf(again, 'add'), same)).toMatchObject({
      idempotent: false,
      cause: 'SO',
    });
    expect(library.metrics).toMatchObject({
      idempotent: 1,
      pending: 2,
      refused: { SO: 1 },
      kernels: { idempotent: 0, nonIdempotent: 0, conditional: 1 },
    });
  });

  it('tells another kernel by its content, whatever its name', () => {
    const renamed = loaded(text.replaceAll(/\badd\b(?=\()/g, 'sum'));
    expect(contentKey(renamed.ir, kernelOf(renamed, 'sum')).length).toBe(64);
    const changed = loaded(text.replace('add.f32', 'mul.f32'));
    expect(contentKey(changed.ir, kernelOf(changed, 'add'))).not.toBe(contentKey(module.ir, add));
    expect(contentKey(loaded().ir, kernelOf(loaded(), 'add'))).toBe(contentKey(module.ir, add));
  });

  it('decides by kernel where the kernel decides', () => {
    const library = new VerdictLibrary();
    const [fill, count] = [kernelOf(module, 'fill'), kernelOf(module, 'count')];
    expect(library.isIdempotentKernel(module, fill)).toBe(false);
    library.judge(module, count, launchOf(count, [0x10000, 5]));
    while (library.analyseNext());
    expect(library.isIdempotentKernel(module, fill)).toBe(true);
    expect(library.isIdempotentKernel(module, count)).toBe(false);
    expect(library.judge(module, fill, launchOf(fill, [0x10000, 5]))).toMatchObject({
      idempotent: true,
      kind: 'kernel',
      costNs: VERDICT_COSTS.kernelNs,
    });
    expect(library.judge(module, count, launchOf(count, [0x10000, 5]))).toMatchObject({
      idempotent: false,
      kind: 'kernel',
      cause: 'SO',
    });
  });

  it('takes latencies from the stopwatch that it is given', () => {
    let now = 0;
    const library = new VerdictLibrary({ stopwatchNs: () => (now += 250) });
    library.judge(module, add, apart);
    library.analyseNext();
    library.judge(module, add, apart);
    library.judge(module, add, same);
    expect(library.metrics.latency).toEqual({
      count: 2,
      totalNs: 500,
      mostNs: 250,
      counts: [0, 2, 0, 0, 0, 0, 0, 0, 0, 0],
    });
  });

  it('takes what was found elsewhere, before or after a module is there, and asks once for each content', () => {
    const summary = analyzeKernel(module.ir, 'add');
    const library = new VerdictLibrary();
    expect(library.judge(module, add, apart).kind).toBe('pending');
    const key = library.request(module.ir, add) ?? '';
    expect(key).toBe(contentKey(module.ir, add));
    const again = loaded();
    expect(library.request(again.ir, kernelOf(again, 'add'))).toBeUndefined();
    library.take({ key, summary });
    expect(library.pending()).toBe(0);
    expect(library.judge(again, kernelOf(again, 'add'), apart).idempotent).toBe(true);
    expect(library.metrics.kernels.conditional).toBe(1);
    const other = new VerdictLibrary();
    for (const each of library.taken()) other.take(structuredClone(each));
    expect(other.request(module.ir, add)).toBeUndefined();
    expect(other.judge(module, add, same)).toMatchObject({ idempotent: false, cause: 'SO' });
  });

  it('judges by what was found last, and hands that on', () => {
    const better = analyzeKernel(module.ir, 'add');
    const reason = { cause: 'NA', text: 'not looked at closely', lines: [1] } as const;
    const worse = { ...better, class: 'nonIdempotent', reason } as const;
    const key = contentKey(module.ir, add);
    const library = new VerdictLibrary();
    library.take({ key, summary: worse });
    expect(library.judge(module, add, apart)).toMatchObject({ idempotent: false, cause: 'NA' });
    library.take({ key, summary: better });
    expect(library.judge(module, add, apart).idempotent).toBe(true);
    expect(library.metrics.kernels).toEqual({ idempotent: 0, nonIdempotent: 0, conditional: 1 });
    expect(library.taken()).toEqual([{ key, summary: better }]);
    // Also of what it has analysed itself.
    const own = new VerdictLibrary();
    own.judge(module, add, apart);
    own.analyseNext();
    own.take({ key, summary: worse });
    expect(own.judge(module, add, apart).idempotent).toBe(false);
    expect(own.metrics.kernels).toEqual({ idempotent: 0, nonIdempotent: 1, conditional: 0 });
  });
});
