import { join } from 'node:path';
import { afterEach, beforeEach, describe, expect, it, vi } from 'vitest';
import { packageRoot } from '../../../simulator/files/index.js';
import { BUILT_IN_MODELS, builtInModelPath, digitAt, loadDigits } from '../../models/index.js';
import type { KernelModelStart } from '../nodeHost.js';
import { ruleBreaks, type Trace } from '../../../simulator/timeline/tests/traceRules.js';
import { FrontendDouble, floats } from '../tests/frontendDouble.js';
import { GpuNodeThread } from './gpuNodeThread.js';
import { loaderThread } from './modelLoader.js';

const SCALE: KernelModelStart = {
  model: 'scale',
  version: '1',
  replica: '0',
  inputType: 'floats',
  path: join(packageRoot(), 'containers/runtime/tests/scaleModel'),
};
const isResult = ({ kind }: { kind: string }): boolean => kind === 'result';
const isHello = ({ kind }: { kind: string }): boolean => kind === 'hello';
const isDown = ({ kind }: { kind: string }): boolean => kind === 'down';

describe('a GPU node in a thread', () => {
  let node: GpuNodeThread;

  beforeEach(() => {
    node = new GpuNodeThread();
  });

  afterEach(() => new Promise<void>((resolve) => node.close(resolve)));

  async function started(request: KernelModelStart): Promise<FrontendDouble> {
    const frontend = new FrontendDouble(node.start(request));
    await frontend.seen(isHello);
    return frontend;
  }

  it('answers, and reports both clocks', async () => {
    const frontend = await started(SCALE);
    const input = floats(1, 2);
    const batch = frontend.ask([input, floats(3), floats(5, 6)]);
    expect(input).toHaveLength(8);
    await frontend.seen(isResult);
    expect(frontend.outcomes(batch)).toEqual(['[2,4]', 'invalidInput', '[10,12]']);
    const report = node.report();
    expect(report).toMatchObject({ node: 'node0', replicas: 1 });
    expect(report.busyHostSeconds).toBeGreaterThan(0);
    expect(report.busySimulatedSeconds).toBeGreaterThan(0);
    expect(report.dilation).toBeGreaterThan(0);
    expect(frontend.result(batch)?.serviceNs).toBeGreaterThan(1000);
  });

  it('samples the activity of its SMs while somebody watches', async () => {
    const frontend = await started(SCALE);
    expect(node.report().gpus).toEqual([]);
    node.watchGpus(true);
    frontend.ask([floats(1, 2)]);
    await vi.waitFor(() => expect(Math.max(...(node.report().gpus[0]?.busyNs ?? [0]))).toBeGreaterThan(0), {
      timeout: 20_000,
    });
    expect(node.report().gpus).toHaveLength(1);
    node.watchGpus(false);
    expect(node.report().gpus).toEqual([]);
  });

  it('samples what its GPUs do, and for whom', async () => {
    const frontend = await started(SCALE);
    frontend.ask([floats(1, 2)]);
    await vi.waitFor(
      () => {
        const [{ latest }] = node.report().spans;
        expect(latest.blocks).toBeGreaterThan(0);
        expect(latest.contexts).toHaveLength(1);
        expect(latest.contexts[0]).toMatchObject({ owner: { model: 'scale', version: '1', replica: '0' } });
        expect(latest.contexts[0].usedBytes).toBe(latest.usedBytes);
        expect(latest.copies.toDeviceBytes).toBeGreaterThan(0);
        expect(node.report().hostBusyShare).toBeGreaterThanOrEqual(0);
      },
      { timeout: 20_000 },
    );
  });

  it('records a timeline, one at a time', async () => {
    const frontend = await started(SCALE);
    let text = '';
    const ended = new Promise<string | undefined>((resolve) => {
      expect(node.record(1e6, { onText: (piece) => (text += piece), onEnd: resolve })).toBe('begun');
    });
    expect(node.record(1e6, { onText: () => undefined, onEnd: () => undefined })).toBe('recording');
    frontend.ask([floats(1, 2), floats(3, 4)]);
    await frontend.seen(isResult);
    node.stopRecording();
    expect(await ended).toBeUndefined();
    const trace = JSON.parse(text) as Trace;
    expect(ruleBreaks(trace)).toEqual([]);
    expect(trace.traceEvents.filter(({ cat }) => cat === 'blocks').length).toBeGreaterThan(0);
    const names = trace.traceEvents.map(({ args }) => args?.name);
    expect(names).toContainEqual(expect.stringMatching(/^context \d+ on GPU 0: scale 1, replica 0$/));
    // And again, until the thread dies.
    const cut = new Promise<string | undefined>((resolve) => {
      expect(node.record(1e6, { onText: () => undefined, onEnd: resolve })).toBe('begun');
    });
    await killThread(node);
    expect(await cut).toMatch(/died/);
    expect(node.record(1e6, { onText: () => undefined, onEnd: () => undefined })).toBe('down');
    expect(node.report().spans).toEqual([]);
  });

  it('keeps the frames of many replicas apart', async () => {
    const frontends = await Promise.all(['0', '1', '2'].map((replica) => started({ ...SCALE, replica })));
    frontends.forEach((frontend, k) => frontend.ask([floats(k, k)]));
    await Promise.all(frontends.map((frontend) => frontend.seen(isResult)));
    expect(frontends.map((frontend) => frontend.outcomes(1))).toEqual([['[0,0]'], ['[2,2]'], ['[4,4]']]);
    expect(frontends.map((frontend) => frontend.kinds())).toEqual(frontends.map(() => ['hello', 'result']));
  });

  it('runs the digit models', async () => {
    const { heldOut } = loadDigits();
    const digits = [3, 700, 1500];
    for (const name of BUILT_IN_MODELS) {
      const frontend = await started({ ...SCALE, model: name, path: builtInModelPath(name) });
      const batch = frontend.ask(digits.map((index) => floats(...digitAt(heldOut, index))));
      await frontend.seen(isResult);
      expect(frontend.outcomes(batch)).toEqual(digits.map((index) => String(heldOut.labels[index])));
    }
  });

  it('recovers from a kernel fault', async () => {
    const frontend = await started(SCALE);
    const bad = frontend.ask([floats(13, 0)]);
    const good = frontend.ask([floats(1, 1)]);
    await frontend.seen((frame) => frame.kind === 'result' && frame.batchId === good);
    expect(frontend.outcomes(bad)).toEqual(['kernelFault']);
    expect(frontend.outcomes(good)).toEqual(['[2,2]']);
  });

  it('answers a failed start with down', async () => {
    const frontend = new FrontendDouble(node.start({ ...SCALE, path: '/nowhere' }));
    await frontend.seen(isDown);
    expect(frontend.frames[0]).toMatchObject({
      reason: expect.stringContaining('/nowhere/manifest.json') as string,
    });
    expect(node.report().replicas).toBe(0);
  });

  it('stops one replica and keeps the others', async () => {
    const [one, two] = [await started(SCALE), await started({ ...SCALE, replica: '1' })];
    one.channel.close();
    two.ask([floats(1, 1)]);
    await two.seen(isResult);
    expect(two.outcomes(1)).toEqual(['[2,2]']);
    expect(node.report().replicas).toBe(1);
  });

  it('drains: what was sent before is answered before', async () => {
    const frontend = await started(SCALE);
    for (let k = 0; k < 10; k++) frontend.ask([floats(k, k)]);
    await new Promise<void>((resolve) => node.drain(resolve));
    expect(frontend.kinds().filter((kind) => kind === 'result')).toHaveLength(10);
  });

  it('shows its death on every channel once, and starts anew', async () => {
    const frontends = [await started(SCALE), await started({ ...SCALE, replica: '1' })];
    await killThread(node);
    await Promise.all(frontends.map((frontend) => frontend.seen(isDown)));
    frontends[0].ask([floats(1, 1)]);
    expect(frontends.map((frontend) => frontend.kinds())).toEqual([
      ['hello', 'down'],
      ['hello', 'down'],
    ]);
    expect(frontends[0].frames[1]).toMatchObject({ reason: "GPU node 'node0' died: exit code 1" });
    const again = await started(SCALE);
    again.ask([floats(1, 1)]);
    await again.seen(isResult);
    expect(again.outcomes(1)).toEqual(['[2,2]']);
  });

  it('is silent for a channel that was closed before the thread died', async () => {
    const frontend = await started(SCALE);
    frontend.channel.close();
    await killThread(node);
    expect(frontend.kinds()).toEqual(['hello']);
  });

  it('goes down when it is closed, and starts nothing more', async () => {
    const frontend = await started(SCALE);
    await new Promise<void>((resolve) => node.close(resolve));
    await new Promise<void>((resolve) => node.close(resolve));
    expect(frontend.kinds()).toEqual(['hello', 'down']);
    const late = new FrontendDouble(node.start(SCALE));
    await late.seen(isDown);
    expect(late.frames).toEqual([{ kind: 'down', reason: "GPU node 'node0' is closed" }]);
  });
});

