import { describe, expect, it } from 'vitest';
import { profileKernel } from './tests/profiledKernel.js';

/** Loads a word at thread * stride words. */
const strided = (stride: number, access = 'ld.global.u32 %r5, [%rd3];', bytes = 4): string =>
  `mul.wide.u32 %rd2, %r1, ${stride * bytes}; add.s64 %rd3, %rd1, %rd2;\n${access}`;

describe('sectors', () => {
  it.each([
    [0, 1, 1],
    [1, 4, 4],
    [2, 8, 4],
    [8, 32, 4],
    [32, 32, 4],
  ])('stride of %i words: %i sectors a request, %i ideal', (stride, sectors, ideal) => {
    const load = profileKernel({ body: strided(stride), block: [64, 1, 1] }).of('ld.global');
    expect(load.globalLoadRequests).toBe(2);
    expect(load.globalLoadSectors).toBe(2 * sectors);
    expect(load.globalLoadIdealSectors).toBe(2 * ideal);
    expect(load.globalLoadBytes).toBe(64 * 4);
  });

  it('counts 16 bytes a lane, partial warps, guards and what is distinct', () => {
    const wide = profileKernel({
      body: strided(1, 'ld.global.v4.u32 {%r5, %r6, %r7, %r8}, [%rd3];', 16),
      block: [40, 1, 1],
    });
    expect(wide.of('ld.global')).toMatchObject({
      warpInstructions: 2,
      threadInstructions: 40,
      globalLoadRequests: 2,
      globalLoadSectors: 20,
      globalLoadBytes: 640,
    });
    const guarded = profileKernel({
      body: `setp.lt.u32 %p1, %r1, 8;\n${strided(1, '@%p1 st.global.u32 [%rd3], %r1;')}`,
      grid: [3, 1, 1],
    });
    expect(guarded.of('st.global')).toMatchObject({
      threadInstructions: 96,
      activeThreads: 24,
      globalStoreRequests: 3,
      globalStoreSectors: 3,
      globalStoreBytes: 96,
    });
    const { instructions } = guarded.launch.kernel;
    const store = instructions.findIndex(({ opcode }) => opcode === 'st');
    expect(guarded.sink.distinctSectors(store)).toBe(1);
  });

  it('tells constants from global memory', () => {
    const run = profileKernel({
      before: '.const .align 4 .u32 c[64] = {1, 2, 3};',
      body: 'mov.u64 %rd4, c; and.b32 %r4, %r1, 3; mul.wide.u32 %rd5, %r4, 4; add.s64 %rd4, %rd4, %rd5;\nld.const.u32 %r5, [%rd4];',
    });
    expect(run.totals).toMatchObject({ constantRequests: 1, constantAddresses: 4, globalLoadRequests: 0 });
  });
});

describe('bank conflicts', () => {
  const shared = (address: string, access: string): string => `${address}\nadd.u32 %r4, %r3, %r4;\n${access}`;
  /** The thread's place in a tile of 32 x 32 words with rows `pitch` words apart, read by columns. */
  const column = (pitch: number): string =>
    shared(`mul.lo.u32 %r4, %r1, ${pitch * 4};`, 'ld.shared.u32 %r5, [%r4];');

  it.each([
    ['a tile by columns', column(32), 32, 31],
    ['a padded tile by columns', column(33), 1, 0],
    ['every second word', column(2), 2, 1],
    ['one word for all', shared('mov.u32 %r4, 64;', 'ld.shared.u32 %r5, [%r4];'), 1, 0],
    ['8 bytes side by side', shared('shl.b32 %r4, %r1, 3;', 'ld.shared.u64 %rd5, [%r4];'), 2, 0],
    ['16 bytes side by side', shared('shl.b32 %r4, %r1, 4;', 'ld.shared.v2.u64 {%rd5, %rd6}, [%r4];'), 4, 0],
    ['8 bytes for all', shared('mov.u32 %r4, 64;', 'ld.shared.u64 %rd5, [%r4];'), 1, 0],
    ['16 bytes, 128 apart', shared('shl.b32 %r4, %r1, 7;', 'ld.shared.v2.u64 {%rd5, %rd6}, [%r4];'), 32, 28],
  ])('%s', (_, body, wavefronts, conflicts) => {
    const load = profileKernel({ body }).of('ld.shared');
    expect(load.sharedLoadRequests).toBe(1);
    expect(load.sharedLoadWavefronts).toBe(wavefronts);
    expect(load.sharedLoadWavefronts - load.sharedLoadIdealWavefronts).toBe(conflicts);
  });

  it('counts atomics on one word, and on one bank', () => {
    const { totals } = profileKernel({
      body: 'and.b32 %r4, %r1, 3; shl.b32 %r4, %r4, 2; add.u32 %r4, %r3, %r4;\natom.shared.add.u32 %r5, [%r4], 1;',
    });
    expect(totals).toMatchObject({
      sharedAtomicWavefronts: 8,
      sharedAtomicIdealWavefronts: 1,
      atomicOperations: 32,
      atomicCollisions: 28,
    });
  });

  it('counts a copy from global to shared memory once on each side', () => {
    const { totals } = profileKernel({
      body: `shl.b32 %r4, %r1, 4; add.u32 %r4, %r3, %r4;
${strided(1, 'cp.async.ca.shared.global [%r4], [%rd3], 16;', 16)}
cp.async.commit_group;
cp.async.wait_group 0;`,
    });
    expect(totals).toMatchObject({
      globalLoadRequests: 1,
      globalLoadSectors: 16,
      sharedStoreRequests: 1,
      sharedStoreWavefronts: 4,
    });
  });
});

