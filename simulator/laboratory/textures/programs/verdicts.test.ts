import { readFileSync } from 'node:fs';
import { describe, expect, it } from 'vitest';
import { analyzeKernel } from '../../../idempotency/index.js';
import { parseModule } from '../../../ptx/index.js';

function classOf(program: string, kernel: string): string {
  const url = new URL(`./${program}.ptx`, import.meta.url);
  return analyzeKernel(parseModule(readFileSync(url, 'utf8'), `${program}.ptx`), kernel).class;
}

describe('verdicts', () => {
  it.each([
    ['imageRotation', 'imageRotation'],
    ['separableFilter', 'filterRows'],
    ['separableFilter', 'filterColumns'],
    ['surfaceEdges', 'flipRows'],
    ['surfaceEdges', 'countInSurface'],
  ])('%s: %s is idempotent of no launch that is not looked at', (program, kernel) => {
    expect(classOf(program, kernel)).not.toBe('idempotent');
  });
});
