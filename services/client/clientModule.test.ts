import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { expect, it } from 'vitest';
import { packageRoot } from '../../simulator/files/index.js';
import { clientDeclarations, DECLARATIONS } from './tests/clientDeclarations.js';

it('has the types that its sources say', async () => {
  const kept = readFileSync(join(packageRoot(), DECLARATIONS), 'utf8');
  expect(kept, 'run: npm run build && node dist/services/client/tests/writeDeclarations.js').toBe(
    await clientDeclarations(),
  );
});
