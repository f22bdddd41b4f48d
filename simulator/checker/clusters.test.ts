import { describe, expect, it } from 'vitest';
import { check, kernelText, lineOf, only, titles, zeros, type BenchLaunch } from './tests/checkBench.js';

const SHARED = '.shared .align 4 .b32 s[64];';
const meet = 'barrier.cluster.arrive; barrier.cluster.wait;';
const launch: BenchLaunch = { grid: [4, 1, 1], cluster: [2, 1, 1], args: [zeros(1024), zeros(4)] };
/** %r5: the thread's word here, %r6 in the other block. */
const start = `mov.u32 %r5, s; add.u32 %r5, %r5, %r3; mov.u32 %r7, %cluster_ctarank; xor.b32 %r8, %r7, 1; mapa.shared::cluster.u32 %r6, %r5, %r8;`;
const run = (body: string) => check(kernelText(`${start}\n${body}`, SHARED), launch);

describe('checkers of clusters', () => {
  it('find nothing where all is right', () => {
    const body = `st.shared.u32 [%r5], %r1; ${meet} st.shared::cluster.u32 [%r6], %r3; ${meet} ld.shared.u32 %r9, [%r5]; ${meet}
      ld.shared::cluster.u32 %r9, [%r6]; ${meet} red.shared::cluster.add.u32 [%r6], 1; ${meet}`;
    expect(titles(run(body))).toEqual([]);
    expect(run(body).report.checked).toMatchObject({ blocks: 4, gridBlocks: 4 });
  });

  it('find races between blocks', () => {
    const early = run(`st.shared::cluster.u32 [%r6], %r3; bar.sync 0;\nld.shared.u32 %r9, [%r5]; ${meet}`);
    expect(titles(early)).toContainEqual(
      expect.stringMatching(/^Race on shared memory .* of another thread in another block$/),
    );
    const relaxed = meet.replace('arrive', 'arrive.relaxed');
    expect(
      titles(run(`st.shared::cluster.u32 [%r6], %r3; ${relaxed} ld.shared.u32 %r9, [%r5]; ${meet}`)),
    ).toEqual([expect.stringContaining('Race on shared memory')]);
    const between = `st.shared.u32 [%r5], %r1; barrier.cluster.arrive; st.shared::cluster.u32 [%r6], 3; barrier.cluster.wait; ${meet}`;
    expect(titles(run(between))[0]).toContain('(WAW)');
  });

  it('find what blocks read of one another that nothing has written', () => {
    const { report } = run(`${meet} ld.shared::cluster.u32 %r9, [%r6]; ${meet}`);
    expect(report.findings).toMatchObject([{ checker: 'initcheck', kind: 'uninitialized' }]);
  });

  it('find accesses outside of the memory of others, and to that of a block that has ended', () => {
    const outside = only(run(`${meet} st.shared::cluster.u32 [%r6+256], 1; ${meet}`));
    expect(outside).toMatchObject({ checker: 'memcheck', kind: 'outOfBounds' });
    expect(outside.occurrences[0]?.detail).toMatch(
      /^of the block of rank 1 in the cluster, shared offset 0x100 is 0 bytes after/,
    );
    const ended = only(
      run(
        `st.shared.u32 [%r5], %r1; ${meet} setp.eq.u32 %p1, %r7, 1; @%p1 ret; ${meet} ld.shared::cluster.u32 %r9, [%r6];`,
      ),
    );
    expect(ended.occurrences[0]?.detail).toContain('the block of rank 1 has ended');
  });

  it('find misuse of the barrier', () => {
    const again = run(`barrier.cluster.arrive;\nbarrier.cluster.arrive; barrier.cluster.wait;`);
    expect(only(again)).toMatchObject({ checker: 'synccheck', kind: 'clusterBarrier' });
    const never = run('barrier.cluster.wait;');
    expect(only(never).title).toBe('Barrier of the cluster at which a thread waits that has not arrived');
  });

  it('tell who does not come', () => {
    const result =
      run(`setp.eq.u32 %p1, %r7, 1; setp.ge.u32 %p2, %r1, 32; and.pred %p3, %p1, %p2; @%p3 bar.sync 1, 64;
      barrier.cluster.arrive;\nbarrier.cluster.wait;`);
    const [finding] = result.report.findings;
    expect(finding).toMatchObject({ checker: 'synccheck', kind: 'unreachedBarrier', faultCode: 'deadlock' });
    expect(finding?.at.ptxLine).toBe(lineOf(result.text, 'barrier.cluster.wait;'));
    expect(finding?.occurrences[0]?.detail).toContain('for thread 32 of block 1, which waits at line');
  });
});