describe('divergence', () => {
  it('counts branches that all take, none takes, and that split', () => {
    const run = profileKernel({
      body: `setp.lt.u32 %p1, %r1, 16;
@%p1 bra HALF;
add.u32 %r5, %r1, 1;
add.u32 %r5, %r5, 1;
HALF:
setp.lt.u32 %p2, %r1, 64;
@%p2 bra ALL;
add.u32 %r5, %r5, 2;
ALL:
setp.gt.u32 %p3, %r1, 64;
@%p3 bra NONE;
add.u32 %r5, %r5, 4;
NONE:
add.u32 %r5, %r5, 8;`,
    });
    expect(run.of('bra HALF')).toMatchObject({ branchesSplit: 1, branchesTaken: 0, branchesNotTaken: 0 });
    expect(run.of('bra ALL')).toMatchObject({ branchesSplit: 0, branchesTaken: 1, branchesNotTaken: 0 });
    expect(run.of('bra NONE')).toMatchObject({ branchesSplit: 0, branchesTaken: 0, branchesNotTaken: 1 });
    expect(run.of('add.u32 %r5, %r5, 1')).toMatchObject({ warpInstructions: 1, threadInstructions: 16 });
    expect(run.of('add.u32 %r5, %r5, 2').warpInstructions).toBe(0);
    expect(run.of('add.u32 %r5, %r5, 8')).toMatchObject({ warpInstructions: 1, threadInstructions: 32 });
  });

  it('counts jumps by tables, and lanes that loop longer', () => {
    const table = profileKernel({
      body: `and.b32 %r4, %r1, 1;
TABLE: .branchtargets A, B;
brx.idx %r4, TABLE;
A: add.u32 %r5, %r1, 1;
bra.uni E;
B: add.u32 %r5, %r1, 2;
E: add.u32 %r5, %r5, 3;`,
    });
    expect(table.of('brx.idx')).toMatchObject({ branchesSplit: 1, branchesTaken: 0 });
    const loop = profileKernel({
      body: `mov.u32 %r5, 0;
L: add.u32 %r5, %r5, 1;
setp.le.u32 %p1, %r5, %r1;
@%p1 bra L;`,
    });
    // Lane i goes round i + 1 times.
    expect(loop.of('L: add')).toMatchObject({ warpInstructions: 32, threadInstructions: (32 * 33) / 2 });
    expect(loop.of('bra L')).toMatchObject({ branchesSplit: 31, branchesNotTaken: 1 });
  });

  it('gives instructions of a device function to its own lines', () => {
    const run = profileKernel({
      before: `.func (.param .b32 r) twice(.param .b32 x) {
.reg .b32 %r<4>;
ld.param.u32 %r1, [x];
shl.b32 %r2, %r1, 1;
st.param.b32 [r], %r2;
ret;
}`,
      body: `{ .param .b32 in; .param .b32 out;
st.param.b32 [in], %r1;
call.uni (out), twice, (in);
ld.param.b32 %r6, [out]; }`,
      block: [64, 1, 1],
    });
    expect(run.of('shl.b32 %r2, %r1, 1')).toMatchObject({ warpInstructions: 2, threadInstructions: 64 });
  });
});
