import { readFileSync } from 'node:fs';
import { describe, expect, it } from 'vitest';
import { analyzeKernel } from '../../idempotency/index.js';
import { parseModule } from '../../ptx/index.js';

const file = 'nondeterminism.ptx';
const module = parseModule(readFileSync(new URL(file, import.meta.url), 'utf8'), file);

/** Nothing is read that is written: what is left is whether two runs store at the same places. */
const without = ['countedHeader', 'plainThroughChoice', 'copiedPlainly', 'carriedPlainly'];

describe('stores at places that two runs may choose differently', () => {
  it.each(module.functions.map(({ name }) => [name] as const))('%s', (name) => {
    const { class: found, reason } = analyzeKernel(module, name);
    if (without.includes(name)) expect(found).not.toBe('nonIdempotent');
    else {
      expect(found).toBe('nonIdempotent');
      expect(reason.text).toMatch(/two runs may see differently/);
    }
  });
});
