import { describe, expect, it } from 'vitest';
import { NodeMemory } from '../memory/index.js';
import { DeviceRuntime, PrintBuffer, type ThreadMemory } from './index.js';

type Argument = number | bigint | string | { readonly double: number };

/** A thread's memory with a format, its arguments as a kernel lays them out, and their strings. */
function printf(format: string, args: readonly Argument[]): { text: string; returned: number } {
  const bytes = new Uint8Array(8192);
  const view = new DataView(bytes.buffer);
  let strings = 4096;
  const put = (text: string): number => {
    const at = strings;
    bytes.set(new TextEncoder().encode(text), at);
    strings += text.length + 16;
    return at;
  };
  const formatAt = put(format);
  let at = 1024;
  for (const arg of args) {
    const size = typeof arg === 'number' ? 4 : 8;
    at = Math.ceil(at / size) * size;
    if (typeof arg === 'number') view.setInt32(at, arg, true);
    else if (typeof arg === 'bigint') view.setBigInt64(at, arg, true);
    else if (typeof arg === 'string') view.setBigInt64(at, BigInt(put(arg)), true);
    else view.setFloat64(at, arg.double, true);
    at += size;
  }
  const memory: ThreadMemory = {
    read: (address, count) => {
      if (count === 1) return BigInt(view.getUint8(address));
      return count === 4 ? BigInt(view.getUint32(address, true)) : view.getBigUint64(address, true);
    },
  };
  const printed = new PrintBuffer();
  const returned = new DeviceRuntime(new NodeMemory({}).createSpace(), printed).vprintf(
    memory,
    formatAt,
    1024,
  );
  return { text: printed.text() ?? '', returned };
}

const d = (double: number): Argument => ({ double });

/** What glibc 2.36 writes. */
const cases: readonly (readonly [expected: string, format: string, ...args: Argument[]])[] = [
  ['-5', '%d', -5],
  ['+5', '%+d', 5],
  [' 5', '% d', 5],
  ['00042', '%05d', 42],
  ['42   |', '%-5d|', 42],
  ['   042', '%6.3d', 42],
  ['-0042', '%05d', -42],
  ['', '%.0d', 0],
  ['4294967295', '%u', -1],
  ['ffffffff FFFFFFFF', '%x %X', -1, -1],
  ['0xff 0XFF 0377', '%#x %#X %#o', 255, 255, 255],
  ['0 0', '%#x %#o', 0, 0],
  ['-1 255', '%hhd %hhu', 255, 255],
  ['-1 65535', '%hd %hu', 65535, 65535],
  ['-9223372036854775808', '%lld', -(2n ** 63n)],
  ['18446744073709551615', '%llu', -1n],
  ['7 9000000000 8', '%d %ld %d', 7, 9000000000n, 8],
  ['a|    b|c    |', '%c|%5c|%-5c|', 97, 98, 99],
  ['abc', '%s', 'abc'],
  ['   ab|abc  |', '%5.2s|%-5s|', 'abcdef', 'abc'],
  ['(null)', '%s', 0n],
  ['0x1234', '%p', 0x1234n],
  ['(nil)', '%p', 0n],
  ['1.500000', '%f', d(1.5)],
  ['-0.000000', '%f', d(-0)],
  ['0 2 2 4', '%.0f %.0f %.0f %.0f', d(0.5), d(1.5), d(2.5), d(3.5)],
  ['0.12 0.38', '%.2f %.2f', d(0.125), d(0.375)],
  ['3.14', '%.2f', d(3.14159)],
  ['000003.14', '%09.2f', d(3.14159)],
  [
    '999999999999999938258300825281978540327027364472124478294416212538871491824599713636820527503908255301632',
    '%.0f',
    d(1e105),
  ],
  ['1.234568e+04', '%e', d(12345.678)],
  ['1.E+00', '%#.0E', d(1)],
  ['9.99e+02 1.00e+03', '%.2e %.2e', d(999.4), d(999.9)],
  ['4.940656e-324', '%e', d(5e-324)],
  ['100000 1e+06 0.0001 1e-05', '%g %g %g %g', d(100000), d(1000000), d(0.0001), d(0.00001)],
  ['3.14159 3.1 100.000', '%g %.2g %#g', d(3.14159265), d(3.14159265), d(100)],
  ['0x1p+0 0x1.8p+1 0x1.999999999999ap-4', '%a %a %a', d(1), d(3), d(0.1)],
  ['0x1.ap-4 0X1P+0', '%.1a %A', d(0.1), d(1)],
  ['inf -INF nan', '%f %F %g', d(Infinity), d(-Infinity), d(NaN)],
  ['  inf', '%05f', d(Infinity)],
  ['   7|7   |', '%*d|%*d|', 4, 7, -4, 7],
  ['%.*f 3', '%.*f %d', 3],
  ['%zu 3', '%zu %d', 3],
  ['-nan', '%f', -(2n ** 51n)],
  ['100%', '%d%%', 100],
  ['%y', '%y'],
  ['grün', '%s', 'grün'],
];

describe('printf of a kernel', () => {
  it.each(cases.map(([expected, format, ...args]) => ({ expected, format, args })))(
    'writes $expected for $format',
    ({ expected, format, args }) => {
      expect(printf(format, args).text).toBe(expected);
    },
  );

  it('returns how many arguments it took, the ones of * included', () => {
    expect(printf('none', []).returned).toBe(0);
    expect(printf('%d %s', [1, 'x']).returned).toBe(2);
    expect(printf('%*d', [3, 1]).returned).toBe(2);
  });

  it('returns -1 for a null format and writes nothing', () => {
    const printed = new PrintBuffer();
    const memory: ThreadMemory = { read: () => 0n };
    expect(new DeviceRuntime(new NodeMemory({}).createSpace(), printed).vprintf(memory, 0, 0)).toBe(-1);
    expect(printed.text()).toBeUndefined();
  });

  it('takes 32 arguments and leaves what asks for more as it is', () => {
    const { text, returned } = printf(
      '%d'.repeat(33),
      Array.from({ length: 33 }, () => 1),
    );
    expect(text).toBe(`${'1'.repeat(32)}%d`);
    expect(returned).toBe(32);
  });
});

describe('the buffer behind printf', () => {
  it('loses the oldest calls when it is full', () => {
    const buffer = new PrintBuffer(10);
    for (const text of ['aaaa', 'bbbb', 'cccc', 'dd']) buffer.write(text);
    expect(buffer.text()).toBe('bbbbccccdd');
  });

  it('keeps the last of very many calls', () => {
    const buffer = new PrintBuffer(4);
    for (let call = 0; call < 5000; call++) buffer.write(String(call % 10));
    expect(buffer.text()).toBe('6789');
  });
});
