import { describe, expect, it } from 'vitest';
import type { UnknownKernel } from '../../../simulator/cluster/index.js';
import { analyzeKernel } from '../../../simulator/idempotency/index.js';
import { lowerModule, parseModule } from '../../../simulator/ptx/index.js';
import { AnalysisLine } from './analysisLine.js';

const PTX = '.version 8.0\n.target sm_90\n.address_size 64\n.visible .entry k() { ret; }';
const summary = analyzeKernel(lowerModule(parseModule(PTX, 'k.ptx')), 'k');
const kernel = (key: string): UnknownKernel => ({ key, kernel: 'k', ptx: PTX, file: 'k.ptx' });
const analysed = (key: string, isRemembered = false, isUnasked = false) =>
  ({ kind: 'analysed', analysis: { key, summary }, hostNs: 1e9, isRemembered, isUnasked }) as const;

describe('a line to the analyst of kernels', () => {
  it('wants a port with the first question, and asks all that have come meanwhile', () => {
    let wanted = 0;
    const line = new AnalysisLine(() => wanted++);
    expect(wanted).toBe(0);
    line.onUnknownKernel(kernel('a'));
    line.onUnknownKernel(kernel('b'));
    expect(wanted).toBe(1);
    const asked: string[] = [];
    line.connect({ postMessage: ({ key }) => asked.push(key) });
    line.onUnknownKernel(kernel('c'));
    expect(asked).toEqual(['a', 'b', 'c']);
    expect(line.report()).toMatchObject({ waiting: 3, analysed: 0 });
  });

  it('hands on what comes, and counts it', () => {
    const line = new AnalysisLine(() => undefined);
    for (const key of ['a', 'b', 'c']) line.onUnknownKernel(kernel(key));
    line.connect({ postMessage: () => undefined });
    expect(line.onReply(analysed('a'))).toEqual({ key: 'a', summary });
    expect(line.onReply(analysed('b', true))).toEqual({ key: 'b', summary });
    expect(line.onReply({ kind: 'failed', key: 'c', reason: 'too large' })).toBeUndefined();
    expect(line.onReply(analysed('a'))).toBeUndefined();
    expect(line.report()).toEqual({
      waiting: 0,
      analysed: 1,
      remembered: 1,
      failed: 1,
      improved: 0,
      unasked: 0,
      broken: 0,
      hostSeconds: 2,
      mostHostSeconds: 1,
    });
  });

  it('hands on what a solver has found since then, and counts that by itself', () => {
    const line = new AnalysisLine(() => undefined);
    for (const key of ['a', 'b', 'c']) line.onUnknownKernel(kernel(key));
    line.connect({ postMessage: () => undefined });
    for (const key of ['a', 'b']) line.onReply(analysed(key));
    line.onReply(analysed('c', false, true));
    const improvement = { key: 'a', summary };
    const proved = { kind: 'proved', hostNs: 3e9, isBroken: false } as const;
    expect(line.onReply({ ...proved, analysis: improvement })).toBe(improvement);
    expect(line.onReply(proved)).toBeUndefined();
    expect(line.onReply({ ...proved, isBroken: true })).toBeUndefined();
    expect(line.report()).toMatchObject({
      analysed: 3,
      improved: 1,
      unasked: 1,
      broken: 1,
      hostSeconds: 12,
      mostHostSeconds: 3,
    });
  });

  it('asks the next analyst for all but what the last one died of', () => {
    let wanted = 0;
    const line = new AnalysisLine(() => wanted++);
    for (const key of ['a', 'b', 'c']) line.onUnknownKernel(kernel(key));
    line.connect({ postMessage: () => undefined });
    line.onReply(analysed('a'));
    line.onGone();
    expect(wanted).toBe(2);
    const asked: string[] = [];
    line.connect({ postMessage: ({ key }) => asked.push(key) });
    expect(asked).toEqual(['c']);
    expect(line.report()).toMatchObject({ waiting: 1, failed: 1 });
    line.onReply(analysed('c'));
    line.onGone();
    expect(wanted).toBe(2);
  });
});
