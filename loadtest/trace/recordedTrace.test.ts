import { gzipSync } from 'node:zlib';
import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import fc from 'fast-check';
import { afterAll, beforeAll, expect, it } from 'vitest';
import { CsvReader } from './csvReader.js';
import { openTrace, type Arrival, type TraceRequest } from './index.js';
import { TextSource } from './textSource.js';

let folder: string;
beforeAll(() => (folder = mkdtempSync(join(tmpdir(), 'windjammer-trace-'))));
afterAll(() => rmSync(folder, { recursive: true }));

function file(text: string | Uint8Array): string {
  const path = join(folder, 'trace.csv');
  writeFileSync(path, text);
  return path;
}

function arrivalsOf(
  text: string | Uint8Array,
  scale = 1,
  options: Pick<TraceRequest, 'format' | 'timeUnit'> = {},
): Arrival[] {
  const trace = openTrace({ spec: file(text), scale, seed: 1, ...options });
  try {
    const arrivals: Arrival[] = [];
    for (let next = trace.next(); next !== undefined; next = trace.next()) arrivals.push(next);
    return arrivals;
  } finally {
    trace.close();
  }
}

it('has features of arrivals, from JSON and from CSV', () => {
  const features = { hour: 14, returning: 1 };
  const json = arrivalsOf(`{"time_s":0,"features":{"hour":14,"returning":1}}\n{"time_s":1}\n`);
  expect(json.map((arrival) => arrival.features)).toEqual([features, undefined]);
  const csv = arrivalsOf('time_s,features\n0,"{""hour"": 14, ""returning"": 1}"\n1,\n');
  expect(csv.map((arrival) => arrival.features)).toEqual([features, undefined]);
  expect(() => arrivalsOf('time_s,features\n0,hour=14\n')).toThrow(
    /:2: features 'hour=14' is no JSON: write/,
  );
  expect(() => arrivalsOf('{"time_s":0,"features":{"hour":"late"}}')).toThrow(
    /features.hour must be a number/,
  );
});

const ms = (arrivals: readonly Arrival[]) => arrivals.map(({ atNs }) => Math.round(atNs / 1e3) / 1e3);

it.each([
  ['time_s\n5\n5.25\n7\n', [0, 250, 2000]],
  ['Seconds,anything\n0,x\n1e-3,y', [0, 1]],
  ['time_ms\r\n10\r\n12.5\r\n', [0, 2.5]],
  // The Azure LLM inference traces.
  [
    'TIMESTAMP,ContextTokens,GeneratedTokens\n2023-11-16 18:17:03.9799600,4808,10\n2023-11-16 18:17:04.0319600,3180,8\n',
    [0, 52],
  ],
  ['timestamp\n2024-02-28T23:59:59Z\n2024-02-29T01:00:00+01:00\n', [0, 1000]],
  ['timestamp\n1700000000.25\n1700000000.5\n', [0, 250]],
  // Units by magnitude: since 1970.
  ['timestamp\n1700000000\n1700000001\n', [0, 1000]],
  ['timestamp\n1700000000000\n1700000000250\n', [0, 250]],
  ['timestamp\n1700000000000000\n1700000000250000\n', [0, 250]],
  ['Timestamp\n1700000000000000001\n1700000000250000002\n', [0, 250]],
  ['time_us\n100\n350000\n', [0, 349.9]],
  // And since something else: by how often queries would come. BurstGPT has seconds.
  ['Timestamp,Model,Request tokens,Response tokens\n5,ChatGPT,472,18\n10,ChatGPT,1087,230\n', [0, 5000]],
  ['time\n0\n2482\n3535\n', [0, 2482, 3535]],
  ['time\n0.5\n60.5\n', [0, 60_000]],
  ['time\n0\n5000\n12000\n17000\n', [0, 5000, 12_000, 17_000]],
  ['time\n0\n5000000\n12000000\n', [0, 5000, 12_000]],
  ['time\n0\n5000000000\n12000000000\n', [0, 5000, 12_000]],
  // JSON lines, and Mooncake's.
  ['{"t_ms":5,"x":1}\n\n{"x":{},"t_ms":7.5}', [0, 2.5]],
  [
    '{"timestamp": 0, "input_length": 6758, "output_length": 500, "hash_ids": [0, 1]}\n' +
      '{"timestamp": 3052, "input_length": 6472, "output_length": 26, "hash_ids": [0]}\n',
    [0, 3052],
  ],
  // k6: an arrival a request, whatever else it has measured.
  [
    'metric_name,timestamp,metric_value,check,error,error_code,expected_response,group,method,name,proto,scenario,service,status,subproto,tls_version,url,extra_tags,metadata\n' +
      [1595325560, 1595325561]
        .map((at) =>
          [
            `vus,${at},1.000000,,,,,,,,,,,,,,,,`,
            `http_reqs,${at},1.000000,,,,true,,GET,http://test.k6.io,HTTP/1.1,default,,200,,,http://test.k6.io,,`,
            `http_req_duration,${at},221.899000,,,,true,,GET,http://test.k6.io,HTTP/1.1,default,,200,,,http://test.k6.io,,`,
            `http_req_blocked,${at},225.275000,,,,true,,GET,http://test.k6.io,HTTP/1.1,default,,200,,,http://test.k6.io,,`,
            `checks,${at},1.000000,status is 200,,,,,,,,default,,,,,,,`,
          ].join('\n'),
        )
        .join('\n'),
    [0, 1000],
  ],
  [
    'metric_name,timestamp,metric_value\nhttp_req_duration,1595325560250,3\nhttp_reqs,1595325560250,1\nhttp_req_duration,1595325560500,3\n',
    [0, 250],
  ],
  [
    'metric_name,timestamp,metric_value\ngrpc_req_duration,2023-01-05T09:45:41.25+01:00,3\ngrpc_req_duration,2023-01-05T09:45:41.5+01:00,1\n',
    [0, 250],
  ],
  [
    '{"type":"Metric","data":{"type":"counter","contains":"default","tainted":null,"thresholds":[],"submetrics":null},"metric":"http_reqs"}\n' +
      // Requests that overlap are told in any order.
      ['45.5', '45.25', '47']
        .map((at) =>
          ['http_reqs', 'http_req_duration', 'http_req_waiting']
            .map(
              (metric) =>
                `{"type":"Point","data":{"time":"2017-05-09T14:34:${at}+02:00","value":1,"tags":{"method":"GET"}},"metric":"${metric}"}\n`,
            )
            .join(''),
        )
        .join(''),
    [0, 250, 1750],
  ],
])('reads %j', (text, expected) => {
  const arrivals = arrivalsOf(text);
  expect(arrivals.map(({ atNs }) => atNs / 1e6).map((at) => Number(at.toFixed(3)))).toEqual(expected);
});

