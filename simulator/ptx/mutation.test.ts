import { describe, expect, it } from 'vitest';
import { parseModule, PtxParseError } from './index.js';
import { checkDamagedText } from './tests/mutationCheck.js';
import { mutationSources } from './tests/mutationSources.js';
import { Mutator } from './tests/mutator.js';

const header = '.version 9.0\n.target sm_90\n.address_size 64\n';
/** Small ones only, the dense one often: the run of 100,000 takes all. */
const sources = mutationSources('.').filter((text) => text.length < 8_000);

describe('damaged texts', () => {
  it('parse or are refused with a place, and never crash', () => {
    const outcomes = { parsed: 0, refused: 0 };
    for (let seed = 1; seed <= 1600; seed++) {
      const text = new Mutator(seed, sources).mutate(
        sources[seed % 8 === 0 ? seed % sources.length : 0] ?? '',
      );
      try {
        outcomes[checkDamagedText(text)]++;
      } catch (error) {
        throw new Error(`seed ${seed}: ${String(error)}`, { cause: error });
      }
    }
    expect(outcomes.refused).toBeGreaterThan(200);
    expect(outcomes.parsed).toBeGreaterThan(80);
  });

  it('read the undamaged texts', () => {
    for (const text of sources) expect(() => parseModule(text, 'whole.ptx')).not.toThrow();
  });
});

/** Texts whose cost would be their length squared, were anything searched from the start or copied each time. */
const long = 10_000;
const numbers = [...Array(long).keys()];
const entry = (body: string) => `${header}.entry k() { ${body} }`;

describe('long texts', () => {
  it.each([
    ['labels', entry(numbers.map((each) => `L${each}: bra L${each};`).join('\n'))],
    ['registers', entry(numbers.map((each) => `.reg .b32 %r${each}; mov.b32 %r${each}, 1;`).join('\n'))],
    ['ranges', entry(numbers.map((each) => `.reg .b32 %a${each}x<3>; mov.b32 %a${each}x1, 1;`).join('\n'))],
    ['scopes', entry(numbers.map(() => '{ .reg .b32 r; mov.b32 r, 1; }').join('\n'))],
    ['parameters', `${header}.entry k(${numbers.map((each) => `.param .b8 p${each}`).join(',')}) { ret; }`],
    [
      'calls',
      `${header}.func f(.param .b32 a) { ret; }\n${entry(
        numbers.map(() => '{ .param .b32 p; st.param.b32 [p], 1; call f, (p); }').join('\n'),
      ).replace(header, '')}`,
    ],
    ['call parameters', entry(numbers.map(() => '{ .param .b32 p; st.param.b32 [p], 1; }').join('\n'))],
    ['variables', header + numbers.map((each) => `.global .b32 v${each} = ${each};`).join('\n')],
    ['an initialiser', `${header}.global .b8 v[] = {${numbers.join(',')}};`],
    ['functions', header + numbers.map((each) => `.func f${each}() { ret; }`).join('\n')],
    [
      'branch targets',
      entry(`.reg .b32 r; L: T: .branchtargets ${numbers.map(() => 'L').join(',')}; brx.idx r, T;`),
    ],
    ['a comment', `${header}${'/* '.repeat(long)}*/ .global .b32 x;`],
    ['strings', entry(`.pragma ${numbers.map(() => '"nounroll"').join(',')};`)],
    ['modifiers', entry(`add${'.rn'.repeat(long)}.s32 1, 2, 3;`)],
    ['vector elements', entry(`.reg .b32 r; foo {${numbers.map(() => 'r').join(',')}}; mov.b32 r, r;`)],
    [
      'debug sections',
      `${header}.section .debug_info { ${numbers.map((each) => `.b8 ${each}`).join('\n')} }`,
    ],
    [
      'aliases',
      `${header}.func g() { ret; }\n${numbers.map((each) => `.func a${each}();\n.alias a${each}, g;`).join('\n')}`,
    ],
  ])('of %s load', (_, text) => {
    expect(parseModule(text, 'long.ptx').ptxVersion).toBe('9.0');
  });

  it.each([
    ['scopes', `${header}.entry k() { ${'{'.repeat(long)} ${'}'.repeat(long)} }`],
    ['braces of an initialiser', `${header}.global .u32 x = ${'{'.repeat(long)}`],
    ['digits', `${header}.global .u32 x = ${'1'.repeat(1_000_000)};`],
    [
      'digits of a register',
      `${header}.entry k() { .reg .b32 %r<4>; mov.b32 %r${'1'.repeat(1_000_000)}, 1; }`,
    ],
    ['comments never closed', `${header}${'/* '.repeat(long)}`],
    ['quotes never closed', `${header}.file 1 ${'"a\\'.repeat(long)}`],
    ['declarations of one name', `${header}.entry k() { ${numbers.map(() => '.reg .b32 r;').join('')} }`],
    ['numbered variables', header + numbers.map((each) => `.global .u32 v${each}_<60000>;`).join('\n')],
    ['extents', `${header}.global .u32 x${'[1]'.repeat(long)} = ${'{'.repeat(long)}`],
    ['braces of a pair', `${header}.global .f16x2 x = ${'{'.repeat(long)}`],
    ['elements of an array', `${header}.global .u32 x[4000000000000];`],
    ['registers', `${header}.entry k() { .reg .b32 %r<4000000000>; }`],
    [
      'targets of branches',
      entry(
        `.reg .b32 r; L: T: .branchtargets ${numbers.map(() => 'L').join(',')}; ${'brx.idx r, T;'.repeat(200)}`,
      ),
    ],
  ])('of too many %s are refused', (_, text) => {
    expect(() => parseModule(text, 'long.ptx')).toThrow(PtxParseError);
  });
});
