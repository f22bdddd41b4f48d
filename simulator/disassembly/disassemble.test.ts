import { readFileSync } from 'node:fs';
import { describe, expect, it } from 'vitest';
import { disassemble, disassembleFile, disassemblyText, DisassemblyError } from './index.js';

const header = '.version 9.0\n.target sm_90\n.address_size 64\n';
const sgemm = new URL('../gpu/reference/kernels/sgemm_tiled.ptx', import.meta.url);

const text = `${header}
.const .align 4 .b8 table[256];
.global .u32 counter;
.visible .entry loops(.param .u64 p, .param .u32 n)
.maxntid 512
{
  .reg .b32 %r<6>; .reg .f32 %f<5>; .reg .b64 %rd<3>; .reg .pred %p<3>;
  .shared .align 8 .b8 tile[1000]; .local .align 4 .b8 spill[20];
  ld.param.u64 %rd1, [p]; ld.param.u32 %r1, [n];
  mov.u32 %r2, 0;
OUTER: mov.u32 %r3, 0;
INNER: add.u32 %r3, %r3, 1; setp.lt.u32 %p1, %r3, %r1; @%p1 bra INNER;
  add.u32 %r2, %r2, 1; setp.lt.u32 %p2, %r2, %r1; @%p2 bra OUTER;
  ld.global.f32 %f1, [%rd1]; mul.f32 %f2, %f1, %f1; add.f32 %f3, %f2, %f1;
  ld.const.f32 %f4, [table]; add.f32 %f3, %f3, %f4;
  st.global.f32 [%rd1], %f3;
  ret;
}
.visible .entry refused() {
  .reg .b32 %r<3>;
  wgmma.fence.sync.aligned;
  ret;
}
.visible .entry exact() .reqntid 64, 2 { ret; }
`;

describe('disassemble', () => {
  const found = disassemble(text, 'k.ptx', { dynamicSharedBytes: 100 });
  const [loops, refused, exact] = found.functions;

  it('shows blocks, what leads to them, and loops with their nesting', () => {
    expect(
      loops?.blocks?.map(({ label, successors, dominator, postDominator, loopDepth }) => ({
        label,
        successors,
        dominator,
        postDominator,
        loopDepth,
      })),
    ).toEqual([
      { label: undefined, successors: [1], dominator: undefined, postDominator: 1, loopDepth: 0 },
      { label: 'OUTER', successors: [2], dominator: 0, postDominator: 2, loopDepth: 1 },
      { label: 'INNER', successors: [2, 3], dominator: 1, postDominator: 3, loopDepth: 2 },
      { label: undefined, successors: [1, 4], dominator: 2, postDominator: 4, loopDepth: 1 },
      { label: undefined, successors: [], dominator: 3, postDominator: undefined, loopDepth: 0 },
    ]);
    expect(loops?.loops).toEqual([
      { header: 1, blocks: [1, 2, 3], depth: 1, latches: [3] },
      { header: 2, blocks: [2], depth: 2, latches: [2] },
    ]);
    expect(loops?.isReducible).toBe(true);
  });

  it('shows each instruction with its line', () => {
    const stores = loops?.blocks
      ?.flatMap(({ instructions }) => instructions)
      .filter(({ text: shown }) => shown.startsWith('st.'));
    const line = text.split('\n').findIndex((each) => each.includes('st.global')) + 1;
    expect(stores?.map(({ line: at, text: shown }) => [at, shown])).toEqual([
      [line, 'st.global.f32 [%rd1], %f3;'],
    ]);
  });

  it('counts what the kernel takes', () => {
    expect(loops?.memory).toEqual({
      staticSharedBytes: 1000,
      dynamicSharedBytes: 100,
      localBytes: 32,
      constBytes: 256,
      globalBytes: 0,
    });
    // Live at most: p (2), n, two counters.
    expect(loops?.registers).toMatchObject({ live: 5 });
    expect(loops?.parameterBytes).toBe(12);
  });

  it('says how many blocks an SM holds, and every limit that binds', () => {
    expect(loops?.occupancy).toMatchObject({
      threads: 256,
      warps: 8,
      blocksPerSm: 8,
      warpsPerSm: 64,
      share: 1,
      boundBy: ['threads', 'warps'],
    });
    const crowded = disassemble(text, 'k.ptx', {
      kernel: 'loops',
      dynamicSharedBytes: 100_000,
      block: [32, 2, 1],
    });
    expect(crowded.functions[0]?.occupancy).toMatchObject({
      threads: 64,
      blocksPerSm: 2,
      boundBy: ['shared'],
    });
  });

  it('takes the block that the kernel asks for, and says why another cannot be launched', () => {
    expect(exact?.occupancy).toMatchObject({ threads: 128 });
    const other = disassemble(text, 'k.ptx', { kernel: 'exact', block: [32, 1, 1] });
    expect(other.functions[0]?.occupancy).toEqual({
      refused: expect.stringMatching(/\.reqntid 64, 2/) as string,
    });
    const wide = disassemble(text, 'k.ptx', { kernel: 'loops', block: [1024, 1, 1] });
    expect(disassemblyText(wide)).toMatch(
      /h200 refuses the launch: block: 1024 threads a block; the limit is \.maxntid 512/,
    );
  });

  it('names the instruction that keeps a kernel from running', () => {
    const line = text.split('\n').findIndex((each) => each.includes('wgmma')) + 1;
    expect(refused?.refusal).toMatchObject({ line, instruction: 'wgmma.fence.sync.aligned' });
    expect(refused?.blocks).toBeUndefined();
    expect(disassemblyText(found)).toMatch(
      /\.entry refused .*\n +cannot run +line \d+, 'wgmma\.fence\.sync\.aligned'/,
    );
  });

  it('shows code as it is executed when asked', () => {
    const written = disassemblyText(disassemble(text, 'k.ptx', { kernel: 'loops' }));
    const executed = disassemblyText(disassemble(text, 'k.ptx', { kernel: 'loops', lowered: true }));
    expect(written).toContain('mul.f32 %f2, %f1, %f1;');
    expect(executed).not.toContain('mul.f32');
    expect(executed).toContain('fma.rn.f32 %f3, %f1, %f1, %f1;');
  });

  it('reads files', () => {
    const path = sgemm.pathname;
    const shown = disassemblyText(disassembleFile(path, { block: [16, 16, 1] }));
    expect(shown).toContain('.entry sgemm_tiled');
    expect(shown).toMatch(/loop at block 2, depth 1: blocks 2-6, back from 6/);
    for (const line of readFileSync(path, 'utf8').split('\n'))
      if (line.includes('st.shared')) expect(shown).toContain('st.shared.f32');
  });

  it.each([
    ['unreadableFile', () => disassembleFile('/nowhere/k.ptx'), /nowhere/],
    [
      'notPtx',
      () => disassemble(`${header}.visible .entry k() { mov.u32 %r1; }`, 'k.ptx'),
      /k\.ptx:4: expected/,
    ],
    [
      'unknownKernel',
      () => disassemble(text, 'k.ptx', { kernel: 'loop' }),
      /no kernel 'loop' in k\.ptx; there are: loops, refused, exact/,
    ],
    ['unknownDevice', () => disassemble(text, 'k.ptx', { device: 'h20' }), /there are: h200/],
  ])('refuses with %s', (code, attempt, message) => {
    let thrown: unknown;
    try {
      attempt();
    } catch (error) {
      thrown = error;
    }
    expect(thrown).toBeInstanceOf(DisassemblyError);
    expect(thrown).toMatchObject({ code, message: expect.stringMatching(message) as string });
  });
});
