import { describe, expect, it } from 'vitest';
import { LineLog } from './lineLog.js';

describe('what a process prints', () => {
  it.each([1, 100, 65_536, 10_000_000])('is counted, line by line, in pieces of %i characters', (size) => {
    let nowMs = 0;
    const lines: string[] = [];
    const log = new LineLog(
      () => nowMs,
      (line) => lines.push(line),
    );
    const count = size === 1 ? 1000 : 100_000;
    const text = Array.from({ length: count }, (_, at) => `line ${at}\n`).join('') + 'ValueError: at last\n';
    for (let at = 0; at < text.length; at += size) log.push(text.slice(at, at + size));
    expect(log.recentError()).toBe('ValueError: at last');
    nowMs = 1000;
    log.push('after it\n');
    log.end();
    const shown = lines.filter((line) => line.startsWith('line '));
    const [, leftOut = '0'] = /\((\d+) lines left out/.exec(lines.join('\n')) ?? [];
    expect(shown).toHaveLength(20);
    expect(shown.length + Number(leftOut)).toBe(count + 1);
    expect(lines.at(-1)).toBe('after it');
  });
});
