import { describe, expect, it } from 'vitest';
import { violations, type HistoryWrite } from './history.js';

const write = (id: string, fields: Partial<HistoryWrite>): HistoryWrite => ({
  id,
  key: 'k',
  expected: 'any',
  invoked: 0,
  returned: 10,
  outcome: 'made',
  isBuiltOnOwn: false,
  ...fields,
});
const end = (version: number, id: string) => new Map([['k', { version, id }]]);

describe('the checker of histories', () => {
  it('takes a chain whose writes overlap', () => {
    const history = [
      write('a', { version: 2, expected: 1 }),
      write('b', { version: 1 }),
      write('c', { expected: 1, outcome: 'refused', invoked: 5, returned: 20 }),
      write('d', { outcome: 'unknown' }),
    ];
    expect(violations(history, end(2, 'a'))).toEqual([]);
    expect(violations(history, end(3, 'd'))).toEqual([]);
  });

  it.each<[string, HistoryWrite[], ReturnType<typeof end>, RegExp]>([
    [
      'two of one version',
      [write('a', { version: 1 }), write('b', { version: 1 })],
      end(1, 'a'),
      /by a and b/,
    ],
    [
      'another version than expected',
      [write('a', { version: 2, expected: 0 })],
      end(2, 'a'),
      /expected 0 and wrote/,
    ],
    ['a lost write', [write('a', { version: 1 }), write('b', { version: 2 })], end(1, 'a'), /is lost/],
    ['a write of nobody', [write('a', { version: 2 })], end(2, 'a'), /by nobody/],
    ['another value', [write('a', { version: 1 })], end(1, 'b'), /holds b, and a wrote last/],
    [
      'an order against time',
      [write('a', { version: 2 }), write('b', { version: 1, invoked: 11, returned: 12 })],
      end(2, 'a'),
      /a had returned before b began/,
    ],
    [
      'a refusal without a reason',
      [
        write('a', { version: 1 }),
        write('b', { expected: 1, outcome: 'refused', invoked: 11, returned: 12 }),
      ],
      end(1, 'a'),
      /b was refused/,
    ],
    ['a write made twice', [write('a', { version: 1 })], end(2, 'a'), /by nobody/],
  ])('finds %s', (_name, history, state, reason) => {
    expect(violations(history, state).join('\n')).toMatch(reason);
  });
});
