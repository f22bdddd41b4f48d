import { elements, storeElement, valueOfText, type ElementArray } from './elementTypes.js';
import type { ContentsSpec, GenerateSpec } from './argumentSchema.js';

/** The measurements' mixing function, in unsigned 32-bit arithmetic. */
export function mixu(index: number, seed: number): number {
  let u = Math.imul((index + Math.imul(seed, 7919)) | 0, 0x9e3779b1);
  u ^= u >>> 16;
  u = Math.imul(u, 0x85ebca6b);
  u ^= u >>> 13;
  return u >>> 0;
}

/** A value in [-1, 1), exact in float32. */
export function mixf(index: number, seed: number): number {
  return ((mixu(index, seed) & 0x7fffff) / 8388608) * 2 - 1;
}

/** Fills `bytes` with the buffer's elements from `first` on. */
export function generateElements(spec: ContentsSpec, first: number, bytes: Uint8Array): void {
  const into = elements(spec.type, bytes);
  if (spec.fill !== undefined) {
    const { seed, scale, shift } = spec.fill;
    const [scale32, shift32] = [Math.fround(scale), Math.fround(shift)];
    for (let index = 0; index < into.length; index++) {
      // Each step is rounded to float32, as the measured program did it.
      storeElement(into, index, Math.fround(Math.fround(mixf(first + index, seed) * scale32) + shift32));
    }
  } else if (spec.generate !== undefined) {
    generateByRule(spec.generate, first, into);
  } else if (spec.values !== undefined) {
    for (let index = 0; index < into.length; index++) {
      const value = spec.values[first + index];
      storeElement(into, index, typeof value === 'string' ? valueOfText(value) : value);
    }
  }
}

function generateByRule(rule: GenerateSpec, first: number, into: ElementArray): void {
  if (rule.rule === 'mix.mod') {
    for (let index = 0; index < into.length; index++) {
      storeElement(into, index, (mixu(first + index, rule.seed) % rule.mod) + rule.plus);
    }
    return;
  }
  const all = 2 ** (rule.depth + 1) - 1;
  const inner = 2 ** rule.depth - 1;
  for (let index = 0; index < into.length; index++) {
    storeElement(into, index, forestNode(rule, first + index, all, inner));
  }
}

function forestNode(
  rule: Exclude<GenerateSpec, { rule: 'mix.mod' }>,
  position: number,
  all: number,
  inner: number,
): number {
  if (rule.rule === 'forest.root') return position * all;
  const base = Math.floor(position / all) * all;
  const node = position - base;
  switch (rule.rule) {
    case 'forest.feature':
      return mixu(position, 5) % rule.dim;
    case 'forest.left':
      return node < inner ? base + 2 * node + 1 : -(1 + (mixu(position, 7) % rule.classes));
    case 'forest.right':
      return node < inner ? base + 2 * node + 2 : -1;
  }
}
