import { afterEach, beforeEach, describe, expect, it, vi } from 'vitest';
import { builtInModelPath } from '../../containers/models/index.js';
import type { ContainerFrame, HelloFrame, ItemResult } from '../../containers/protocol/index.js';
import { Registry, type ModelRecord } from '../registry/index.js';
import { MemoryStore } from '../store/index.js';
import { Deployer } from './index.js';
import { FakeContainer } from './tests/fakeContainer.js';

const ok = (id: number): ItemResult => ({ id, ok: true, output: '1' });
const failed = (id: number): ItemResult => ({ id, ok: false, code: 'modelError', message: 'no such input' });

describe('warm-up', () => {
  let registry: Registry;
  let started: FakeContainer[];
  let frames: ContainerFrame[];
  let deployer: Deployer;
  let waiting: () => void;

  beforeEach(() => {
    vi.useFakeTimers();
    registry = new Registry(new MemoryStore());
    started = [];
    frames = [];
    waiting = () => undefined;
  });
  afterEach(() => {
    deployer.stop();
    vi.useRealTimers();
  });

  async function run(more: Partial<ModelRecord> = {}): Promise<void> {
    await registry.addModel({
      name: 'm',
      version: '1',
      inputType: 'doubles',
      inputLength: 3,
      labels: [],
      container: { kind: 'process', path: 'model.js' },
      batching: { strategy: 'aimd' },
      ...more,
    });
    deployer = new Deployer({
      registry,
      starter: {
        start: (record) => {
          const container = new FakeContainer(record);
          started.push(container);
          waiting();
          return container;
        },
      },
      addReplica: (channel) => {
        channel.open({ onFrame: (frame) => frames.push(frame) });
        return { drain: (done) => done() };
      },
      backOff: { firstMs: 10, longestMs: 10, forgivenAfterMs: 60_000 },
      limits: { warmUpMs: 1000, drainMs: 1000 },
    });
    deployer.start();
  }

  const state = () => deployer.statuses()[0].state;

  it('asks a single input, a batch and a single input again before the replica serves; what they answer is nobody’s', async () => {
    await run();
    const [container] = started;
    container.hello({ maxBatchSize: 100 });
    expect(state()).toBe('warming');
    expect(frames).toEqual([]);
    expect(container.asked.map(({ items }) => items.map(({ bytes }) => bytes.byteLength))).toEqual([[24]]);
    // Failures of inputs that were made up keep nobody down.
    container.answer(failed);
    expect(container.asked.map(({ items }) => items.length)).toEqual([1, 8]);
    container.emit({ kind: 'credit', credits: 2 });
    vi.advanceTimersByTime(70);
    container.answer(ok);
    expect(container.asked.map(({ items }) => items.length)).toEqual([1, 8, 1]);
    vi.advanceTimersByTime(30);
    container.answer(ok);
    expect(deployer.statuses()[0]).toMatchObject({ state: 'up', oneInputMs: 30 });
    expect(frames.map(({ kind }) => kind)).toEqual(['hello', 'credit']);
    // A second answer to the warm-up is not the queue's either.
    container.answer(ok);
    expect(frames).toHaveLength(2);
  });

  it.each<[ModelRecord['inputType'], number | undefined, number]>([
    ['strings', undefined, 1],
    ['strings', 5, 5],
    ['floats', 7, 28],
    ['integers', undefined, 4],
  ])('makes up %s of length %s', async (inputType, length, bytes) => {
    await run({ inputType, inputLength: undefined });
    started[0].hello(length === undefined ? {} : { inputLength: length });
    expect(started[0].asked[0].items[0].bytes).toHaveLength(bytes);
  });

  it('is left out when the model says so, and for constants', async () => {
    await run({ warmUp: false });
    started[0].hello();
    expect([state(), started[0].asked]).toEqual(['up', []]);
    await registry.addModel({
      name: 'c',
      version: '1',
      inputType: 'doubles',
      labels: [],
      container: { kind: 'constant', output: '1' },
      batching: { strategy: 'aimd' },
    });
    started[1].hello();
    expect(started[1].asked).toEqual([]);
  });

  it('does not bring a replica down twice that cannot survive a made-up input', async () => {
    await run();
    started[0].hello();
    started[0].down('segmentation fault');
    expect(state()).toBe('down');
    vi.advanceTimersByTime(10);
    started[1].hello();
    expect(state()).toBe('up');
    expect(started[1].asked).toEqual([]);
  });

  it('starts a replica again that answers nothing, and then without made-up inputs', async () => {
    await run();
    started[0].hello();
    vi.advanceTimersByTime(1000);
    expect(deployer.statuses()[0]).toMatchObject({
      state: 'down',
      lastFailure: 'it did not answer its warm-up in 1000 ms',
    });
    expect(started[0].closed).toBe(true);
    vi.advanceTimersByTime(10);
    started[1].hello();
    expect(state()).toBe('up');
  });

  describe('with golden inputs', () => {
    async function golden(
      cases: readonly { input: number[]; label: string }[],
      tolerance = 0,
    ): Promise<void> {
      const path = builtInModelPath('digits-logistic');
      await run({ inputType: 'floats', inputLength: 784, container: { kind: 'kernelModel', path } });
      hello = { maxBatchSize: 256, golden: { tolerance, cases } };
      started[0].hello(hello);
    }
    let hello: Partial<HelloFrame>;
    const input = Array.from({ length: 784 }, () => 0);

    it('serves once they are answered as they should be', async () => {
      await golden([
        { input, label: '1' },
        { input, label: '1' },
      ]);
      started[0].answer(ok);
      expect(state()).toBe('warming');
      started[0].answer(ok);
      started[0].answer(ok);
      expect(state()).toBe('up');
    });

    it('does not serve a replica that answers them wrongly, and says which', async () => {
      await golden([
        { input, label: '1' },
        { input, label: '7' },
      ]);
      started[0].answer(ok);
      started[0].answer(ok);
      expect(deployer.statuses()[0]).toMatchObject({
        state: 'down',
        lastFailure: "golden input 1: the label is '1', expected '7'",
      });
      vi.advanceTimersByTime(10);
      started[1].hello(hello);
      expect(state()).toBe('warming');
      started[1].emit({ kind: 'result', batchId: started[1].asked[0].batchId, results: [], serviceNs: 1 });
      expect(deployer.statuses()[0].lastFailure).toBe('it answered 0 of 1 golden inputs');
    });

    it('says what is wrong with their file', async () => {
      const path = builtInModelPath('digits-logistic');
      await run({ inputType: 'floats', inputLength: 784, container: { kind: 'kernelModel', path } });
      started[0].hello({ golden: { problem: 'golden.json: cases: too few' } });
      expect(deployer.statuses()[0].lastFailure).toBe('golden.json: cases: too few');
    });
  });

  it('asks nothing of a kernel model without golden inputs, which computes before it says hello', async () => {
    const path = builtInModelPath('digits-logistic');
    await run({ inputType: 'floats', inputLength: 784, container: { kind: 'kernelModel', path } });
    started[0].hello({ maxBatchSize: 4 });
    expect([state(), started[0].asked]).toEqual(['up', []]);
  });
});