it('reads what is asked, of whom, and what is right', () => {
  const [first, second, third] = arrivalsOf(
    'time_s,application,context,input,label\n0,digits,alice,"[1, 2.5]",7\n\n1,,,plain text,\n2,noop,,"say ""hi""\nthere",no\n',
    2,
  );
  expect(first).toMatchObject({
    application: 'digits',
    context: 'alice',
    input: [1, 2.5],
    label: '7',
    atNs: 0,
  });
  expect(second).toMatchObject({ input: 'plain text', atNs: 5e8 });
  expect(second).not.toHaveProperty('application');
  expect(third).toMatchObject({
    input: 'say "hi"\nthere',
    label: 'no',
    where: expect.stringMatching(/:5$/) as string,
  });
  expect(arrivalsOf('t_s,sample\n0,12\n')[0].sample).toBe(12);
});

it('brings any fields through a file, whatever they hold and wherever a read ends', () => {
  const field = fc.oneof(fc.string(), fc.constantFrom('"', ',', '\n', '""', 'é😀', 'x'.repeat(70_000)));
  fc.assert(
    fc.property(fc.array(fc.array(field, { minLength: 2, maxLength: 4 }), { maxLength: 6 }), (records) => {
      const quoted = records.map((fields) => fields.map((one) => `"${one.replaceAll('"', '""')}"`).join(','));
      const source = new TextSource(file(quoted.map((line) => `${line}\n`).join('')));
      const reader = new CsvReader(source);
      try {
        for (const fields of records) expect(reader.next()).toEqual(fields);
        expect(reader.next()).toBeUndefined();
      } finally {
        source.close();
      }
    }),
    { seed: 41, numRuns: 60 },
  );
});

it('gives a generated trace back', () => {
  const source = openTrace({ spec: 'bursty:50', scale: 1, seed: 5 });
  const times = Array.from({ length: 2000 }, () => (source.next()?.atNs ?? 0) / 1e9);
  const back = ms(arrivalsOf(`time_s\n${times.map((time) => time.toFixed(9)).join('\n')}\n`));
  back.forEach((at, index) => expect(at).toBeCloseTo(Math.round((times[index] - times[0]) * 1e9) / 1e6, 2));
});