describe('a GPU node whose models are loaded by another thread', () => {
  it('answers others while one starts, and hears nothing of one that was stopped meanwhile', async () => {
    const node = new GpuNodeThread();
    const scale = new FrontendDouble(node.start(SCALE));
    await scale.seen(isHello);
    const path = builtInModelPath('digits-mlp');
    const [mlp, stopped] = [
      new FrontendDouble(node.start({ ...SCALE, model: 'mlp', path })),
      new FrontendDouble(node.start({ ...SCALE, model: 'mlp', replica: '1', path })),
    ];
    stopped.channel.close();
    scale.ask([floats(1, 1)]);
    await scale.seen(isResult);
    // Its start takes a hundred times as long as an answer.
    expect(mlp.kinds()).toEqual([]);
    await mlp.seen(isHello);
    expect(stopped.kinds()).toEqual([]);
    await new Promise<void>((resolve) => node.close(resolve));
  });

  it('loads by itself when that thread is gone', async () => {
    const node = new GpuNodeThread();
    const before = new FrontendDouble(node.start(SCALE));
    await loaderThread()?.terminate();
    const after = new FrontendDouble(node.start({ ...SCALE, replica: '1' }));
    await Promise.all([before, after].map((frontend) => frontend.seen(isHello)));
    after.ask([floats(1, 1)]);
    await after.seen(isResult);
    expect(after.outcomes(1)).toEqual(['[2,2]']);
    await new Promise<void>((resolve) => node.close(resolve));
  });
});

