import { readFileSync } from 'node:fs';
import { describe, expect, it } from 'vitest';
import { analyzeKernel } from '../../../idempotency/index.js';
import { parseModule } from '../../../ptx/index.js';

const file = 'nondeterminism.ptx';
const module = parseModule(readFileSync(new URL(file, import.meta.url), 'utf8'), file);

/** Nothing is read that is written: what is left is whether two runs store at the same places. */
const without = ['countedHeader', 'plainThroughChoice', 'copiedPlainly', 'carriedPlainly', 'copiedAwaited'];
/** Refused in blocks of several rows alone. */
const ofRows = 'fragmentsOfRows';

describe('stores at places that two runs may choose differently', () => {
  const names = module.functions.map(({ name }) => name).filter((name) => name !== ofRows);

  it.each(names.map((name) => [name] as const))('%s', (name) => {
    const { class: found, reason } = analyzeKernel(module, name);
    if (without.includes(name)) expect(found).not.toBe('nonIdempotent');
    else {
      expect(found).toBe('nonIdempotent');
      expect(reason.text).toMatch(/two runs may see differently/);
    }
  });

  it('threads that hold parts of a matrix by their lanes', () => {
    const texts = analyzeKernel(module, ofRows).conditions.map(({ text }) => text);
    expect(texts).toEqual(['threads in several rows store to the same shared memory']);
  });
});
