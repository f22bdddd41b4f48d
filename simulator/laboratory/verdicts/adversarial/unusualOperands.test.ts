import { readFileSync } from 'node:fs';
import { describe, expect, it } from 'vitest';
import { analyzeKernel } from '../../../idempotency/index.js';
import { validatorInMode } from '../../validatorModes/index.js';
import { parseModule } from '../../../ptx/index.js';

const file = 'unusualOperands.ptx';
const module = parseModule(readFileSync(new URL(file, import.meta.url), 'utf8'), file);
const modes = ['strawman', 'ranges', 'compacted'] as const;

const OUT = 0x10_0000;
const FAR = 4 * 0xffff_ffff;

function launch(distance: number, n: number, m: number) {
  const params = new Uint8Array(24);
  const view = new DataView(params.buffer);
  view.setBigUint64(0, BigInt(OUT), true);
  view.setBigUint64(8, BigInt(OUT + distance), true);
  view.setInt32(16, n, true);
  view.setInt32(20, m, true);
  return {
    params,
    shape: { grid: [1, 1, 1], block: [32, 1, 1] } as const,
    symbols: new Map<string, number>(),
  };
}

describe('remainders by zero, and constants and sums of other widths than they seem', () => {
  // What is read lies so many bytes behind `out`.
  it.each([
    ['uniformRemainder', 'out[0xffffffff] is read', FAR, 0, 2, false],
    ['uniformRemainder', 'out[0xffffffff] is not read', 64, 5, 2, true],
    ['uniformRemainder', 'the remainder is read', 8, 5, 7, false],
    ['signedRemainder', 'out[-1] is read', -4, 0, 2, false],
    ['signedRemainder', 'out[-1] is not written', -4, 5, 2, true],
    ['guardedRemainder', 'nothing happens', -4, 0, 2, true],
    ['guardedRemainder', 'apart', -4, 5, 2, true],
    ['varyingDivisor', 'out[-1] is read', -4, 0, 2, false],
    ['varyingDivisor', 'in one thread', -4, 5, 2, false],
    ['constantZero', 'out[-1] is read', -4, 0, 2, false],
    ['wideChoice', '2^32 bytes on', 2 ** 32, 5, 0, false],
    ['packedHalves', 'the lower half is of the other', 20, 0, 5, false],
    ['packedBytes', 'the low byte is of the other', 20, 0, 5, false],
    ['shortCarry', 'n is 0 in 16 bits', 0, 65_536, 0, false],
  ] as const)('%s: %s', (entry, _, distance, n, m, expected) => {
    const summary = analyzeKernel(module, entry);
    for (const mode of modes) {
      const validator = validatorInMode(summary, { mode });
      expect(validator.judge(launch(distance, n, m)), mode).toBe(expected);
    }
  });
});
