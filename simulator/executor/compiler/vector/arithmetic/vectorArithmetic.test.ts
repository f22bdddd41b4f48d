import { describe, expect, it } from 'vitest';
import type { VectorForm } from '../../../../laboratory/instructions/index.js';
import {
  allForms,
  digestOf,
  evaluate,
  firstCases,
  operandsOf,
  readMeasured,
  samplesOf,
} from '../../../../laboratory/instructions/index.js';
import { sampleOf } from '../../../../laboratory/testSample/index.js';
import { runVectorTwin, vectorBody, type TwinOptions } from '../../../../laboratory/twins/index.js';

const measured = readMeasured();

function firstOperands(form: VectorForm): BigUint64Array {
  return operandsOf(form).subarray(0, firstCases * form.sources.length);
}

function holds(form: VectorForm, options?: TwinOptions): void {
  const expected = measured.results[form.name];
  const results = runVectorTwin(form, firstOperands(form), firstCases, options);
  expect(samplesOf(results, form.results.length)).toBe(expected?.samples);
  expect(digestOf(results)).toBe(expected?.firstDigest);
}

const isCell = (form: VectorForm): boolean => form.body?.join('').includes('ell') === true;
const forms = allForms.filter((form) => !isCell(form) && vectorBody(form) !== undefined);
const named = (list: readonly VectorForm[]) => list.map((form) => [form.name, form] as const);
const hasFloats = ({ sources, results }: VectorForm): boolean =>
  [...sources, ...results].some((type) => type === 'f32' || type === 'f64');

describe('vector instructions against a real card', () => {
  it.each(named(sampleOf(forms, 3)))('%s', (_, form) => {
    holds(form);
    if (hasFloats(form)) holds(form, { typed: true });
  });
});

describe('vector multiply-adds against a real card where the machine has none', () => {
  const fused = forms.filter(({ name }) => /^(?:fma|mad)\b.*f32/.test(name));
  it.each(named(fused))('%s', (_, form) => {
    holds(form, { fuses: false });
  });
});

/** A form with operands that the text names. */
function written(line: string, sources: string, results: string): VectorForm {
  return { name: line, sources: sources.split(' '), results: results.split(' '), body: [`${line};`] };
}

const tables = [
  0x00, 0x01, 0x1e, 0x2d, 0x3f, 0x80, 0x96, 0xb4, 0xca, 0xe8, 0xf0, 0xfc, 0x69, 0x17, 0xd2, 0xff,
];
const divisors = [1, 2, 3, 7, 10, 64, 255, 641, 32767];

const constants: readonly VectorForm[] = [
  ...Array.from({ length: 256 }, (_, table) => table)
    .filter((table) => tables.includes(table) || table % 7 === 0)
    .map((table) => written(`lop3.b32 %d0, %s0, %s1, %s2, ${table}`, 'b32 b32 b32', 'b32')),
  ...divisors.flatMap((divisor) =>
    ['u16', 's16', 'u32', 's32'].flatMap((type) =>
      ['div', 'rem'].map((opcode) => written(`${opcode}.${type} %d0, %s0, ${divisor}`, type, type)),
    ),
  ),
  ...[2_000_000_011, 2 ** 31 - 1].map((divisor) => written(`rem.u32 %d0, %s0, ${divisor}`, 'u32', 'u32')),
  written('div.s32 %d0, %s0, -7', 's32', 's32'),
  written('rem.u32 %d0, %s0, 0', 'u32', 'u32'),
  ...[0, 1, 15, 31, 32, 100].flatMap((count) => [
    written(`shl.b32 %d0, %s0, ${count}`, 'b32', 'b32'),
    written(`shr.s32 %d0, %s0, ${count}`, 's32', 's32'),
    written(`shr.u32 %d0, %s0, ${count}`, 'u32', 'u32'),
    written(`shr.s64 %d0, %s0, ${count}`, 's64', 's64'),
    written(`shl.b16 %d0, %s0, ${count}`, 'b16', 'b16'),
    written(`shf.l.wrap.b32 %d0, %s0, %s1, ${count}`, 'b32 b32', 'b32'),
    written(`shf.r.clamp.b32 %d0, %s0, %s1, ${count}`, 'b32 b32', 'b32'),
  ]),
  ...[
    [0, 8],
    [5, 13],
    [24, 16],
    [31, 1],
    [40, 3],
    [3, 0],
  ].flatMap(([position, length]) => [
    written(`bfe.u32 %d0, %s0, ${position}, ${length}`, 'u32', 'u32'),
    written(`bfe.s32 %d0, %s0, ${position}, ${length}`, 's32', 's32'),
    written(`bfe.s64 %d0, %s0, ${position}, ${length}`, 's64', 's64'),
    written(`bfi.b32 %d0, %s0, %s1, ${position}, ${length}`, 'b32 b32', 'b32'),
    written(`bfi.b64 %d0, %s0, %s1, ${position}, ${length}`, 'b64 b64', 'b64'),
  ]),
  ...['0x3210', '0x7654', '0x5140', '0x0123', '0x7531'].map((selector) =>
    written(`prmt.b32 %d0, %s0, %s1, ${selector}`, 'b32 b32', 'b32'),
  ),
  ...['0f00000000', '0f80000000', '0f3F800000', '0fBF800000', '0f7FC00000', '0f7F800000'].flatMap((value) =>
    ['min', 'max'].map((opcode) => written(`${opcode}.f32 %d0, %s0, ${value}`, 'f32', 'f32')),
  ),
];

describe('vector instructions with operands in the text, as the definitions have them', () => {
  it.each(named(constants))('%s', (_, form) => {
    expect(vectorBody(form)).toBeDefined();
    const cases = 64;
    const operands = operandsOf(form).subarray(0, cases * form.sources.length);
    expect(runVectorTwin(form, operands, cases)).toEqual(
      evaluate(form, cases).subarray(0, cases * form.results.length),
    );
  });
});

describe('vector instructions', () => {
  const sample = forms.filter((_, index) => index % 11 === 0);

  it.each(named(sample))('%s takes operands that are the same in all lanes', (_, form) => {
    const operands = firstOperands(form).slice();
    const uniform = form.sources.length > 1 ? 1 : 0;
    const shared = operands.slice();
    for (let index = 0; index < firstCases; index++)
      shared[index * form.sources.length + uniform] =
        operands[(index - (index % 8)) * form.sources.length + uniform] ?? 0n;
    const expected = runVectorTwin(form, shared, firstCases);
    const results = runVectorTwin(form, operands, firstCases, { uniform: new Set([`%s${uniform}`]) });
    expect(results).toEqual(expected);
  });

  it.each(named(sample))('%s writes active lanes alone', (_, form) => {
    const mask = 0b10010110;
    const all = runVectorTwin(form, firstOperands(form), firstCases);
    const some = runVectorTwin(form, firstOperands(form), firstCases, { mask });
    const width = form.results.length;
    expect(some.filter((_word, index) => ((mask >> (Math.floor(index / width) % 8)) & 1) === 1)).toEqual(
      all.filter((_word, index) => ((mask >> (Math.floor(index / width) % 8)) & 1) === 1),
    );
    expect(
      new Set(some.filter((_word, index) => ((mask >> (Math.floor(index / width) % 8)) & 1) === 0)),
    ).toEqual(new Set([0n]));
  });
});
