import { describe, expect, it } from 'vitest';
import { PrintedText } from './printedText.js';

describe('text that kernels print', () => {
  it('goes out once a second, with word of what did not', () => {
    const printed = new PrintedText();
    expect(printed.take('one\n', 0)).toBe('one\n');
    expect(printed.take('two\n', 5e8)).toBeUndefined();
    expect(printed.take('three\n', 9e8)).toBeUndefined();
    expect(printed.take('four\n', 1e9)).toBe('(10 characters left out)\nfour\n');
    expect(printed.take('five\n', 3e9)).toBe('five\n');
  });

  it('is cut when it is long', () => {
    const printed = new PrintedText();
    expect(printed.take('x'.repeat(5000), 0)).toHaveLength(4000);
    expect(printed.take('y', 2e9)).toBe('(1000 characters left out)\ny');
  });
});