describe('a GPU node of several GPUs', () => {
  const memory = { arrayBytes: 1000, moduleBytes: 0, backingBytes: 1024 };
  const holders = (node: GpuNodeThread): string[] =>
    node.room().holders.map(({ replica, gpu }) => `${replica} on ${gpu}`);

  it('runs a replica where it is told, and holds its memory until all of it is given back', async () => {
    const node = new GpuNodeThread({ gpus: ['h200', 't4'] });
    const [first, second] = [0, 1].map(
      (gpu) => new FrontendDouble(node.start({ ...SCALE, replica: String(gpu), gpu, memory })),
    );
    await Promise.all([first, second].map((frontend) => frontend.seen(isHello)));
    expect(holders(node)).toEqual(['0 on 0', '1 on 1']);
    await vi.waitFor(
      () =>
        expect(
          node.report().spans.map(({ latest }) => latest.contexts.map(({ owner }) => owner?.replica)),
        ).toEqual([['0'], ['1']]),
      { timeout: 20_000 },
    );
    second.ask([floats(1, 2)]);
    expect(node.room().gpus.map(({ batchesInFlight }) => batchesInFlight)).toEqual([0, 1]);
    await second.seen(isResult);
    expect(node.room().gpus.map(({ batchesInFlight }) => batchesInFlight)).toEqual([0, 0]);
    const broken = new FrontendDouble(node.start({ ...SCALE, path: '/nowhere', memory }));
    const nowhere = new FrontendDouble(node.start({ ...SCALE, gpu: 2, memory }));
    await Promise.all([broken, nowhere].map((frontend) => frontend.seen(isDown)));
    expect(nowhere.frames[0]).toMatchObject({ reason: 'the node has no GPU 2' });
    const freed = new Promise<void>((resolve) => node.watchRoom(resolve));
    first.channel.close();
    await freed;
    await vi.waitFor(() => expect(holders(node)).toEqual(['1 on 1']), { timeout: 20_000 });
    await killThread(node);
    expect(holders(node)).toEqual([]);
    await new Promise<void>((resolve) => node.close(resolve));
  });
});

describe('a GPU node whose thread cannot start', () => {
  it('says why', async () => {
    const node = new GpuNodeThread({ scheduling: '/nowhere/abacus.js' });
    const frontend = new FrontendDouble(node.start(SCALE));
    await frontend.seen(isDown);
    expect(frontend.frames[0]).toMatchObject({ reason: expect.stringContaining('abacus') as string });
    await new Promise<void>((resolve) => node.close(resolve));
  });

  it('is not made with a card that nobody knows', () => {
    expect(() => new GpuNodeThread({ gpus: ['h200', 'abacus'] })).toThrow(
      /no device profile 'abacus'; there are: h200/,
    );
  });
});

/** Ends the thread behind the node's back. */
async function killThread(node: GpuNodeThread): Promise<void> {
  const { worker } = node as unknown as { worker: { terminate(): Promise<number> } };
  await worker.terminate();
}
