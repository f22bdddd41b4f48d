import { resolve } from 'node:path';
import { describe, expect, it } from 'vitest';
import { LaunchSpecError, isWorkSpec, runLaunchSpec, runWorkSpec, type WorkResult } from './index.js';

const KERNELS = resolve(import.meta.dirname, '../gpu/reference/kernels');
const COUNT = 4096;

function saxpy(fields: object = {}, n = COUNT): object {
  return {
    kernel: 'saxpy',
    grid: [Math.ceil(n / 256), 1, 1],
    block: [256, 1, 1],
    args: [{ i32: n }, { f32: 2 }, { pointer: { of: 'x' } }, { pointer: { of: 'y' } }],
    ...fields,
  };
}

const ONES = { type: 'f32', count: COUNT, fill: { seed: 1, scale: 0, shift: 1 } };
const ZEROS = { type: 'f32', count: COUNT, out: true };

function spec(launches: object[], fields: object = {}): Record<string, unknown> {
  return {
    ptx: 'saxpy.ptx',
    device: 'h200',
    streams: { a: {}, b: {} },
    buffers: { x: ONES, y: ZEROS, z: ZEROS },
    launches,
    ...fields,
  };
}

const run = (value: unknown): WorkResult => runWorkSpec(value, KERNELS, { node: { backingBytes: 2 ** 26 } });

function complaint(value: unknown): string {
  try {
    run(value);
  } catch (error) {
    if (error instanceof LaunchSpecError) return `${error.code} ${error.message}`;
    throw error;
  }
  return '';
}

