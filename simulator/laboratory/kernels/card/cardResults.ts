import { createHash } from 'node:crypto';
import { bytesOf } from '../fixtureRun.js';
import type { Buffers, KernelFixture, OutputRule } from '../kernelFixture.js';
import { base64 } from './cardPlan.js';

/** What a card left of one fixture: a digest of each output, or its bytes where the order of additions is open. */
export interface CardOutputs {
  readonly exact: Readonly<Record<string, string>>;
  readonly anyOrder: Readonly<Record<string, string>>;
  readonly printed?: string;
}

export interface CardResults {
  readonly card: string;
  readonly driver: string;
  readonly ptxas: string;
  readonly programs: Readonly<Record<string, CardOutputs>>;
}

export function cardOutputs(fixture: KernelFixture, buffers: Buffers, printed: string): CardOutputs {
  const exact: Record<string, string> = {};
  const anyOrder: Record<string, string> = {};
  for (const [name, rule] of Object.entries(fixture.outputs)) {
    const bytes = bytesOf(buffers[name]);
    if (!isAnyOrder(rule)) exact[name] = createHash('sha256').update(bytes).digest('hex').slice(0, 32);
    else anyOrder[name] = base64(bytes);
  }
  return { exact, anyOrder, ...(printed === '' ? {} : { printed }) };
}

/** The fixture's buffers with a card's values in those whose order of additions is open. */
export function anyOrderValues(fixture: KernelFixture, kept: CardOutputs): Buffers {
  const buffers = fixture.buffers();
  for (const [name, text] of Object.entries(kept.anyOrder)) {
    bytesOf(buffers[name]).set(Buffer.from(text, 'base64'));
  }
  return buffers;
}

export function isAnyOrder(rule: OutputRule): boolean {
  return rule !== 'exact' && rule.anyOrder === true;
}
