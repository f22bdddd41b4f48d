import { readdirSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { describe, expect, it } from 'vitest';
import { packageRoot } from '../../files/index.js';
import { formsOf, isa, supportedOpcodes } from '../../ptx/index.js';
import { missingOf } from './formCoverage.js';

/** What a form's rule lets through and the assembler refuses, so that no card can show it. */
const unassembled: readonly RegExp[] = [
  /^cvt .* of (?:[us]8\.bf16|bf16\.[us]8)$/,
  /^cvt .* of f16\.bf16, bf16\.f16 with \.(?:ftz|sat)$/,
  /^set .* of b32\./,
  // Unsigned comparisons of floats and signed integers, comparisons for floats of integers.
  /^setp? .* with \.(?:lo|ls|hi|hs)$/,
  /^vset[24]? .* with \.(?:lo|ls|hi|hs|equ|neu|ltu|leu|gtu|geu|num|nan)$/,
  /^atom .* of [us](?:32|64)$/,
  /^(?:ld|st) .* with \.128B$/,
  // Refused by name: `instructionRules.ts`.
  /^vsh[lr] .* with \.(?:min|max)$/,
  /^vshl .* with \.sat$/,
];

const opcodes = supportedOpcodes();

describe('forms of the simulator without a vector', () => {
  it.each(opcodes.filter((opcode) => isa(opcode).heldBy === 'vectors'))('%s', (opcode) => {
    // Those that tell an mbarrier are held by `executor/bulkCopies.test.ts`.
    const texts = formsOf(opcode).flatMap((form, index) =>
      form.allowed.test('async') ? [] : missingOf(opcode, form, `${opcode} form ${index}`),
    );
    expect(texts.filter((text) => !unassembled.some((each) => each.test(text)))).toEqual([]);
  });
});

describe('opcodes that no vector can show', () => {
  const folders = ['kernels', 'tensor'].map((room) => join(packageRoot(), 'simulator/laboratory', room));
  const kernels = folders.flatMap((folder) =>
    readdirSync(folder, { recursive: true, encoding: 'utf8' })
      .filter((name) => name.endsWith('.ptx'))
      .map((name) => readFileSync(join(folder, name), 'utf8')),
  );
  const spellings = readFileSync(join(packageRoot(), 'simulator/ptx/fixtures/spellings.ptx'), 'utf8');
  const text = [...kernels, spellings].join('\n');

  it.each(opcodes.filter((opcode) => isa(opcode).heldBy !== 'vectors'))('%s runs elsewhere', (opcode) => {
    expect(text).toMatch(new RegExp(`(?:^|\\s)${opcode}(?:[.;]|\\s)`, 'm'));
  });
});