describe('specs of several launches', () => {
  it('are told from those of one', () => {
    expect(isWorkSpec(spec([]))).toBe(true);
    expect(() => runLaunchSpec(spec([saxpy()]), KERNELS)).toThrow('launches: only a spec of one launch');
  });

  it('run entries of a stream one after another, on shared buffers', () => {
    const { launches, buffers, makespanUs, measured } = run(
      spec([
        { stream: 'a', memset: { to: 'z', value: 0 } },
        { stream: 'a', ...saxpy({ name: 'first' }) },
        { stream: 'a', ...saxpy() },
        { stream: 'a', copy: { from: 'y', to: 'z' } },
        { stream: 'a', copyToHost: { from: 'z' } },
      ]),
    );
    expect(measured).toBe(true);
    expect(launches.map(({ kind }) => kind)).toEqual(['memset', 'launch', 'launch', 'copy', 'copyToHost']);
    expect(launches[1]).toMatchObject({ name: 'first', kernel: 'saxpy', stream: 'a' });
    expect(launches[1].ptxThreadInstructions).toBeGreaterThan(COUNT);
    launches.forEach(({ startUs, endUs, durationUs }, index) => {
      expect(durationUs).toBeCloseTo(endUs - startUs, 2);
      expect(durationUs).toBeGreaterThan(0);
      if (index > 0) expect(startUs).toBeGreaterThanOrEqual(launches[index - 1].endUs);
    });
    expect(launches[0].startUs).toBe(0);
    expect(makespanUs).toBe(launches[4].endUs);
    expect(launches[4].bytes).toBe(4 * COUNT);
    expect(buffers).toMatchObject([
      { name: 'y', sum: 4 * COUNT },
      { name: 'z', sum: 4 * COUNT },
    ]);
  });

  it('run streams side by side, but where an event is waited for', () => {
    const n = 2 ** 20;
    const buffers = {
      x: { ...ONES, count: n },
      y: { ...ZEROS, count: n },
      z: { ...ZEROS, count: n },
    };
    const other = {
      ...saxpy({}, n),
      args: [{ i32: n }, { f32: 3 }, { pointer: { of: 'x' } }, { pointer: { of: 'z' } }],
    };
    const free = run(spec([saxpy({ stream: 'a' }, n), { ...other, stream: 'b' }], { buffers }));
    expect(free.launches[1].startUs).toBeLessThan(free.launches[0].endUs);
    expect(free.buffers.map(({ sum }) => sum)).toEqual([2 * n, 3 * n]);
    const ordered = run(
      spec(
        [
          saxpy({ stream: 'a' }, n),
          { stream: 'a', record: 'done' },
          { stream: 'b', wait: 'done' },
          { ...other, stream: 'b' },
        ],
        { buffers },
      ),
    );
    expect(ordered.launches[3].startUs).toBeGreaterThanOrEqual(ordered.launches[0].endUs);
    expect(ordered.makespanUs).toBeGreaterThan(free.makespanUs);
    expect(ordered.buffers).toEqual(free.buffers);
  });

  it.each([
    ['a stream', { streams: { a: { launchClass: 'bestEffort' }, b: { launchClass: 'critical' } } }, {}, {}],
    ['a launch', {}, { launchClass: 'bestEffort' }, { launchClass: 'critical' }],
    [
      'a context',
      {
        contexts: { job: { launchClass: 'bestEffort' }, query: { launchClass: 'critical' } },
        streams: { a: { context: 'job' }, b: { context: 'query' } },
      },
      {},
      {},
    ],
  ])('have classes of launches, which policies go by: of %s', (_what, fields, job, query) => {
    const n = 2 ** 22;
    const isApart = 'contexts' in fields;
    const owned = (buffer: object, context: string) => (isApart ? { ...buffer, context } : buffer);
    const buffers = {
      x: owned({ ...ONES, count: n }, 'job'),
      y: owned({ ...ZEROS, count: n }, 'job'),
      v: owned(ONES, 'query'),
      w: owned(ZEROS, 'query'),
    };
    const small = saxpy({ afterUs: 3, ...query, stream: 'b' });
    const args = [{ i32: COUNT }, { f32: 2 }, { pointer: { of: 'v' } }, { pointer: { of: 'w' } }];
    const value = spec([saxpy({ ...job, stream: 'a' }, n), { ...small, args }], { buffers, ...fields });
    const under = (scheduling: string) =>
      runWorkSpec(value, KERNELS, { node: { backingBytes: 2 ** 26, scheduling } });
    const [fifo, drain] = [under('fifo'), under('drain')];
    expect(drain.launches[1].endUs).toBeLessThan(fifo.launches[1].endUs);
    expect(drain.buffers).toEqual(fifo.buffers);
  });

  it('repeat to the last bit', () => {
    const value = spec([saxpy({ stream: 'a' }), saxpy({ stream: 'b' }), { copyToHost: { from: 'y' } }]);
    expect(run(value)).toEqual(run(value));
  });

  it('give the blocks of a higher stream the places that come free first', () => {
    const n = 2 ** 21;
    const buffers = { x: { ...ONES, count: n }, y: { ...ZEROS, count: n }, z: ZEROS };
    const small = {
      ...saxpy({ stream: 'b', afterUs: 2 }),
      args: [{ i32: COUNT }, { f32: 3 }, { pointer: { of: 'x' } }, { pointer: { of: 'z' } }],
    };
    const endOf = (priority: number): number =>
      run(spec([saxpy({ stream: 'a' }, n), { ...small }], { buffers, streams: { a: {}, b: { priority } } }))
        .launches[1].endUs;
    expect(endOf(5)).toBeLessThan(endOf(0));
  });

  it('wait on the host for the streams, and between two entries', () => {
    const { launches } = run(
      spec([
        saxpy({ stream: 'a' }),
        { synchronize: true },
        saxpy({ stream: 'b' }),
        saxpy({ stream: 'a', afterUs: 100 }),
      ]),
    );
    expect(launches[1].endUs).toBeGreaterThanOrEqual(launches[0].endUs);
    expect(launches[2].startUs).toBeGreaterThanOrEqual(launches[1].endUs);
    expect(launches[3].startUs - launches[2].startUs).toBeGreaterThan(90);
  });

  it('copy contents of their own, from pinned and from pageable memory', () => {
    const copy = (pageable: boolean): object => ({
      copyToDevice: {
        to: 'y',
        offsetBytes: 8,
        contents: { type: 'f32', count: 2, values: [5, 7] },
        pageable,
      },
    });
    const pinned = run(spec([copy(false)]));
    const pageable = run(spec([copy(true)]));
    expect(pinned.buffers[0].sum).toBe(12);
    expect(pageable.buffers[0].sum).toBe(12);
    expect(pinned.launches[0].durationUs).not.toBe(pageable.launches[0].durationUs);
    const back = (isPageable: boolean): number => {
      const entries = [
        { copyToHost: { from: 'x', pageable: isPageable }, stream: 'a' },
        saxpy({ stream: 'b' }),
      ];
      const { launches } = run(spec(entries, { buffers: { x: { ...ONES, count: 2 ** 18 }, y: ZEROS } }));
      return launches[1].startUs - launches[0].endUs;
    };
    expect(back(false)).toBeLessThan(0);
    expect(back(true)).toBeGreaterThanOrEqual(0);
  });

  it('hold buffers to what is expected', () => {
    const expected = (sum: number): object => ({ expect: { buffers: { y: { sum, samples: { 3: 2 } } } } });
    const [y] = run(spec([saxpy()], expected(2 * COUNT))).buffers;
    expect(y).toMatchObject({ name: 'y', asExpected: true, samples: { 3: 2 } });
    expect(run(spec([saxpy()], expected(1))).buffers[0].asExpected).toBe(false);
  });

  it('report buffers that arguments hold by entry and argument', () => {
    const args = [
      { i32: 4 },
      { f32: 1 },
      { buffer: { ...ONES, count: 4 } },
      { buffer: { ...ZEROS, count: 4 } },
    ];
    const { buffers } = run(
      spec(
        [
          { ...saxpy(), args },
          { ...saxpy(), args },
        ],
        { buffers: {} },
      ),
    );
    expect(buffers).toMatchObject([
      { launch: 0, arg: 3, sum: 4 },
      { launch: 1, arg: 3, sum: 4 },
    ]);
  });
});

