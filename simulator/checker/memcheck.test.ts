import { describe, expect, it } from 'vitest';
import { check, kernelText, lineOf, only, titles, zeros, type BenchLaunch } from './tests/checkBench.js';

const STORE = 'st.global.u32 [%rd4], %r1;';
/** Each thread stores its index at argument 0 + 4 * (index in the grid). */
const storeIndex = kernelText(`mov.u32 %r4, %ntid.x;
mad.lo.s32 %r5, %r2, %r4, %r1;
mul.wide.s32 %rd3, %r5, 4;
add.s64 %rd4, %rd1, %rd3;
${STORE}`);

describe('global memory', () => {
  it('finds every store past the end and says where the buffer is', () => {
    const found = check(storeIndex, { grid: [2, 1, 1], args: [{ bytes: 400 }] });
    const [address = 0] = found.addresses;
    expect(only(found)).toMatchObject({
      checker: 'memcheck',
      severity: 'error',
      kind: 'outOfBounds',
      title: 'Invalid global write of 4 bytes',
      at: { kernel: 'k', ptxFile: 'k.ptx', ptxLine: lineOf(storeIndex, STORE), instruction: STORE },
      count: 28,
    });
    expect(only(found).occurrences).toHaveLength(4);
    expect(only(found).occurrences[0]).toMatchObject({
      block: [1, 0, 0],
      thread: [36, 0, 0],
      access: { space: 'global', kind: 'store', address: address + 400, bytes: 4 },
      detail: `address 0x${(address + 400).toString(16)} is 0 bytes after the end of the buffer of argument 0 (400 bytes at 0x${address.toString(16)})`,
    });
    expect(titles(check(storeIndex, { grid: [2, 1, 1], args: [{ bytes: 512 }] }))).toEqual([]);
  });

  it('an access that ends one byte past the end', () => {
    const text = kernelText('setp.ne.u32 %p1, %r1, 0;\n@%p1 ret;\nld.global.u32 %r4, [%rd1+4];');
    const found = check(text, { args: [{ bytes: 7, words: [1] }] }, { checkers: ['memcheck'] });
    expect(only(found)).toMatchObject({
      kind: 'outOfBounds',
      count: 1,
      at: { ptxLine: lineOf(text, 'ld.global') },
    });
    expect(only(found).occurrences[0]?.detail).toMatch(
      /inside .* but the last 1 byte of the access are past its end/,
    );
    expect(titles(check(text, { args: [{ bytes: 8, words: [1, 2] }] }))).toEqual([]);
  });

  it('before the start', () => {
    const text = kernelText('ld.global.u32 %r4, [%rd1+-16];');
    expect(only(check(text, { args: [zeros(64)] })).occurrences[0]?.detail).toMatch(
      /16 bytes before the start of/,
    );
  });

  it('null, with and without an offset', () => {
    const found = check(storeIndex, { block: [32, 1, 1], args: [0] });
    expect(only(found)).toMatchObject({ kind: 'nullPointer', count: 32 });
    expect(only(found).occurrences[0]).toMatchObject({ thread: [0, 0, 0], access: { address: 0 } });
  });

  it('misaligned', () => {
    const text = kernelText('ld.global.u64 %rd3, [%rd1+4];');
    const found = check(text, { block: [1, 1, 1], args: [zeros(64)] });
    expect(only(found)).toMatchObject({ kind: 'misaligned', title: 'Misaligned global read of 8 bytes' });
    expect(only(found).occurrences[0]?.detail).toContain('no multiple of 8');
    expect(titles(check(text.replace('+4]', '+8]'), { block: [1, 1, 1], args: [zeros(64)] }))).toEqual([]);
  });

  it('a buffer that was freed', () => {
    const found = check(storeIndex, { block: [8, 1, 1], args: [{ bytes: 64, isFreed: true }] });
    expect(only(found)).toMatchObject({
      kind: 'useAfterFree',
      title: 'Invalid global write of 4 bytes after free',
    });
    expect(only(found).occurrences[0]?.detail).toContain('inside the buffer of argument 0');
  });

  it('a write to constant memory through a generic pointer, reads of it allowed', () => {
    const constant = '.const .align 4 .u32 c = 7;';
    const text = kernelText('mov.u64 %rd3, c;\ncvta.const.u64 %rd3, %rd3;\nst.u32 [%rd3], %r1;', constant);
    expect(only(check(text, { block: [1, 1, 1] }))).toMatchObject({
      kind: 'readOnly',
      at: { ptxLine: lineOf(text, 'st.u32') },
    });
    const read = kernelText('ld.const.u32 %r4, [c];', constant);
    expect(titles(check(read))).toEqual([]);
  });

  it('names a variable of the module', () => {
    const text = kernelText(
      'mov.u64 %rd3, table;\nld.global.u32 %r4, [%rd3+40];',
      '.global .align 4 .b8 table[32];',
    );
    expect(only(check(text)).occurrences[0]?.detail).toMatch(
      /8 bytes after the end of module variable `table`/,
    );
  });

  it('an atomic', () => {
    const text = kernelText('atom.global.add.u32 %r4, [%rd1+64], 1;');
    expect(only(check(text, { args: [zeros(64)] }))).toMatchObject({
      title: 'Invalid global atomic of 4 bytes',
      count: 64,
    });
  });

  it('goes on with zeros: what depends on the load is not followed into the wild', () => {
    const text = kernelText(`ld.global.u32 %r4, [%rd1+4096];
st.global.u32 [%rd2], %r4;`);
    const found = check(text, { block: [1, 1, 1], args: [zeros(64), zeros(4)] });
    expect(titles(found)).toEqual(['Invalid global read of 4 bytes']);
    expect(found.report.checked.blocks).toBe(1);
  });

  it('lists several mistakes of one run, in the order of lines', () => {
    const text = kernelText(`ld.global.u32 %r4, [%rd1+64];
ld.global.u64 %rd5, [%rd1+4];
st.global.u8 [%rd1+-1], %r1;`);
    const found = check(text, { args: [zeros(64)] });
    expect(found.report.findings.map(({ kind, at }) => [kind, at.ptxLine])).toEqual([
      ['outOfBounds', lineOf(text, '+64]')],
      ['misaligned', lineOf(text, '+4]')],
      ['outOfBounds', lineOf(text, '+-1]')],
    ]);
    expect(found.report.totals).toEqual({ error: 192, warning: 0, info: 0 });
    const { report } = check(text, { args: [zeros(64)] }, { limit: 1 });
    expect([report.findings.length, report.leftOut, report.totals.error]).toEqual([1, 2, 192]);
  });

  it('ends the launch with the fault when memcheck is not asked for', () => {
    const found = check(storeIndex, { grid: [4, 1, 1], args: [{ bytes: 64 }] }, { checkers: ['racecheck'] });
    expect(only(found)).toMatchObject({
      checker: 'launch',
      kind: 'fault',
      faultCode: 'illegalAddress',
      count: 1,
    });
    expect(found.report.notes.join()).toContain('3 blocks were not run');
  });
});

