import { describe, expect, it } from 'vitest';
import { calibrationReport, comparison, withErrorTable } from './index.js';

const report = calibrationReport([
  { name: 'copy__n-1', kernel: 'copy', ...comparison(10, 11) },
  { name: 'copy__n-2', kernel: 'copy', ...comparison(10, 6) },
]);
const BEGIN = '<!-- errors: written by loadtest/experiments/errorsToday.ts -->';

describe('the table of errors', () => {
  it('takes the place of the one before', () => {
    const page = `before\n${BEGIN}\nold\n<!-- /errors -->\nbehind`;
    const written = withErrorTable(page, [{ set: '`a`', report }]);
    expect(written).toContain(
      '| 2 launches of `a` (1 kernels) | 25.0 % | 25.0 % | 50.0 % | -40 % (*copy__n-2*) |',
    );
    expect(written).not.toContain('old');
    expect(withErrorTable(written, [{ set: '`a`', report }])).toBe(written);
    expect([written.startsWith('before'), written.endsWith('behind')]).toEqual([true, true]);
  });

  it('has a place, or is refused', () => {
    expect(() => withErrorTable('nothing', [])).toThrow(expect.objectContaining({ code: 'noTable' }));
  });
});