describe('contexts of a spec', () => {
  const two = (fields: object, contexts: object): Record<string, unknown> => {
    const n = 2 ** 19;
    const buffers = Object.fromEntries(
      ['a', 'b'].flatMap((context): [string, object][] => [
        [`x${context}`, { ...ONES, count: n, context }],
        [`y${context}`, { ...ZEROS, count: n, context }],
      ]),
    );
    const launches = ['a', 'b'].map((stream): object => ({
      ...saxpy({ stream }, n),
      args: [{ i32: n }, { f32: 2 }, { pointer: { of: `x${stream}` } }, { pointer: { of: `y${stream}` } }],
    }));
    const streams = { a: { context: 'a' }, b: { context: 'b' } };
    return spec(launches, { contexts, streams, buffers, ...fields });
  };

  it('have their shares of the SMs', () => {
    const whole = run(two({}, { a: {}, b: {} }));
    const shares = run(two({}, { a: { activeThreadPercentage: 10 }, b: {} }));
    expect(shares.launches[0].durationUs).toBeGreaterThan(whole.launches[0].durationUs);
    expect(shares.buffers).toEqual(whole.buffers);
    expect(whole.buffers.map(({ context }) => context)).toEqual(['a', 'b']);
  });

  it('take turns where they are told to', () => {
    const { launches } = run(two({ contextSharing: 'timeSliced' }, { a: {}, b: {} }));
    expect(launches[1].firstBlockUs).toBeGreaterThanOrEqual(launches[0].endUs - 2);
    expect(
      complaint(two({ contextSharing: 'timeSliced' }, { a: { activeThreadPercentage: 10 }, b: {} })),
    ).toContain('activeThreadPercentage: contexts take turns');
  });

  it('wait for events of one another', () => {
    const value = two({}, { a: {}, b: {} }) as { launches: object[] };
    const [first, second] = value.launches;
    const launches = [first, { stream: 'a', record: 'e' }, { stream: 'b', wait: 'e' }, second];
    const reports = run({ ...value, launches }).launches;
    expect(reports[2].endUs).toBeGreaterThanOrEqual(reports[1].endUs);
    expect(reports[3].startUs).toBeGreaterThanOrEqual(reports[0].endUs);
  });

  it('are named where something is missing', () => {
    expect(complaint(two({ streams: { a: {} } }, { a: {}, b: {} }))).toContain(
      'streams.a.context: is missing; expected one of a, b',
    );
    expect(complaint(two({ streams: { a: { context: 'c' } } }, { a: {}, b: {} }))).toContain(
      "streams.a.context: there is no context 'c'",
    );
    expect(complaint(two({}, { a: {} }))).toContain("buffers.xb.context: there is no context 'b'");
    expect(complaint(two({}, { a: { activeThreadPercentage: 0 }, b: {} }))).toContain(
      'contexts.a.activeThreadPercentage: expected',
    );
  });
});

