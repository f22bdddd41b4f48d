import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { expect, it } from 'vitest';
import { packageRoot } from '../../files/index.js';
import { instructionReference } from './reference.js';

it('is what docs/reference/ptx.md says', () => {
  const page = readFileSync(join(packageRoot(), 'docs/reference/ptx.md'), 'utf8');
  expect(page === instructionReference()).toBe(true);
});

it('counts the vectors of a form', () => {
  expect(instructionReference()).toMatch(
    /\| `madc\.lo\\\|hi\{\.cc\}\.\S+` \| `T <- T, T, T` \| 3\.0, sm_20 \| \d+ vectors \|/,
  );
});
