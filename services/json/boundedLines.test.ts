import { describe, expect, it } from 'vitest';
import { boundedLines } from './index.js';

async function linesOf(chunks: readonly string[], mostBytes = 8): Promise<string[]> {
  const lines: string[] = [];
  const pieces = (async function* () {
    for (const chunk of chunks) {
      await Promise.resolve();
      yield Buffer.from(chunk);
    }
  })();
  for await (const line of boundedLines(pieces, mostBytes, (at) => new Error(`line ${at}`)))
    lines.push(line.toString());
  return lines;
}

describe('lines', () => {
  it('are whole, however they come in pieces, the last one without an end, too', async () => {
    expect(await linesOf(['a\nb', 'c\n', '\nd'])).toEqual(['a', 'bc', '', 'd']);
    expect(await linesOf(['12345678\n'])).toEqual(['12345678']);
    expect(await linesOf([])).toEqual([]);
  });

  it.each([
    [['a\n123456789\nb'], 'line 2'],
    [['a\nb\n', '12345', '6789'], 'line 3'],
  ])('of %j are refused where one is too long', async (chunks, message) => {
    await expect(linesOf(chunks)).rejects.toThrow(message);
  });
});