describe('mistakes are told by entry and field', () => {
  it.each([
    [spec([]), 'launches: expected at least 1 values'],
    [spec([{}]), 'launches[0]: says not what it is; give one of kernel, copyToDevice'],
    [spec([{ kernel: 'saxpy', record: 'e' }]), 'launches[0]: give only one of kernel, record'],
    [spec([saxpy(), saxpy({ grid: [0, 1, 1] })]), 'launches[1].grid[0]: expected at least 1'],
    [spec([saxpy(), saxpy({ color: 1 })]), "launches[1]: there is no field 'color'"],
    [
      spec([saxpy({ stream: 'c' })]),
      "launches[0].stream: there is no stream 'c' in streams; there are: a, b",
    ],
    [spec([saxpy({ kernel: 'axpy' })]), "launches[0].kernel: no entry 'axpy' in saxpy.ptx"],
    [spec([saxpy({ ptx: 'none.ptx' })]), 'launches[0].ptx: '],
    [spec([saxpy({ args: [] })]), 'launches[0].args: 0 given'],
    [
      spec([saxpy({ args: [{ i32: 1 }, { f32: 2 }, { pointer: { of: 'q' } }, { pointer: { of: 'y' } }] })]),
      "launches[0].args[2].pointer.of: no buffer has the name 'q'; there are: x, y, z",
    ],
    [spec([saxpy(), saxpy({ block: [2048, 1, 1] })]), 'refused launches[1]: block'],
    [spec([{ wait: 'e' }]), "launches[0].wait: no entry before this one records 'e'"],
    [spec([{ copyToHost: { from: 'q' } }]), "launches[0].copyToHost.from: no buffer has the name 'q'"],
    [
      spec([{ copyToHost: { from: 'x', offsetBytes: 4, bytes: 4 * COUNT } }]),
      "launches[0].copyToHost: 16384 bytes from 4 on do not fit buffer 'x' of 16384 bytes",
    ],
    [spec([{ memset: { to: 'x', value: 256 } }]), 'launches[0].memset.value: expected at most 255'],
    [spec([{ copy: { from: 'x', to: 'y', bytes: -1 } }]), 'launches[0].copy.bytes: expected at least 0'],
    [spec([{ record: 'e', afterUs: -1 }]), 'launches[0].afterUs: expected at least 0'],
    [spec([saxpy()], { buffers: { x: { ...ONES, count: 0 } } }), 'buffers.x.count: expected at least 1'],
    [spec([saxpy()], { buffers: { x: { ...ONES, name: 'x' } } }), 'buffers.x.name: its key is its name'],
    [spec([saxpy()], { ptx: undefined }), 'launches[0].ptx: is missing'],
    [spec([saxpy()], { symbols: { s: { i32: 1 } } }), "symbols.s: the module has no variable 's'"],
    [spec([saxpy()], { expect: { buffers: { x: { sum: 1 } } } }), 'expect.buffers.x: no buffer of that name'],
    [spec([saxpy()], { grid: [1, 1, 1] }), "spec: there is no field 'grid'"],
  ])('%#', (value, message) => {
    expect(complaint(value)).toContain(message);
  });

  it('and a fault by the launch that had it, not by those that it took along', () => {
    const bad = saxpy({ stream: 'b', args: [{ i32: 64 }, { f32: 2 }, { u64: 0 }, { pointer: { of: 'y' } }] });
    const told = complaint(spec([saxpy({ stream: 'a' }), bad, saxpy({ stream: 'b' })]));
    expect(told).toMatch(/^fault launches\[1\]: .*saxpy at saxpy\.ptx:\d+/);
  });
});
