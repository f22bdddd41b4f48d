import { describe, expect, it } from 'vitest';
import { parseKernelTable, tableText } from './index.js';

const HEAD = 'Name,Profile,Memory_footprint,SM_usage,Duration';

describe('a kernel table', () => {
  it('is read in its order; names may hold commas', () => {
    const text = `${HEAD}\nConv,1,0,98,100480\nvoid f<float, (int)2>(float, int),0,7,392,32512\n\nk,-1,0,1,3072\n`;
    expect(parseKernelTable(text, 't.csv')).toEqual([
      { name: 'Conv', bound: 'compute', memoryFootprintBytes: 0, sms: 98, durationNs: 100480 },
      {
        name: 'void f<float, (int)2>(float, int)',
        bound: 'memory',
        memoryFootprintBytes: 7,
        sms: 392,
        durationNs: 32512,
      },
      { name: 'k', bound: 'unknown', memoryFootprintBytes: 0, sms: 1, durationNs: 3072 },
    ]);
  });

  it('may tell which launches are idempotent and what a preemption copies out, in any order', () => {
    const rest = [0, 98, 100].join();
    const text = `${HEAD},Context_bytes,Idempotent\nf<a, b>,1,${rest},65536,kernel\nk,1,${rest},,0.25\nk,1,${rest},0,0\nk,1,${rest}, , \n`;
    const rows = parseKernelTable(text, 't.csv');
    const plain = { bound: 'compute', memoryFootprintBytes: 0, sms: 98, durationNs: 100 };
    expect(rows).toEqual([
      { ...plain, name: 'f<a, b>', contextBytes: 65536, idempotent: 1, isIdempotentKernel: true },
      { ...plain, name: 'k', idempotent: 0.25 },
      { ...plain, name: 'k', contextBytes: 0, idempotent: 0 },
      { ...plain, name: 'k' },
    ]);
    expect(parseKernelTable(tableText(rows), 'again.csv')).toEqual(rows);
    expect(tableText(rows.slice(3))).toBe(`${HEAD}\nk,1,${rest}\n`);
  });

  it('of more rows than a replay has room for is refused', () => {
    const rows = 'k,1,0,1,5\n'.repeat(500_001);
    expect(() => parseKernelTable(`${HEAD}\n${rows}`, 't.csv')).toThrow(
      't.csv:500002: more than 500000 rows; give a part of the table',
    );
  });

  it.each([
    ['name,profile', /t\.csv:1: 'name,profile' is not the header/],
    [`${HEAD}\n`, /t\.csv: no kernels below the header/],
    [`${HEAD}\nConv,1,0,98`, /t\.csv:2: 4 columns; each line has 5/],
    [`${HEAD}\na,1,0,1,5\nConv,2,0,98,5`, /t\.csv:3: column Profile: '2' is not 1 \(compute\), 0 \(memory\)/],
    [`${HEAD}\nConv,1,x,98,5`, /t\.csv:2: column Memory_footprint: 'x' is not a whole number from 0/],
    [`${HEAD}\nConv,1,0,0,5`, /t\.csv:2: column SM_usage: '0' is not a whole number from 1 to/],
    [`${HEAD}\nConv,1,0,1,-5`, /t\.csv:2: column Duration: '-5' is not a whole number from 1 to/],
    [
      `${HEAD},Idempotent,Idempotent\nk,1,0,1,5,1,1`,
      /t\.csv:1: .* behind which 'Idempotent' and 'Context_bytes' may/,
    ],
    [`${HEAD},Registers\nk,1,0,1,5,1`, /t\.csv:1: .* is not the header/],
    [`${HEAD},Idempotent\nk,1,0,1,5`, /t\.csv:2: 5 columns; each line has 6: .*Idempotent/],
    [
      `${HEAD},Idempotent\nk,1,0,1,5,true`,
      /column Idempotent: 'true' is not the share .* from 0 to 1, or 'kernel'/,
    ],
    [`${HEAD},Idempotent\nk,1,0,1,5,1.01`, /t\.csv:2: column Idempotent: '1.01' is not the share/],
    [`${HEAD},Idempotent\nk,1,0,1,5,-0.1`, /t\.csv:2: column Idempotent: '-0.1' is not the share/],
    [
      `${HEAD},Context_bytes\nk,1,0,1,5,1e5`,
      /t\.csv:2: column Context_bytes: '1e5' is not a whole number from 0/,
    ],
    [`${HEAD}\n,1,0,1,5`, /t\.csv:2: column Name: '' is not a name/],
  ])('that is wrong tells where: %j', (text, message) => {
    expect(() => parseKernelTable(text, 't.csv')).toThrow(message);
  });
});
