import { createHash } from 'node:crypto';
import { bytesOf } from '../fixtureRun.js';
import type { Bound, Buffers, KernelFixture } from '../kernelFixture.js';
import { base64 } from './cardPlan.js';

/** What a card left of one fixture: a digest of each exact output, the bytes of each approximate one. */
export interface CardOutputs {
  readonly exact: Readonly<Record<string, string>>;
  readonly approximate: Readonly<Record<string, string>>;
  readonly printed?: string;
}

export interface CardResults {
  readonly card: string;
  readonly driver: string;
  readonly ptxas: string;
  readonly programs: Readonly<Record<string, CardOutputs>>;
}

/** Digests of settled results; the bytes of those that have a bound. */
export function cardOutputs(fixture: KernelFixture, buffers: Buffers, printed: string): CardOutputs {
  const exact: Record<string, string> = {};
  const approximate: Record<string, string> = {};
  for (const [name, rule] of Object.entries(fixture.outputs)) {
    const bytes = bytesOf(buffers[name]);
    if (rule === 'exact') exact[name] = createHash('sha256').update(bytes).digest('hex').slice(0, 32);
    else approximate[name] = base64(bytes);
  }
  return { exact, approximate, ...(printed === '' ? {} : { printed }) };
}

/** The buffers that a bound holds, with a card's values in them. */
export function approximateValues(fixture: KernelFixture, kept: CardOutputs): Buffers {
  const buffers = fixture.buffers();
  for (const [name, text] of Object.entries(kept.approximate)) {
    bytesOf(buffers[name]).set(Buffer.from(text, 'base64'));
  }
  return buffers;
}

export function isBound(rule: 'exact' | Bound): rule is Bound {
  return rule !== 'exact';
}
