import { createHash } from 'node:crypto';
import type { ProbedInstruction } from './probe.js';

/**
 * A card keeps the payload of an f64 NaN through arithmetic and narrows it with `cvt`; JS numbers have none, so results
 * are compared with every such NaN as the canonical one.
 */
export function normalized(bits: bigint, probed: ProbedInstruction): bigint {
  const isNan64 = (bits & 0x7ff0000000000000n) === 0x7ff0000000000000n && (bits & 0xfffffffffffffn) !== 0n;
  if (probed.result === 'f64') return isNan64 ? 0xfff8000000000000n : bits;
  if (!/^cvt\..*\.f64$/.test(probed.text)) return bits;
  if (probed.result === 'f32') return (bits & 0x7fffffffn) > 0x7f800000n ? 0x7fffffffn : bits;
  if (probed.result === 'f16') return (bits & 0x7fffn) > 0x7c00n ? 0x7fffn : bits;
  return bits;
}

/** Short digest of an instruction's results over all cases. */
export function digest(results: readonly bigint[]): string {
  const words = BigUint64Array.from(results);
  return createHash('sha256').update(new Uint8Array(words.buffer)).digest('hex').slice(0, 16);
}