describe('memory of blocks and threads', () => {
  const shared: [string, string, string, BenchLaunch, number][] = [
    ['static', 's[100]', '.shared .align 4 .b8 s[100];', {}, 39],
    ['dynamic', 's[]', '.extern .shared .align 4 .b8 s[];', { dynamicSharedBytes: 128 }, 32],
  ];
  it.each(shared)('%s shared memory past its end', (_, __, variable, launch, bad) => {
    const text = kernelText('mov.u32 %r4, s;\nadd.s32 %r5, %r4, %r3;\nst.shared.u32 [%r5], %r1;', variable);
    const found = check(text, launch);
    expect(only(found)).toMatchObject({
      kind: 'outOfBounds',
      title: 'Invalid shared write of 4 bytes',
      count: 64 - (64 - bad),
      at: { ptxLine: lineOf(text, 'st.shared') },
    });
  });

  it('shared memory of the right size', () => {
    const text = kernelText(
      'mov.u32 %r4, s;\nadd.s32 %r5, %r4, %r3;\nst.shared.u32 [%r5], %r1;',
      '.shared .align 4 .b8 s[256];',
    );
    expect(titles(check(text))).toEqual([]);
  });

  it('local memory', () => {
    const body = (slots: number): string =>
      kernelText(`.local .align 4 .b8 depot[${slots * 4}];
mov.u64 %rd4, depot;
mul.wide.u32 %rd3, %r1, 4;
add.s64 %rd5, %rd4, %rd3;
st.local.u32 [%rd5], %r1;`);
    const found = check(body(16));
    expect(only(found)).toMatchObject({ title: 'Invalid local write of 4 bytes', count: 48 });
    expect(only(found).occurrences[0]).toMatchObject({ thread: [16, 0, 0], access: { address: 64 } });
    expect(titles(check(body(64)))).toEqual([]);
  });

  it('a generic address in the window of shared memory', () => {
    const text = kernelText(
      'mov.u64 %rd3, s;\ncvta.shared.u64 %rd4, %rd3;\nld.u32 %r4, [%rd4+64];',
      '.shared .align 4 .b8 s[64];',
    );
    expect(only(check(text))).toMatchObject({ title: 'Invalid shared read of 4 bytes', count: 64 });
  });
});

describe('faults that end a launch', () => {
  it('trap', () => {
    const text = kernelText('setp.eq.u32 %p1, %r1, 5;\n@%p1 trap;');
    const found = check(text, { grid: [3, 1, 1] });
    expect(only(found)).toMatchObject({
      checker: 'launch',
      faultCode: 'trap',
      at: { ptxLine: lineOf(text, 'trap') },
    });
    expect(only(found).occurrences[0]).toMatchObject({ block: [0, 0, 0], thread: [5, 0, 0] });
    expect(found.report.checked.blocks).toBe(1);
  });

  it('an endless loop, by its fuel', () => {
    const text = kernelText('LOOP:\nadd.s32 %r4, %r4, 1;\nbra.uni LOOP;');
    const found = check(text, {}, { fuelPerBlock: 10_000 });
    expect(only(found)).toMatchObject({ checker: 'launch', faultCode: 'fuelExhausted' });
    expect(only(found).occurrences[0]?.detail).toContain('10000 thread-instructions');
  });

  it('runs only the blocks that are asked for', () => {
    const found = check(
      storeIndex,
      { grid: [4, 1, 1], args: [{ bytes: 256 }] },
      { blocks: { lo: 0, hi: 1 } },
    );
    expect(titles(found)).toEqual([]);
    expect(found.report.checked).toMatchObject({ blocks: 1, gridBlocks: 4 });
  });
});
