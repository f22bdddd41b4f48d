import { describe, expect, it } from 'vitest';
import { parseModule, PtxParseError } from './index.js';

const kernel = '\n.entry k() { ret; }\n';

function parseError(text: string): PtxParseError {
  try {
    parseModule(text, 'h.ptx');
  } catch (error) {
    if (error instanceof PtxParseError) return error;
    throw error;
  }
  throw new Error('parsed, though it should not');
}

describe('the head of a PTX text', () => {
  it.each(['1.0', '1.5', '2.3', '3.2', '4.3', '5.1', '6.5', '7.8', '8.8', '9.0', '9.5'])(
    'may be of version %s',
    (version) => {
      expect(parseModule(`.version ${version}\n.target sm_10${kernel}`, 'h.ptx').ptxVersion).toBe(version);
    },
  );

  it.each([
    '0.0',
    '1.6',
    '2.4',
    '3.3',
    '6.6',
    '7.9',
    '8.9',
    '9.6',
    '9.9',
    '10.0',
    '99.0',
    '9.10',
    '9.01',
    '18446744073709551616.0',
  ])('is not of version %s, which there is not', (version) => {
    const error = parseError(`.version ${version}\n.target sm_90${kernel}`);
    expect(error).toMatchObject({ code: 'unsupported', line: 1, found: `'${version}'` });
    expect(error.expected).toBe(
      'a PTX version that is known, 1.0 to 9.5 (9.0 is what nvcc of CUDA 13.0 writes)',
    );
  });

  it.each(['9', '"9.0"', '9.0e1', 'nine', '-9.0', '0x9.0', '.target'])('has no number in %s', (version) => {
    const error = parseError(`.version ${version}\n.target sm_90${kernel}`);
    expect(error).toMatchObject({ code: 'syntax', line: 1 });
    expect(error.expected).toContain('a PTX version such as 9.0 (1.0 to 9.5)');
  });

  it.each([
    'sm_10',
    'sm_90',
    'sm_90a',
    'compute_90',
    'sm_80, sm_90',
    'sm_90, debug',
    'sm_121f',
    'sm_20, texmode_independent',
  ])('may be for %s', (target) => {
    expect(parseModule(`.version 9.0\n.target ${target}${kernel}`, 'h.ptx').targets).toEqual(
      target.split(', '),
    );
  });

  it.each(['sm_91', 'sm_12345', 'sm_90x', 'sm_90f', 'SM_90', 'sm_090', 'gfx906', 'lto_90', 'foo'])(
    'is not for %s, which there is not',
    (target) => {
      const error = parseError(`.version 9.0\n.target sm_80, ${target}${kernel}`);
      expect(error).toMatchObject({ code: 'unsupported', line: 2, found: `'${target}'` });
      expect(error.expected).toContain('a known target such as sm_90');
    },
  );

  it('needs an architecture beside the options', () => {
    expect(parseError(`.version 9.0\n.target debug${kernel}`).expected).toContain('a target architecture');
  });

  it.each([
    ['7.7', 'sm_90', '7.8'],
    ['7.8', 'sm_90a', '8.0'],
    ['8.5', 'sm_100', '8.6'],
    ['8.7', 'sm_100f', '8.8'],
    ['1.4', 'sm_20', '2.0'],
  ])('of version %s is too old for %s, which came with %s', (version, target, first) => {
    const error = parseError(`.version ${version}\n.target ${target}${kernel}`);
    expect(error).toMatchObject({ code: 'syntax', line: 2, found: `'${target}'` });
    expect(error.expected).toBe(`.version ${first} or later for this target, not ${version}`);
    expect(parseModule(`.version ${first}\n.target ${target}${kernel}`, 'h.ptx').targets).toEqual([target]);
  });

  it.each([
    ['32', 'unsupported'],
    ['63', 'syntax'],
    ['0', 'syntax'],
    ['-64', 'syntax'],
    ['64.0', 'syntax'],
    ['', 'syntax'],
  ])('is not of addresses of %s bits', (bits, code) => {
    const error = parseError(`.version 9.0\n.target sm_90\n.address_size ${bits}${kernel}`);
    expect(error.code).toBe(code);
    expect(error.expected).toContain('64 after .address_size');
  });

  it.each([
    ['mov.u64 %rd1, 18446744073709551616;', 'a number that 64 bits hold (0 to 18446744073709551615)'],
    ['mov.u64 %rd1, -0x10000000000000000;', 'a number that 64 bits hold (0 to 18446744073709551615)'],
    [`mov.u64 %rd1, 0b1${'0'.repeat(64)};`, 'a number that 64 bits hold (0 to 18446744073709551615)'],
    [`mov.u64 %rd1, 1${'0'.repeat(400)};`, 'a number that 64 bits hold, of at most 96 digits'],
    ['mov.f64 %fd1, 1e999;', 'a number that 64 bits hold (up to 1.8e308)'],
    ['ld.global.u64 %rd1, [%rd1+9007199254740992];', 'an offset of at most 9007199254740991 bytes'],
    [
      'ld.global.u64 %rd1, [%rd1+18446744073709551616];',
      'a number that 64 bits hold (0 to 18446744073709551615)',
    ],
    ['.reg .b32 %q<18446744073709551616>;', 'an integer of at most 64 bits (0 to 18446744073709551615)'],
  ])('is followed by numbers of at most 64 bits, unlike %s', (statement, expected) => {
    const text = `.version 9.0\n.target sm_90\n.entry k() { .reg .b64 %rd<3>; .reg .f64 %fd<3>;\n\n${statement}\nret; }`;
    expect(parseError(text)).toMatchObject({ line: 5, expected });
  });

  it('takes the largest and smallest numbers of 64 bits', () => {
    const text =
      '.version 9.0\n.target sm_90\n.entry k() { .reg .b64 %rd<3>; mov.u64 %rd1, 18446744073709551615; mov.s64 %rd1, -9223372036854775808; ret; }';
    const [all, least] = parseModule(text, 'h.ptx').functions[0]?.instructions ?? [];
    expect(all?.sources).toEqual([{ kind: 'integer', low: -1, high: -1 }]);
    expect(least?.sources).toEqual([{ kind: 'integer', low: 0, high: -2147483648 }]);
  });
});
