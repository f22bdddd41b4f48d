import { readFileSync } from 'node:fs';
import { expect, it } from 'vitest';
import { operatorDocumentation } from './documentation.js';

it('the page of operators is what imports have', () => {
  expect(readFileSync('docs/reference/onnx.md', 'utf8')).toBe(operatorDocumentation());
});
