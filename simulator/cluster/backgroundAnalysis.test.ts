import { describe, expect, it } from 'vitest';
import type { LaunchReport } from '../driver/index.js';
import { analyzeKernel, contentKey, VERDICT_COSTS } from '../idempotency/index.js';
import { lowerModule, parseModule } from '../ptx/index.js';
import { VirtualClock } from '../time/index.js';
import { Contended } from './tests/killedKernel.js';
import { GpuNode, type KernelAnalyst, type UnknownKernel } from './index.js';

/** Keeps what it is asked, and answers when a test says so. */
class LateAnalyst implements KernelAnalyst {
  readonly asked: UnknownKernel[] = [];

  onUnknownKernel(kernel: UnknownKernel): void {
    this.asked.push(kernel);
  }

  answer(node: GpuNode): void {
    for (const { key, kernel, ptx, file } of this.asked.splice(0)) {
      node.takeAnalysis({ key, summary: analyzeKernel(lowerModule(parseModule(ptx, file)), kernel) });
    }
  }
}

/** A victim that something urgent comes in the way of; the analysis is done before, after the victim's launch, or never. */
function contended(answered: 'before' | 'after' | 'never') {
  const analyst = new LateAnalyst();
  const run = new Contended({ scheduling: 'killRestart', analyst });
  if (answered === 'before') analyst.answer(run.node);
  const ticket = run.startVictim();
  const startNs = run.clock.nowNs();
  run.clock.run(startNs + 20_000);
  if (answered === 'after') analyst.answer(run.node);
  run.startUrgent();
  const output = run.output();
  const report = run.best.find(ticket)?.result?.launch as LaunchReport;
  return { run, output, report };
}

describe('kernels that are analysed while a node goes on', () => {
  it('are asked for once when their modules are loaded, by their content', () => {
    const analyst = new LateAnalyst();
    const { node } = new Contended({ scheduling: 'killRestart', analyst });
    expect(analyst.asked).toHaveLength(1);
    const [{ key, kernel, ptx, file }] = analyst.asked;
    expect([kernel, file]).toEqual(['strides', 'strides.ptx']);
    const ir = lowerModule(parseModule(ptx, file));
    const [entry] = ir.functions.filter(({ isEntry }) => isEntry);
    expect(contentKey(ir, entry)).toBe(key);
    expect(node.verdictMetrics()?.kernels.conditional).toBe(0);
  });

  it('are asked for where launches may be killed, and nowhere else', () => {
    const analyst = new LateAnalyst();
    new Contended({ scheduling: 'drain', analyst });
    expect(analyst.asked).toEqual([]);
  });

  it('are not killed before, and are from then on, in the middle too; the same bytes are left whenever that is', () => {
    const runs = (['before', 'after', 'never'] as const).map(contended);
    expect(runs.map(({ run }) => run.node.reading(0).preemptions.kills)).toEqual([1, 1, 0]);
    expect(runs.map(({ report }) => report.kills)).toEqual([1, 1, undefined]);
    for (const { output } of runs) expect(Buffer.compare(output, runs[0].output)).toBe(0);
    const [before, after, never] = runs.map(({ run }) => run.node.verdictMetrics());
    expect(before).toMatchObject({ idempotent: 1, pending: 0 });
    expect(after).toMatchObject({ idempotent: 1, pending: 1, kernels: { conditional: 1 } });
    expect(never).toMatchObject({ idempotent: 0, pending: 1, kernels: { conditional: 0 } });
  });

  it('are not killed in the middle when something of their context was under way beside them', () => {
    const analyst = new LateAnalyst();
    const run = new Contended({ scheduling: 'killRestart', analyst });
    const stream = run.best.handle('streamCreate', { priority: 0, nonBlocking: true });
    run.startVictim();
    run.clock.run(run.clock.nowNs() + 15_000);
    // Of memory that the victim does not touch: nobody knew that then.
    const address = run.best.handle('malloc', { bytes: 4096 });
    run.best.call('memcpyHostToDevice', { address, bytes: new Uint8Array(4096), pinned: true }, stream);
    analyst.answer(run.node);
    run.startUrgent();
    const output = run.output();
    expect(run.node.reading(0).preemptions.kills).toBe(0);
    expect(Buffer.compare(output, contended('never').output)).toBe(0);
  });

  it('cost the submitting thread what a look at the library takes', () => {
    const startNs = (answered: boolean): number => {
      const analyst = new LateAnalyst();
      const run = new Contended({ scheduling: 'killRestart', analyst });
      if (answered) analyst.answer(run.node);
      const beforeNs = run.clock.nowNs();
      const ticket = run.startVictim();
      while (run.best.find(ticket) === undefined && run.clock.step());
      return (run.best.find(ticket)?.result?.launch?.startNs ?? NaN) - beforeNs;
    };
    expect(startNs(true) - startNs(false)).toBeCloseTo(VERDICT_COSTS.launchNs - VERDICT_COSTS.kernelNs, 3);
  });

  it('cost a look at what was kept where the same launch was judged before', () => {
    const waits = (launchNs: number): readonly number[] => {
      const run = new Contended({ scheduling: 'killRestart', verdictCosts: { ...VERDICT_COSTS, launchNs } });
      return [1, 2].map(() => {
        run.clock.run();
        const beforeNs = run.clock.nowNs();
        const ticket = run.startVictim();
        while (run.best.find(ticket) === undefined && run.clock.step());
        return (run.best.find(ticket)?.result?.launch?.startNs ?? NaN) - beforeNs;
      });
    };
    const [cheap, dear] = [waits(100), waits(5_000)];
    expect(dear[0] - cheap[0]).toBeCloseTo(4_900, 3);
    expect(dear[1]).toBeCloseTo(cheap[1], 3);
  });

  it('repeat to the same hash, and stay known in forks and snapshots', () => {
    const analyst = new LateAnalyst();
    const options = { scheduling: 'killRestart', analyst } as const;
    const run = new Contended(options);
    const unknown = run.node.hash();
    analyst.answer(run.node);
    expect(run.node.hash()).not.toBe(unknown);
    const again = new Contended(options);
    expect(again.node.hash()).toBe(unknown);
    analyst.answer(again.node);
    expect(again.node.hash()).toBe(run.node.hash());
    const snapshot = structuredClone(run.node.snapshot());
    const clocks = [new VirtualClock(), new VirtualClock()];
    for (const clock of clocks) clock.advanceTo(run.clock.nowNs());
    const copies = [
      run.node.fork(clocks[0]),
      GpuNode.restore(clocks[1], { ...options, gpus: ['h200'], backingBytes: 64 * 2 ** 20 }, snapshot),
    ];
    for (const copy of copies) expect(copy.hash()).toBe(run.node.hash());
    expect(analyst.asked).toEqual([]);
  });

  it('are asked for by a copy, where the original had not heard of them', () => {
    const analyst = new LateAnalyst();
    const run = new Contended({ scheduling: 'killRestart', analyst });
    run.startVictim();
    const clock = new VirtualClock();
    clock.advanceTo(run.clock.nowNs());
    analyst.asked.length = 0;
    run.node.fork(clock);
    clock.run();
    expect(analyst.asked.map(({ kernel }) => kernel)).toEqual(['strides']);
  });
});
