import { describe, expect, it } from 'vitest';
import { prelude } from './asmText.js';
import { generatedFunction } from './generatedFunction.js';
import { wasmCode } from './wasmCode.js';

/** What `judge` of a text gives, as a module and as ordinary code. */
function bothWays(
  body: string,
  helpers: Readonly<Record<string, () => number | void>> = {},
): [number, number] {
  const text = `${prelude(Object.keys(helpers))}\nfunction judge() {\n${body}\n}`;
  const memory = new WebAssembly.Memory({ initial: 1, maximum: 1, shared: true });
  const { exports } = new WebAssembly.Instance(new WebAssembly.Module(wasmCode(text)), {
    node: { ...helpers, memory },
  });
  const make = generatedFunction<(...given: unknown[]) => () => number>(
    ['stdlib', 'foreign', 'heap'],
    `${text}\nreturn judge;`,
  );
  return [(exports.judge as () => number)(), make(globalThis, helpers, new ArrayBuffer(65_536))()];
}

const NUMBERS = [0, -0, 0.5, -0.5, 1.75, -1.75, 2 ** 31 - 1, 2 ** 31, -(2 ** 31), -(2 ** 31) - 1, 2 ** 32]
  .concat([2 ** 32 + 7, -(2 ** 32) - 7, 2 ** 53, -(2 ** 53) + 1, 2 ** 53 - 1, 2 ** 64, 2 ** 70 + 2 ** 20])
  .concat([-(2 ** 84) - 2 ** 40, 1e300, Infinity, -Infinity, NaN]);

/** As text that has no literal of its own. */
function numberText(value: number): string {
  if (Number.isNaN(value)) return 'nan';
  if (!Number.isFinite(value)) return value > 0 ? 'inf' : '(-inf)';
  const text = Math.abs(value).toPrecision(21);
  const literal = text.includes('.') ? text : text.includes('e') ? text.replace('e', '.0e') : `${text}.0`;
  return Object.is(Math.abs(value), value) ? literal : `(-${literal})`;
}

describe('code of verdicts as a module', () => {
  it.each(NUMBERS)('takes %s modulo 2^32 as ToInt32 does', (value) => {
    const [compiled, interpreted] = bothWays(`var x = 0.0;x = ${numberText(value)};return ~~x | 0;`);
    expect(compiled).toBe(value | 0);
    expect(interpreted).toBe(value | 0);
  });

  it('divides as the text does, rounding down and to zero', () => {
    for (const a of [7, -7, 6, -6, 0, 2 ** 53 - 1]) {
      for (const b of [3, -3, 1, 2 ** 31]) {
        for (const name of ['floored', 'truncated']) {
          const body = `var q = 0.0;q = +${name}(${numberText(a)}, ${numberText(b)});return ~~q | 0;`;
          const [compiled, interpreted] = bothWays(body);
          expect(compiled).toBe(interpreted);
        }
      }
    }
  });

  it('loads and stores where the heap is, and converts with and without sign', () => {
    const body =
      'var x = 0.0, i = 0;D[64 >> 3] = -1.5;i = W[68 >> 2] | 0;x = +(i >>> 0) + +(i | 0) + +(U[71] | 0);' +
      'if (x > 0.0) return ~~x | 0;return -1;';
    const [compiled, interpreted] = bothWays(body);
    expect(compiled).toBe(interpreted);
    expect(compiled).not.toBe(0);
  });

  it('chooses, calls helpers of either kind, and returns from within', () => {
    let calls = 0;
    const helpers = { count: () => void calls++, seven: () => 7 };
    const body =
      'var n = 0, x = 0.0;count();n = ((seven() | 0) + n) | 0;x = n == 7 ? +floored(5.0, 2.0) : 0.0;' +
      'if (!(x == 2.0)) { return 0; } else if ((x < 3.0) & (wild(x) | 0)) return 1;' +
      'x = x < 1.0 ? 1.0 : inf;if (x == inf) return (n << 2) ^ 1 | 0;return 0;';
    expect(bothWays(body, helpers)).toEqual([29, 29]);
    expect(calls).toBe(2);
  });

  it.each([
    ['x = 1.0', 'return 0;x = 1.0;'],
    ['a condition of floating point', 'var x = 0.0;if (x) return 1;return 0;'],
    ['+ of an integer and a number', 'var n = 0;n = n + 1.0;return 0;'],
    ['a call of eval', 'eval();return 0;'],
    ['WhileStatement', 'while (1) return 1;return 0;'],
    ['no literal names', 'var n = 0;n = W[n >> 2] | 0;return n | 0;'],
    ['a function without a result', 'var n = 0;n = 1;'],
  ])('refuses by name: %s', (what, body) => {
    expect(() => wasmCode(`${prelude([])}\nfunction judge() {\n${body}\n}`)).toThrow(
      what === 'x = 1.0' ? /x without a declaration/ : new RegExp(what.replace('+', '\\+')),
    );
  });
});