function changed(bytes: Buffer): Buffer {
  const copy = Buffer.from(bytes);
  copy[copy.length - 7] ^= 1;
  return copy;
}

it.each<[string, string | Uint8Array, RegExp]>([
  ['an empty file', '', /:1: the file is empty: the first line names the columns/],
  [
    'no arrival',
    'time_s\n',
    /:1: the trace has a header and no arrival|:2: the trace has a header and no arrival/,
  ],
  [
    'no header',
    '0.5,1\n1.5,2\n',
    /:1: no column of arrival times: the first line must name one of time_s, .*'0\.5', '1'/,
  ],
  ['two times', 'time_s,time_ms\n0,0\n', /:1: time_s and time_ms both give arrival times/],
  ['a column twice', 'time_s,label,label\n0,a,b\n', /:1: two columns are named 'label'/],
  ['two inputs', 'time_s,input,sample\n0,1,2\n', /:1: input and sample both say what is asked/],
  ['a bad time', 'time_s\n0\nsoon\n', /:3: time_s is 'soon': it must be a number of seconds/],
  [
    'a day that is none',
    'timestamp\n2023-02-30 00:00:00\n',
    /:2: timestamp is '2023-02-30 00:00:00': it must be a number, or a date/,
  ],
  ['disorder', 'time_s\n0\n2\n1\n', /:4: time_s '1' is before the line above: sort the file by time/],
  ['a time beyond all traces', 'time_s\n0\n1e308\n', /:3: time_s '1e308' is more than a century after/],
  ['a missing field', 'time_s,label\n0,a\n1\n', /:3: 1 fields, and the header has 2/],
  ['an unquoted list', 'time_s,input\n0,[1,2]\n', /:2: 3 fields, and the header has 2: quote a field/],
  ['no JSON', 'time_s,input\n0,"[1,"\n', /:2: input '\[1,' is no JSON/],
  ['no sample', 'time_s,sample\n0,-1\n', /:2: sample is '-1': it must be the number of an input/],
  ['an open quote', 'time_s,input\n0,"[1]\n1,2\n', /:2: the file ends inside quotes/],
  ['a stray quote', 'time_s,input\n0,a"b"\n', /:2: a quote inside a field/],
  [
    'two ways',
    'timestamp\n2023-11-16 18:17:03\n5\n',
    /:3: timestamp '5' is a number, and the rows above have dates/,
  ],
  [
    'two units',
    'timestamp\n1700000000\n1700000001\n1700000002000\n',
    /:4: timestamp '1700000002000' is in milliseconds since 1970, and the row above in seconds/,
  ],
  [
    'two units, going down',
    'timestamp\n1700000002000\n1700000003\n',
    /:3: timestamp '1700000003' is in seconds since 1970, and the row above in milliseconds/,
  ],
  [
    'a name that magnitudes contradict',
    'time_s\n1700000000000\n1700000000250\n',
    /time_s is read in seconds, and 1700000000000 to 1700000000250 are milliseconds since 1970: say --time-unit ms/,
  ],
  ['a number beyond all', 'time\n0\n1e308\n', /:3: time '1e308' is more than a century after/],
  ['a number that is none', 'time\n0\n1e309\n', /:3: time is '1e309': it must be a number/],
  ['a JSON array', ' [{"time_s":1}]', /:1: a JSON array: write an object a line/],
  ['a list a line', '{"time_s":1}\n[2]\n', /:2: '\[2\]' is no object: each line is one/],
  ['half an object', '{"time_s":1}\n{"time_s"\n', /:2: '\{"time_s"' is not JSON/],
  ['no time in a line', '{"time_s":1}\n{}\n', /:2: time_s is missing: it must be a number of seconds/],
  ['no time at all', '{"t":1}\n', /:1: no field of arrival times: .* and this has 't'/],
  [
    'k6 without requests',
    'metric_name,timestamp,metric_value\nvus,1,1\n',
    /:\d: there is no request in it: none of the metrics http_reqs, .*, only vus/,
  ],
  [
    'k6 in sums',
    'metric_name,timestamp,metric_value\nhttp_reqs,1,3.0\n',
    /:2: http_reqs is 3\.0: it must be 1, one row a request/,
  ],
  [
    'k6 with other lines',
    '{"type":"Metric","metric":"x"}\n{"a":1}\n',
    /:2: k6 writes .* and this is neither/,
  ],
  [
    'a packed file of blank lines',
    gzipSync(`time_s\n${'\n'.repeat(2_000_000)}`),
    /:1000002: more than 1000000 blank lines/,
  ],
  ['bytes', Uint8Array.of(0x50, 0x41, 0x52, 0x31, 0, 0, 0x0a), /:1: this is binary and no text/],
  [
    'a gzip file cut short',
    gzipSync('time_s\n0\n1\n2\n').subarray(0, -6),
    /its gzip data ends in the middle: copy the file again/,
  ],
  ['a gzip file with a changed byte', changed(gzipSync('time_s\n0\n1\n2\n')), /its gzip data is damaged: /],
  ['no UTF-8', Uint8Array.of(0x74, 0xff, 0x0a), /it is not UTF-8/],
])('names the line and the fix: %s', (_what, text, message) => {
  expect(() => arrivalsOf(text)).toThrow(message);
});

