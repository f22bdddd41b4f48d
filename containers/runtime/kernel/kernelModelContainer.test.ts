import { PROTOCOL_VERSION } from '../../protocol/index.js';
import { cpSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import type { CommandSink, DriverCommand } from '../../../simulator/driver/index.js';
import { VirtualClock } from '../../../simulator/time/index.js';
import { packageRoot } from '../../../simulator/files/index.js';
import type { KernelModelStart } from '../nodeHost.js';
import { FrontendDouble, floats } from '../tests/frontendDouble.js';
import { VirtualNode } from '../virtualNode.js';

const SCALE = join(packageRoot(), 'containers/runtime/tests/scaleModel');

describe('a kernel model container', () => {
  let clock: VirtualClock;
  let node: VirtualNode;
  let frontend: FrontendDouble;
  const commands: DriverCommand[] = [];

  beforeEach(() => {
    clock = new VirtualClock();
    node = new VirtualNode({ clock, fuelPerBlock: 1e6 });
    commands.length = 0;
    node.gpuNode.interpose({
      onCommand: (command: DriverCommand, next: CommandSink, sink) => {
        commands.push(command);
        next.submit(command, sink);
      },
    });
    frontend = new FrontendDouble(
      node.start({ model: 'scale', version: '1', replica: '0', inputType: 'floats', path: SCALE }),
    );
    clock.run();
    commands.length = 0;
  });

  const ops = (): string[] => commands.map(({ op }) => op);

  /** Runs the clock until the driver has been given so many commands of a kind. */
  function runUntil(op: string, count: number): void {
    while (ops().filter((other) => other === op).length < count) {
      if (!clock.step()) throw new Error(`no ${count}th ${op}`);
    }
  }

  it('says hello when it is loaded and warm', () => {
    expect(frontend.frames).toEqual([
      {
        kind: 'hello',
        protocolVersion: PROTOCOL_VERSION,
        model: 'scale',
        version: '1',
        replica: '0',
        inputType: 'floats',
        inputLength: 2,
        maxBatchSize: 8,
        credits: 2,
      },
    ]);
    expect(clock.nowNs()).toBeGreaterThan(0);
  });

  it('answers a batch in its order, some simulated time later', () => {
    const sentNs = clock.nowNs();
    const batch = frontend.ask([floats(1, 2), floats(3, 4), floats(5, 6)]);
    expect(frontend.result(batch)).toBeUndefined();
    clock.run();
    expect(frontend.outcomes(batch)).toEqual(['[2,4]', '[6,8]', '[10,12]']);
    const serviceNs = frontend.result(batch)?.serviceNs ?? 0;
    expect(serviceNs).toBeGreaterThan(1000);
    expect(serviceNs).toBe(clock.nowNs() - sentNs);
  });

  it('tells what of its time was waiting and copying', () => {
    const first = frontend.ask([floats(1, 2)]);
    const second = frontend.ask([floats(3, 4)]);
    const third = frontend.ask([floats(5, 6)]);
    clock.run();
    const timesOf = (batch: number) => {
      const { serviceNs = 0, parts } = frontend.result(batch) ?? {};
      const { waitNs, inputNs, outputNs } = parts ?? { waitNs: NaN, inputNs: NaN, outputNs: NaN };
      return { waitNs, inputNs, outputNs, computeNs: serviceNs - waitNs - inputNs - outputNs };
    };
    const alone = timesOf(first);
    expect(alone.waitNs).toBe(0);
    for (const part of [alone.inputNs, alone.outputNs, alone.computeNs]) expect(part).toBeGreaterThan(0);
    // The second waits for the first to compute, the third for a slot.
    expect(timesOf(second).waitNs).toBeGreaterThan(0);
    expect(timesOf(third).waitNs).toBeGreaterThan(timesOf(second).waitNs);
    expect(timesOf(third).computeNs).toBeCloseTo(alone.computeNs, 3);
  });

  it('takes the same simulated time twice', () => {
    const first = frontend.ask([floats(1, 2)]);
    clock.run();
    const second = frontend.ask([floats(1, 2)]);
    clock.run();
    // Times are sums of floats that began at different values.
    expect(frontend.result(second)?.serviceNs).toBeCloseTo(frontend.result(first)?.serviceNs ?? 0, 3);
  });

  it('fails bad items alone', () => {
    const batch = frontend.ask([
      floats(1),
      floats(1, 2),
      floats(NaN, 0),
      floats(0, Infinity),
      new Uint8Array(7),
    ]);
    clock.run();
    expect(frontend.outcomes(batch)).toEqual([
      'invalidInput',
      '[2,4]',
      'invalidInput',
      'invalidInput',
      'invalidInput',
    ]);
    expect(frontend.result(batch)?.results[2]).toMatchObject({
      message: 'input[0] must be a finite number, it is NaN',
    });
  });

  it('reads inputs that are not aligned', () => {
    const bytes = new Uint8Array(9);
    bytes.set(floats(1, 2), 1);
    const batch = frontend.ask([bytes.subarray(1)]);
    clock.run();
    expect(frontend.outcomes(batch)).toEqual(['[2,4]']);
  });

  it('answers batches that need no kernel', () => {
    const empty = frontend.ask([]);
    const bad = frontend.ask([floats(1)]);
    const large = frontend.ask(Array.from({ length: 9 }, () => floats(1, 1)));
    clock.run();
    expect(frontend.outcomes(empty)).toEqual([]);
    expect(frontend.outcomes(bad)).toEqual(['invalidInput']);
    expect(new Set(frontend.outcomes(large))).toEqual(new Set(['modelError']));
    expect(ops()).toEqual([]);
  });

  it('refuses an output that is no number, alone', () => {
    const batch = frontend.ask([floats(16, 1), floats(1, 1)]);
    clock.run();
    expect(frontend.outcomes(batch)).toEqual(['modelError', '[2,2]']);
  });

  it('copies the next batch in while one computes', () => {
    const first = frontend.ask([floats(1, 1)]);
    const second = frontend.ask([floats(2, 2)]);
    runUntil('launch', 1);
    expect(ops().filter((op) => op === 'memcpyHostToDevice')).toHaveLength(2);
    clock.run();
    expect(frontend.outcomes(first)).toEqual(['[2,2]']);
    expect(frontend.outcomes(second)).toEqual(['[4,4]']);
    const streams = commands.filter(({ op }) => op === 'launch').map(({ stream }) => stream);
    expect(new Set(streams).size).toBe(2);
  });

  it('answers more batches than it gave credits for, in order', () => {
    const batches = [1, 2, 3, 4, 5].map((value) => frontend.ask([floats(value, value)]));
    clock.run();
    const answered = frontend.frames.flatMap((frame) => (frame.kind === 'result' ? [frame.batchId] : []));
    expect(answered).toEqual(batches);
    expect(batches.flatMap((batch) => frontend.outcomes(batch))).toEqual([
      '[2,2]',
      '[4,4]',
      '[6,6]',
      '[8,8]',
      '[10,10]',
    ]);
  });

  describe('cancelled items', () => {
    const inputs = [1, 2, 3, 4, 5].map((value) => floats(value, value));

    it.each([
      [[0], ['cancelled', '[4,4]', '[6,6]', '[8,8]', '[10,10]']],
      [[4], ['[2,2]', '[4,4]', '[6,6]', '[8,8]', 'cancelled']],
      [
        [1, 2, 4],
        ['[2,2]', 'cancelled', 'cancelled', '[8,8]', 'cancelled'],
      ],
      [
        [0, 1, 2, 3, 4],
        ['cancelled', 'cancelled', 'cancelled', 'cancelled', 'cancelled'],
      ],
    ])('%j are left out of a batch that has not been launched', (itemIds, outcomes) => {
      frontend.ask([floats(9, 9)]);
      const batch = frontend.ask(inputs);
      runUntil('launch', 1);
      frontend.channel.send({ kind: 'cancel', batchId: batch, itemIds });
      clock.run();
      expect(frontend.outcomes(batch)).toEqual(outcomes);
      const launched = commands.flatMap((command) => {
        if (command.op !== 'launch') return [];
        const { params } = command.args;
        return [new DataView(params.buffer, params.byteOffset).getInt32(24, true)];
      });
      expect(launched).toEqual(itemIds.length === 5 ? [1] : [1, 5 - itemIds.length]);
    });

    it('are computed when they come too late', () => {
      const batch = frontend.ask([floats(1, 1)]);
      runUntil('launch', 1);
      frontend.channel.send({ kind: 'cancel', batchId: batch, itemIds: [0] });
      clock.run();
      expect(frontend.outcomes(batch)).toEqual(['[2,2]']);
    });

    it('of an unknown batch are nobody', () => {
      frontend.channel.send({ kind: 'cancel', batchId: 99, itemIds: [0] });
      clock.run();
      expect(frontend.kinds()).toEqual(['hello']);
    });
  });

  describe('a kernel fault', () => {
    it.each([
      [13, 'scale at scaleModel/scale.ptx:'],
      [14, 'instruction budget'],
      [15, 'nothing is mapped at 0x10'],
    ])('(input %d) fails its batch, and the next one is answered in a new context', (value, message) => {
      const bad = frontend.ask([floats(1, 1), floats(value, 0)]);
      clock.run();
      expect(frontend.outcomes(bad)).toEqual(['kernelFault', 'kernelFault']);
      const [first] = frontend.result(bad)?.results ?? [];
      expect(first).toMatchObject({ message: expect.stringContaining(message) as string });
      const good = frontend.ask([floats(1, 1)]);
      clock.run();
      expect(frontend.outcomes(good)).toEqual(['[2,2]']);
      expect(frontend.kinds()).toEqual(['hello', 'result', 'result']);
      expect(ops().filter((op) => op === 'contextCreate')).toHaveLength(1);
      expect(ops().filter((op) => op === 'contextDestroy')).toHaveLength(1);
    });

    it('loses no other batch', () => {
      const before = frontend.ask([floats(1, 1)]);
      const bad = frontend.ask([floats(13, 0)]);
      const next = frontend.ask([floats(2, 2)]);
      const last = frontend.ask([floats(3, 3), floats(1)]);
      clock.run();
      expect(frontend.outcomes(before)).toEqual(['[2,2]']);
      expect(frontend.outcomes(bad)).toEqual(['kernelFault']);
      expect(frontend.outcomes(next)).toEqual(['[4,4]']);
      expect(frontend.outcomes(last)).toEqual(['[6,6]', 'invalidInput']);
    });

    it('leaves no device memory behind', () => {
      for (let round = 0; round < 20; round++) frontend.ask([floats(13, 0)]);
      clock.run();
      const contexts = node.gpuNode.snapshot().driver.contexts;
      expect(contexts.size).toBe(1);
    });
  });

  it('is silent once it is closed, and gives its context back', () => {
    frontend.ask([floats(1, 1)]);
    runUntil('launch', 1);
    frontend.channel.close();
    clock.run();
    expect(frontend.kinds()).toEqual(['hello']);
    expect(node.gpuNode.snapshot().driver.contexts.size).toBe(0);
    expect(node.report().replicas).toBe(0);
  });

  it('drains', () => {
    let drained = 0;
    node.drain(() => (drained += 1));
    expect(drained).toBe(1);
    const batch = frontend.ask([floats(1, 1)]);
    node.drain(() => (drained += 1));
    expect(drained).toBe(1);
    clock.run();
    expect(drained).toBe(2);
    expect(frontend.outcomes(batch)).toEqual(['[2,2]']);
  });

  it('goes down with its node, once', () => {
    node.close(() => undefined);
    node.close(() => undefined);
    clock.run();
    expect(frontend.kinds()).toEqual(['hello', 'down']);
    const late = new FrontendDouble(
      node.start({ model: 'scale', version: '1', replica: '1', inputType: 'floats', path: SCALE }),
    );
    clock.run();
    expect(late.frames).toEqual([{ kind: 'down', reason: "GPU node 'node0' is closed" }]);
  });
});

describe('a start that fails', () => {
  const request = { model: 'm', version: '1', replica: '0', inputType: 'floats' as const, path: SCALE };
  let clock: VirtualClock;
  let node: VirtualNode;
  let folder: string;

  beforeEach(() => {
    clock = new VirtualClock();
    node = new VirtualNode({ clock });
    folder = mkdtempSync(join(tmpdir(), 'failed-start-'));
    cpSync(SCALE, folder, { recursive: true });
  });

  afterEach(() => rmSync(folder, { recursive: true }));

  function edit(file: string, from: string, to: string): void {
    const text = readFileSync(join(folder, file), 'utf8');
    if (!text.includes(from)) throw new Error(`${file} has no '${from}'`);
    writeFileSync(join(folder, file), text.replace(from, to));
  }

  const cases: [string, Partial<KernelModelStart>, () => void, string][] = [
    ['no manifest', { path: '/nowhere' }, () => undefined, '/nowhere/manifest.json: cannot be read'],
    [
      'another input type',
      { inputType: 'doubles' },
      () => undefined,
      'inputs[0].type: the model takes floats',
    ],
    ['another length', { inputLength: 3 }, () => undefined, 'inputs[0].shape: the model takes 2 values'],
    [
      'weights of another length',
      {},
      () => writeFileSync(join(folder, 'weights.bin'), new Uint8Array(8)),
      'weights.bin: weights: the file has 8 bytes, the manifest describes 4',
    ],
    [
      'an instruction that does not run',
      {},
      () => edit('scale.ptx', 'trap;', 'wgmma.fence.sync.aligned;'),
      "scale.ptx: launches[0].kernel: 'scale' cannot run: line",
    ],
    [
      'a query that costs too much',
      {},
      () => edit('manifest.json', '"threadInstructionsPerQuery": 1000', '"threadInstructionsPerQuery": 10'),
      'limits.threadInstructionsPerQuery: a batch of 1 takes',
    ],
    [
      'a kernel that faults on zeros',
      {},
      () => edit('scale.ptx', '0f41500000', '0f00000000'),
      'launch failed (kernelFault): scale at',
    ],
  ];

  it.each(cases)('is a down frame: %s', (_, change, breakIt, reason) => {
    breakIt();
    const frontend = new FrontendDouble(node.start({ ...request, path: folder, ...change }));
    expect(frontend.frames).toEqual([]);
    clock.run();
    expect(frontend.kinds()).toEqual(['down']);
    expect(frontend.frames[0]).toMatchObject({ reason: expect.stringContaining(reason) as string });
    expect(node.report().replicas).toBe(0);
    expect(node.gpuNode.snapshot().driver.contexts.size).toBe(0);
  });
});
