import { describe, expect, it } from 'vitest';
import { idIn, jsonIn, ProgramLines } from './programLines.js';

describe('lines of a program', () => {
  it.each([1, 2, 7, 1000])('are put together of pieces of %i characters', (size) => {
    const text = 'one\n\n{"id": 3}\nä\r\nlast';
    const lines: string[] = [];
    const splitter = new ProgramLines((line) => lines.push(line));
    for (let at = 0; at < text.length; at += size) splitter.push(text.slice(at, at + size));
    expect(lines).toEqual(['one', '', '{"id": 3}', 'ä\r']);
  });

  it('may not go on without end', () => {
    const splitter = new ProgramLines(() => undefined);
    const piece = 'x'.repeat(1 << 20);
    for (let mebi = 0; mebi < 32; mebi++) splitter.push(piece);
    expect(() => splitter.push('x')).toThrow('a line of more than 33554432 characters');
  });

  it.each<[string, unknown]>([
    ['{"id": 1, "output": "a"}', { id: 1, output: 'a' }],
    ['{"id": 1, "output": NaN}', { id: 1, output: null }],
    [
      '{"NaN": [-Infinity, inf, -nan, 1], "say": "NaN \\" Infinity"}',
      { NaN: [null, null, null, 1], say: 'NaN " Infinity' },
    ],
    ['[1]', undefined],
    ['null', undefined],
    ['"text"', undefined],
    ['NaN', undefined],
    ['{"id": 1', undefined],
    ['', undefined],
    [`"${'x'.repeat(8 << 20)}`, undefined],
    ['"'.repeat((1 << 20) + 1), undefined],
  ])('are objects, or none: case %#', (line, expected) => {
    expect(jsonIn(line)).toEqual(expected);
  });

  it('tell whom a broken one begins to answer', () => {
    expect(['{"id": 12, "out', ' { "id":3', '{"output": "id", ', '{"id": "3"', 'x'].map(idIn)).toEqual([
      12,
      3,
      undefined,
      undefined,
      undefined,
    ]);
  });
});
