import type { Json } from './policy.js';

/** Checks of a state that comes back from a store: it may be of an older program, or edited by hand. */
export function isRecord(value: Json): value is { readonly [key: string]: Json } {
  return typeof value === 'object' && value !== null && !Array.isArray(value);
}

export function stringList(value: Json | undefined): value is readonly string[] {
  return Array.isArray(value) && value.every((item) => typeof item === 'string');
}

export function numberList(value: Json | undefined): value is readonly number[] {
  return Array.isArray(value) && value.every((item) => typeof item === 'number' && Number.isFinite(item));
}

export function finite(value: Json | undefined): value is number {
  return typeof value === 'number' && Number.isFinite(value);
}
