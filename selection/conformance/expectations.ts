import { isDeepStrictEqual } from 'node:util';
import { PolicyError } from '../policy.js';

/** A policy does not keep a rule. */
export class BrokenRule extends Error {
  override readonly name = 'BrokenRule';
}

const MOST_SHOWN = 400;

export function shown(value: unknown): string {
  const text = value === undefined ? 'undefined' : JSON.stringify(value, withMaps);
  return text.length <= MOST_SHOWN ? text : `${text.slice(0, MOST_SHOWN)}… (${text.length} characters)`;
}

function withMaps(_: string, value: unknown): unknown {
  return value instanceof Map ? Object.fromEntries(value) : value;
}

/** @throws BrokenRule unless it holds */
export function expect(holds: boolean, otherwise: () => string): void {
  if (!holds) throw new BrokenRule(otherwise());
}

/** @throws BrokenRule unless both are the same value */
export function expectSame(what: string, found: unknown, wanted: unknown): void {
  expect(isDeepStrictEqual(found, wanted), () => `${what}: ${shown(found)}, and not ${shown(wanted)}`);
}

/** @throws BrokenRule unless the call throws a PolicyError */
export function expectRefusal(what: string, call: () => unknown): void {
  let result: unknown;
  try {
    result = call();
  } catch (error) {
    expect(error instanceof PolicyError, () => `${what}: threw ${String(error)}, which is no PolicyError`);
    return;
  }
  throw new BrokenRule(`${what}: no PolicyError was thrown, the result was ${shown(result)}`);
}

export function isNear(one: number, other: number): boolean {
  return Math.abs(one - other) <= 1e-9;
}
