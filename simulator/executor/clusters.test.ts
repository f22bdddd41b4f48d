import { describe, expect, it } from 'vitest';
import { ReferenceInterpreter } from './interpreter/index.js';
import { LaunchBench, storingKernel, type KernelLaunch } from './tests/launchBench.js';
import type { Dim3 } from './types.js';

type Runner = (text: string, launch: KernelLaunch, words: number) => number[];

const runners: Readonly<Record<string, Runner>> = {
  'the interpreter': (text, launch, words) => {
    const bench = new LaunchBench();
    const out = bench.buffer(words);
    const { launch: placed, range } = bench.place(text, { ...launch, values: [out, words] });
    const { status } = new ReferenceInterpreter().run(placed, range, 'fast', 1e6);
    expect(status).toBe('done');
    return bench.words(out, words);
  },
  'lane after lane': (text, launch, words) =>
    compiled(new LaunchBench({ vectorAfter: Infinity }), text, launch, words),
  'lanes together': (text, launch, words) =>
    compiled(new LaunchBench({ alwaysTogether: true }), text, launch, words),
};

function compiled(bench: LaunchBench, text: string, launch: KernelLaunch, words: number): number[] {
  const out = bench.buffer(words);
  expect(bench.run(text, { ...launch, values: [out, words] }).status).toBe('done');
  return bench.words(out, words);
}

/** Each thread stores what a register reads, at its place in the grid's blocks, x fastest. */
function reading(register: string): string {
  return storingKernel(`mov.u32 %r9, %${register};`).replace(
    'mov.u32 %r28, %ctaid.x;',
    'mov.u32 %r20, %nctaid.x; mov.u32 %r21, %nctaid.y; mov.u32 %r22, %ctaid.z; mov.u32 %r23, %ctaid.y;\nmad.lo.u32 %r22, %r22, %r21, %r23; mov.u32 %r28, %ctaid.x; mad.lo.u32 %r28, %r22, %r20, %r28;',
  );
}

const grid: Dim3 = [4, 6, 2];
const cluster: Dim3 = [2, 3, 1];
const blocks = Array.from(
  { length: 48 },
  (_, block) => [block % 4, Math.floor(block / 4) % 6, Math.floor(block / 24)] as const,
);

describe.each(Object.keys(runners))('registers of a cluster in %s', (name) => {
  const run = runners[name];
  const read = (register: string, launch: KernelLaunch = { cluster }): number[] =>
    run(reading(register), { grid, block: [4, 1, 1], ...launch }, 48 * 4).filter(
      (_, thread) => thread % 4 === 3,
    );

  it('tell where the block is', () => {
    expect(read('clusterid.x')).toEqual(blocks.map(([x]) => Math.floor(x / 2)));
    expect(read('clusterid.y')).toEqual(blocks.map(([, y]) => Math.floor(y / 3)));
    expect(read('clusterid.z')).toEqual(blocks.map(([, , z]) => z));
    expect(read('cluster_ctaid.x')).toEqual(blocks.map(([x]) => x % 2));
    expect(read('cluster_ctaid.y')).toEqual(blocks.map(([, y]) => y % 3));
    expect(read('cluster_ctarank')).toEqual(blocks.map(([x, y]) => (x % 2) + 2 * (y % 3)));
  });

  it('tell how large it is', () => {
    expect(read('nclusterid.y')).toEqual(blocks.map(() => 2));
    expect(read('cluster_nctaid.y')).toEqual(blocks.map(() => 3));
    expect(read('cluster_nctarank')).toEqual(blocks.map(() => 6));
  });

  it('make each block a cluster where there is none', () => {
    expect(read('clusterid.y', {})).toEqual(blocks.map(([, y]) => y));
    expect(read('nclusterid.y', {})).toEqual(blocks.map(() => 6));
    expect(read('cluster_ctarank', {})).toEqual(blocks.map(() => 0));
    expect(read('cluster_nctarank', {})).toEqual(blocks.map(() => 1));
  });

  it('tell whether the launch says so', () => {
    const body = 'mov.pred %p0, %is_explicit_cluster; selp.u32 %r9, 5, 7, %p0;';
    expect(run(storingKernel(body), { grid: [2, 1, 1], block: [1, 1, 1], cluster: [2, 1, 1] }, 2)).toEqual([
      5, 5,
    ]);
    expect(run(storingKernel(body), { grid: [2, 1, 1], block: [1, 1, 1] }, 2)).toEqual([7, 7]);
  });
});
