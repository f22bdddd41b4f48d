import { afterEach, beforeEach, describe, expect, it, vi } from 'vitest';
import { profileNamed } from '../../../simulator/gpu/index.js';
import { Reservations } from '../placement/index.js';
import { FrontendDouble } from '../tests/frontendDouble.js';
import { PIECE_BYTES } from './envelope.js';
import { breakOff, input, isDown, isResult, MODEL, NodeLab } from './tests/nodeLab.js';

const MIB = 1024 * 1024;

describe('a node', () => {
  let lab: NodeLab;
  beforeEach(() => {
    lab = new NodeLab();
  });
  afterEach(() => lab.end());

  describe('shares a replica', () => {
    it('between frontends: what one floods does not hold back the other', async () => {
      const { port, server } = await lab.listening();
      const [flood, other] = [
        await lab.started(await lab.connected(port)),
        await lab.started(await lab.connected(port)),
      ];
      expect(lab.runtime.puppets).toHaveLength(1);
      expect(server.replicas).toBe(1);
      const [puppet] = lab.runtime.puppets;
      // Each has the whole window; the container gets no more than it gave.
      flood.ask(input(1));
      flood.ask(input(1));
      await lab.asked(puppet, 2);
      other.ask(input(2));
      const results = (of: FrontendDouble): number => of.frames.filter(isResult).length;
      const served: number[] = [];
      for (let turn = 0; turn < 18; turn++) {
        const batches = await lab.asked(puppet, turn + 1);
        const predict = puppet.heard[turn];
        if (predict.kind === 'predict') served.push(predict.items[0].bytes[0]);
        expect(batches.length - turn).toBeLessThanOrEqual(2);
        const before = results(flood);
        puppet.answer(batches[turn]);
        await vi.waitFor(() => expect(results(flood) + results(other)).toBe(turn + 1), { interval: 1 });
        if (results(flood) > before) flood.ask(input(1));
        else other.ask(input(2));
      }
      // One asks twice as much as the other, and has no more than its turns.
      expect(served.filter((one) => one === 2).length).toBeGreaterThanOrEqual(5);
    });

    it('tells what is left of a budget, and how long a batch waited for others', async () => {
      const { port } = await lab.listening();
      const [first, second] = [
        await lab.started(await lab.connected(port)),
        await lab.started(await lab.connected(port)),
      ];
      const [puppet] = lab.runtime.puppets;
      first.ask(input(1));
      first.ask(input(1));
      await lab.asked(puppet, 2);
      second.ask(input(2));
      await new Promise((resolve) => setTimeout(resolve, 30));
      puppet.say({ kind: 'result', batchId: puppet.batches()[0], results: [], serviceNs: 5 });
      const [, , waited] = await lab.asked(puppet, 3);
      const frame = puppet.heard.find((one) => one.batchId === waited);
      const budgetNs = frame?.kind === 'predict' ? frame.items[0].budgetNs : 0;
      expect(budgetNs).toBeLessThan(1e9 - 15e6);
      expect(budgetNs).toBeGreaterThan(0);
      puppet.say({ kind: 'result', batchId: waited, results: [], serviceNs: 5 });
      await second.seen(isResult);
      const result = second.result(1);
      expect(result?.parts?.waitNs).toBeCloseTo(1e9 - budgetNs, -1);
      expect(result?.serviceNs).toBeCloseTo(5 + 1e9 - budgetNs, -1);
    });

    it('cancels what waits at once, and what has gone to the container there', async () => {
      const { port } = await lab.listening();
      const frontend = await lab.started(await lab.connected(port));
      const other = await lab.started(await lab.connected(port));
      const [puppet] = lab.runtime.puppets;
      frontend.ask(input(1));
      frontend.ask(input(1));
      await lab.asked(puppet, 2);
      other.ask(input(2));
      other.channel.send({ kind: 'cancel', batchId: 1, itemIds: [0] });
      await other.seen(isResult);
      expect(other.outcomes(1)).toEqual(['cancelled']);
      frontend.channel.send({ kind: 'cancel', batchId: 2, itemIds: [0] });
      await vi.waitFor(() => expect(puppet.heard).toHaveLength(3));
      expect(puppet.heard[2]).toEqual({ kind: 'cancel', batchId: puppet.batches()[1], itemIds: [0] });
    });

    it('frees what a frontend held that breaks off, and keeps it for the others', async () => {
      const { port } = await lab.listening({ limits: { graceMs: 50 } });
      const [dying, other] = [await lab.connected(port), await lab.connected(port)];
      const [mine, theirs] = [await lab.started(dying), await lab.started(other)];
      const alone = await lab.started(dying, { ...MODEL, replica: '1' });
      const [shared, own] = lab.runtime.puppets;
      mine.ask(input(1));
      mine.ask(input(1));
      await lab.asked(shared, 2);
      breakOff(dying);
      await Promise.all([mine.seen(isDown), alone.seen(isDown)]);
      expect(mine.frames.at(-1)).toMatchObject({ kind: 'down', isOutside: true });
      await vi.waitFor(() => expect(shared.heard.filter(({ kind }) => kind === 'cancel')).toHaveLength(2));
      theirs.ask(input(2));
      shared.answer(shared.batches()[0]);
      shared.answer((await lab.asked(shared, 3))[2]);
      await theirs.seen(isResult);
      expect(shared.closedFor).toBeUndefined();
      await vi.waitFor(() => expect(own.closedFor).toBe('nobody holds it'));
    });

    it('gives it warm to a frontend that is back in time', async () => {
      const { port } = await lab.listening();
      const node = await lab.connected(port, { times: { firstRetryMs: 1 } });
      const frontend = await lab.started(node);
      breakOff(node);
      await frontend.seen(isDown);
      await vi.waitFor(() => expect(node.takes('constant')).toBe(true), 10_000);
      await lab.started(node);
      expect(lab.runtime.puppets).toHaveLength(1);
    });

    it('does not give one that was closed with batches unanswered to anybody: it may hang', async () => {
      const { port } = await lab.listening();
      const node = await lab.connected(port);
      const hanging = await lab.started(node);
      hanging.ask(input(1));
      await lab.asked(lab.runtime.puppets[0], 1);
      hanging.channel.close();
      await lab.started(node);
      expect(lab.runtime.puppets).toHaveLength(2);
      expect(lab.runtime.puppets[0].closedFor).toBeDefined();
    });

    it('ends at once what a frontend had that says that it ends', async () => {
      const { port } = await lab.listening();
      const node = await lab.connected(port);
      await lab.started(node);
      await new Promise<void>((resolve) => node.close(resolve));
      await vi.waitFor(() => expect(lab.runtime.puppets[0].closedFor).toBe('nobody holds it'));
      expect(lab.atNode).toEqual([]);
    });

    it('ends one that was given back', async () => {
      const { port, server } = await lab.listening();
      const frontend = await lab.started(await lab.connected(port));
      frontend.channel.close();
      await vi.waitFor(() => expect(lab.runtime.puppets[0].closedFor).toBeDefined());
      expect(server.replicas).toBe(0);
    });

    it('only where it is the same: other files, or another output, are another replica', async () => {
      const { port } = await lab.listening();
      const node = await lab.connected(port);
      await lab.started(node);
      await lab.started(node, { ...MODEL, contentHash: 'abd' });
      await lab.started(node, { ...MODEL, container: { kind: 'constant', output: '1' } });
      expect(lab.runtime.puppets).toHaveLength(3);
    });
  });

  it('lets 60 MiB of one model pass without holding back what is small of another', async () => {
    const { port } = await lab.listening();
    const node = await lab.connected(port);
    const [big, small] = [await lab.started(node), await lab.started(node, { ...MODEL, replica: '1' })];
    const order: string[] = [];
    lab.runtime.puppets.forEach(
      (puppet, index) => (puppet.onHeard = () => order.push(index === 0 ? 'big' : 'small')),
    );
    big.ask([new Uint8Array(60 * MIB)]);
    // It has begun to leave.
    await Promise.resolve();
    small.ask(input(1));
    await vi.waitFor(() => expect(order).toHaveLength(2), 20_000);
    expect(order).toEqual(['small', 'big']);
  });

  it('carries reports, watching and timelines', async () => {
    const { port } = await lab.listening();
    const [node, other] = [await lab.connected(port), await lab.connected(port)];
    await vi.waitFor(() => expect(node.report()).toMatchObject({ node: 'n1', busyHostSeconds: 1.5 }), 5000);
    node.watchGpus(true);
    await vi.waitFor(() => expect(node.report().gpus[0]?.busyNs).toEqual(Float64Array.of(1, 2)), 5000);
    other.watchGpus(true);
    node.watchGpus(false);
    expect(node.report().gpus).toEqual([]);
    await vi.waitFor(() => expect(other.report().gpus).toHaveLength(1), 5000);
    expect(lab.runtime.watched).toBe(true);
    let text = '';
    const ended = new Promise<string | undefined>((resolve) => {
      expect(node.record(1e6, { onText: (piece) => (text += piece), onEnd: resolve })).toBe('begun');
    });
    expect(node.record(1e6, { onText: () => undefined, onEnd: () => undefined })).toBe('recording');
    await vi.waitFor(() => expect(lab.runtime.recording).toBeDefined());
    const refusal = await new Promise<string | undefined>((resolve) => {
      other.record(1e6, { onText: () => undefined, onEnd: resolve });
    });
    expect(refusal).toBe('the node is being recorded already');
    const long = 'x'.repeat(3 * PIECE_BYTES + 5);
    lab.runtime.recording?.onText(long);
    node.stopRecording();
    expect(await ended).toBeUndefined();
    expect(text).toBe(long);
    const cut = new Promise<string | undefined>((resolve) => {
      node.record(1e6, { onText: () => undefined, onEnd: resolve });
    });
    await vi.waitFor(() => expect(lab.runtime.recording).toBeDefined());
    breakOff(node);
    expect(await cut).toMatch(/n1/);
    await vi.waitFor(() => expect(lab.runtime.recording).toBeUndefined());
    expect(node.record(1, { onText: () => undefined, onEnd: () => undefined })).toBe('down');
  });

  it('tells what its GPUs have room for, and counts what was placed there since', async () => {
    const reservations = new Reservations('n1', [profileNamed('t4'), profileNamed('h200')]);
    lab.runtime.room = () => reservations.room();
    const { port } = await lab.listening({ gpus: ['t4', 'h200'] });
    const node = await lab.connected(port);
    let told = 0;
    node.watchRoom(() => (told += 1));
    expect(node.room()).toEqual(reservations.room());
    const memory = { arrayBytes: 1000, moduleBytes: 0, backingBytes: 10 };
    new FrontendDouble(node.start({ ...MODEL, path: '.', gpu: 1, memory }));
    expect(node.room().gpus.map(({ replicas }) => replicas)).toEqual([0, 1]);
    expect(node.room().freeBackingBytes).toBe(reservations.room().freeBackingBytes - 10);
    await vi.waitFor(() => expect(lab.runtime.startedOnGpu).toEqual([1]));
    // Once a report has it, it is counted once; and what never came is not counted for ever.
    reservations.reserve(1, 1, MODEL, memory);
    await vi.waitFor(() => expect(node.room()).toEqual(reservations.room()), 5000);
    const before = told;
    reservations.release(1);
    await vi.waitFor(() => expect(told).toBe(before + 1), 5000);
    breakOff(node);
    await vi.waitFor(() => expect(node.room().gpus).toEqual([]));
    await vi.waitFor(() => expect(node.room().gpus).toHaveLength(2), 5000);
    // A node that is back has room again.
    expect(told).toBe(before + 2);
  });

  it('drains: what it has is answered, then its replicas are down for nobody’s fault, and nothing new starts', async () => {
    const { port, server } = await lab.listening();
    const node = await lab.connected(port);
    const [busy, idle] = [await lab.started(node), await lab.started(node, { ...MODEL, replica: '1' })];
    busy.ask(input(1));
    const [puppet] = lab.runtime.puppets;
    const [batch] = await lab.asked(puppet, 1);
    server.drain(() => undefined);
    await idle.seen(isDown);
    expect(node.takes('constant')).toBe(false);
    // Kept back, and lost with the replica: whoever asks sends it elsewhere.
    busy.ask(input(2));
    puppet.answer(batch);
    await busy.seen(isDown);
    expect(busy.frames.slice(1).map(({ kind }) => kind)).toEqual(['result', 'down']);
    expect(busy.frames.at(-1)).toEqual({
      kind: 'down',
      reason: "GPU node 'n1' is shutting down",
      isOutside: true,
    });
    expect(puppet.batches()).toHaveLength(1);
  });
});
