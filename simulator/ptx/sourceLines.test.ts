import { expect, it } from 'vitest';
import { sourceLines } from './sourceLines.js';

it('gives each line of PTX the source line before it, of what is inlined that of the call', () => {
  const lines = [
    '.visible .entry k()',
    '{',
    '\t.loc\t1 5 3',
    'add.s32 %r1, %r1, 1;',
    '{',
    'call.uni f;',
    '}',
    'add.s32 %r2, %r2, 1;',
    '\t.loc\t2 440 3, function_name $L__info_string0, inlined_at 1 9 17',
    'shfl.sync.down.b32 %r1, %r2, 1, 31, -1;',
    'ret;',
    '}',
    '.visible .entry other()',
    '{',
    'ret;',
    '}',
    '\t.file\t1 "k.cu"',
    '\t.file\t2 "/usr/include/intrinsics.hpp"',
  ];
  const found = sourceLines(lines);
  const at = (text: string): unknown => found[lines.indexOf(text) + 1];
  expect(at('add.s32 %r1, %r1, 1;')).toEqual({ file: 'k.cu', line: 5 });
  expect(at('add.s32 %r2, %r2, 1;')).toEqual({ file: 'k.cu', line: 5 });
  expect(at('shfl.sync.down.b32 %r1, %r2, 1, 31, -1;')).toEqual({ file: 'k.cu', line: 9 });
  expect(found[15]).toBeUndefined();
  expect(sourceLines(lines.slice(0, 16)).every((each) => each === undefined)).toBe(true);
});