it('reads what is packed, in one member or many, and what begins with a mark or ends lines in two signs', () => {
  const text = 'time_s,label\r\n0,é\r\n1,b\r\n';
  const packed = Buffer.concat([gzipSync(text), gzipSync('2,c\n'), Buffer.alloc(3)]);
  expect(arrivalsOf(packed).map(({ atNs, label }) => [atNs / 1e9, label])).toEqual([
    [0, 'é'],
    [1, 'b'],
    [2, 'c'],
  ]);
  expect(arrivalsOf(`\ufeff${text}`)).toHaveLength(2);
  expect(arrivalsOf('\ufeff{"time_s":1,"input":[1],"label":2,"application":"a"}\r\n')).toMatchObject([
    { atNs: 0, input: [1], label: '2', application: 'a' },
  ]);
});

it('takes the format and the unit that are asked for', () => {
  const times = (unit: string): number[] =>
    arrivalsOf('time\n0\n20\n30\n', 1, { timeUnit: unit }).map(({ atNs }) => atNs);
  expect(times('s')).toEqual([0, 2e10, 3e10]);
  expect(times('ns')).toEqual([0, 20, 30]);
  const asked = arrivalsOf('time_s\n1700000000000\n1700000000250\n', 1, { timeUnit: 'ms' });
  expect(asked[1].atNs).toBe(2.5e8);
  const k6 = 'metric_name,timestamp,metric_value\nvus,1,1\nhttp_reqs,2,1\n';
  expect(arrivalsOf(k6, 1, { format: 'csv' })).toHaveLength(2);
  expect(() => arrivalsOf(k6, 1, { format: 'k6' })).toThrow(/^--format: 'k6' is none of csv, jsonl, k6-csv/);
  expect(() => arrivalsOf(k6, 1, { timeUnit: 'min' })).toThrow(
    /^--time-unit: 'min' is none of s, ms, us, ns/,
  );
  expect(() => arrivalsOf('time_s\n0\n', 1, { format: 'k6-csv' })).toThrow(
    /:1: k6's CSV has a column metric_name/,
  );
  expect(() => arrivalsOf('timestamp\n2023-11-16 18:17:03\n', 1, { timeUnit: 's' })).toThrow(
    /^--time-unit: timestamp of .* has dates: leave it out/,
  );
  expect(() => openTrace({ spec: 'poisson:5', scale: 1, seed: 1, timeUnit: 's' })).toThrow(
    /^--time-unit: it is for trace files, and poisson is none/,
  );
});

it.each([
  [
    'time\n0\n2482\n3535\n3535\n',
    [
      /\(csv\): 4 arrivals, first 0 s, last 3\.535 s, span 3\.535 s$/,
      /^time: milliseconds, assumed: in seconds there would be 0\.00085 queries a second \(--time-unit says otherwise\)$/,
      /^mean 0\.848656 a second, at most 2 in a second and 2 at once; at --scale 2: 1\.7675 s, mean 1\.69731 a second$/,
    ],
  ],
  [
    'timestamp\n1700000000250\n1700000001250\n',
    [
      /2 arrivals, first 2023-11-14T22:13:20\.250Z, last 2023-11-14T22:13:21\.250Z, span 1 s$/,
      /^timestamp: milliseconds, since 1970, by their magnitude \(/,
      /^mean 1 a second, at most 1 in a second and 1 at once;/,
    ],
  ],
  [
    'timestamp\n2023-11-16 18:17:03.5\n',
    [/1 arrivals, first 2023-11-16T18:17:03\.500Z, last/, /^timestamp: dates$/, /^at most 1/],
  ],
])('says what it is before it is run: %j', (text, lines) => {
  const trace = openTrace({ spec: file(text), scale: 2, seed: 1 });
  trace.close();
  expect(trace.summary).toHaveLength(lines.length);
  lines.forEach((line, at) => expect(trace.summary[at]).toMatch(line));
});
