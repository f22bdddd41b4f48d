import { connect, createServer, type AddressInfo, type Server, type Socket } from 'node:net';
import { afterEach, beforeEach, describe, expect, it, vi } from 'vitest';
import type { ContainerFrame } from '../../protocol/index.js';
import { PROTOCOL_VERSION } from '../../protocol/index.js';
import type { ContainerStart } from '../modelContainer.js';
import { profileNamed } from '../../../simulator/gpu/index.js';
import { Reservations } from '../placement/index.js';
import { FrontendDouble } from '../tests/frontendDouble.js';
import { CONTROL, DATA, envelopeHead, PIECE_BYTES } from './envelope.js';
import { NodeServer, type NodeServerOptions } from './nodeServer.js';
import { RemoteNode, type RemoteNodeOptions } from './remoteNode.js';
import { PuppetRuntime, type Puppet } from './tests/puppetRuntime.js';

const MODEL: ContainerStart = {
  model: 'm',
  version: '1',
  replica: '0',
  inputType: 'bytes',
  contentHash: 'abc',
  container: { kind: 'constant', output: '' },
};
const KEY = Buffer.from('k'.repeat(32));
const MIB = 1024 * 1024;
const LOST = 'a frontend was refused or lost';
const OUT = 'a GPU node is out of use';
const isHello = ({ kind }: ContainerFrame): boolean => kind === 'hello';
const isDown = ({ kind }: ContainerFrame): boolean => kind === 'down';
const isResult = ({ kind }: ContainerFrame): boolean => kind === 'result';

interface Notice {
  readonly message: string;
  readonly details: Readonly<Record<string, unknown>>;
}

describe('a node', () => {
  let runtime: PuppetRuntime;
  const ends: (() => Promise<void>)[] = [];
  /** What the node and the frontends were told. */
  let atNode: Notice[];
  let atFrontends: Notice[];

  beforeEach(() => {
    runtime = new PuppetRuntime();
    runtime.onStart = (puppet) => puppet.hello();
    atNode = [];
    atFrontends = [];
  });

  afterEach(async () => {
    for (const end of ends.splice(0).reverse()) await end();
  });

  async function listening(
    options: Partial<NodeServerOptions> = {},
  ): Promise<{ server: NodeServer; port: number }> {
    const server = new NodeServer({
      name: 'n1',
      gpus: ['h200'],
      runtime,
      complain: (message, details) => atNode.push({ message, details }),
      ...options,
    });
    const { port } = await server.listen('127.0.0.1', 0);
    ends.push(() => new Promise<void>((resolve) => server.close(resolve)));
    return { server, port };
  }

  function dialled(port: number, options: Partial<RemoteNodeOptions> = {}): RemoteNode {
    const node = new RemoteNode({
      address: { host: '127.0.0.1', port, isSecure: false },
      onNotice: (message, details) => atFrontends.push({ message, details }),
      ...options,
    });
    ends.push(() => new Promise<void>((resolve) => node.close(resolve)));
    return node;
  }

  async function connected(port: number, options: Partial<RemoteNodeOptions> = {}): Promise<RemoteNode> {
    const node = dialled(port, options);
    await new Promise<void>((resolve) => node.settled(resolve));
    return node;
  }

  async function started(node: RemoteNode, request = MODEL): Promise<FrontendDouble> {
    const frontend = new FrontendDouble(node.startContainer(request));
    await frontend.seen(isHello);
    return frontend;
  }

  const codes = (notices: readonly Notice[], message: string): unknown[] =>
    notices.filter((notice) => notice.message === message).map(({ details }) => details.code);

  /** The puppet has got so many batches. */
  async function asked(puppet: Puppet, batches: number): Promise<number[]> {
    await vi.waitFor(() => expect(puppet.batches().length).toBeGreaterThanOrEqual(batches), 10_000);
    return puppet.batches();
  }

  const input = (...bytes: number[]): Uint8Array[] => [Uint8Array.from(bytes)];

  describe('lets in', () => {
    it('whoever has its key, which proves itself both ways', async () => {
      const { port } = await listening({ security: { key: KEY } });
      const node = await connected(port, { key: KEY });
      expect(node.name).toBe('n1');
      expect(node.gpus).toEqual(['h200']);
      expect(node.takes('process')).toBe(true);
      await started(node);
    });

    it.each<[string, Partial<NodeServerOptions>, Partial<RemoteNodeOptions>, string, boolean]>([
      [
        'another key',
        { security: { key: KEY } },
        { key: Buffer.from('another key of thirty-two letters') },
        'wrong_cluster_key',
        true,
      ],
      ['no key', { security: { key: KEY } }, {}, 'cluster_key_missing', false],
      ['a key that the node has not', {}, { key: KEY }, 'cluster_key_missing', false],
      ['a later version only', {}, { versions: { oldest: 3, newest: 4 } }, 'protocol_version', true],
      [
        'an earlier version only',
        { versions: { oldest: 2, newest: 2 } },
        { versions: { oldest: 1, newest: 1 } },
        'protocol_version',
        true,
      ],
      [
        'another name in mind',
        {},
        { address: { host: '127.0.0.1', port: 0, isSecure: false, name: 'n2' } },
        'node_name',
        true,
      ],
      ['a node of that name already', {}, { mayBe: () => false }, 'node_name', false],
    ])('nobody with %s, and both sides say why', async (_who, server, node, code, isToldAtNode) => {
      const { port } = await listening(server);
      const address = { ...(node.address ?? { host: '127.0.0.1', isSecure: false }), port };
      const remote = await connected(port, { ...node, address });
      expect(remote.takes('constant')).toBe(false);
      expect(codes(atFrontends, OUT)).toEqual([code]);
      if (isToldAtNode) await vi.waitFor(() => expect(codes(atNode, LOST)).toContain(code));
      const refused = new FrontendDouble(remote.startContainer(MODEL));
      await refused.seen(isDown);
      const reason = expect.stringMatching(/is not connected: ./) as string;
      expect(refused.frames).toEqual([{ kind: 'down', isOutside: true, reason }]);
      expect(JSON.stringify([atNode, atFrontends])).not.toContain(KEY.toString());
    });

    it('nobody from other machines unless something keeps others out', async () => {
      const server = new NodeServer({ name: 'n1', gpus: [], runtime, complain: () => undefined });
      await expect(server.listen('0.0.0.0', 0)).rejects.toMatchObject({ code: 'insecure_listen' });
      await expect(server.listen('::', 0)).rejects.toMatchObject({ code: 'insecure_listen' });
      server.close(() => undefined);
      const keyed = new NodeServer({
        name: 'n1',
        gpus: [],
        runtime,
        security: { key: KEY },
        complain: () => undefined,
      });
      await keyed.listen('0.0.0.0', 0);
      await new Promise<void>((resolve) => keyed.close(resolve));
    });

    it('frontends that are one version behind, who hear what they know', async () => {
      runtime.onStart = (puppet) => puppet.say({ ...HELLO, golden: { problem: 'none' } });
      const { port } = await listening();
      const [old, present] = [
        await connected(port, { versions: { oldest: 1, newest: 1 } }),
        await connected(port, {}),
      ];
      const frontends = [await started(old), await started(present)];
      expect(frontends.map(({ frames }) => frames[0])).toEqual([
        { ...HELLO, protocolVersion: PROTOCOL_VERSION - 1 },
        { ...HELLO, golden: { problem: 'none' } },
      ]);
      frontends.forEach((frontend, index) => frontend.ask(input(index)));
      const [puppet] = runtime.puppets;
      for (const batch of await asked(puppet, 2)) puppet.answer(batch);
      await Promise.all(frontends.map((frontend) => frontend.seen(isResult)));
    });

    it('nodes that are one version behind', async () => {
      const { port } = await listening({ versions: { oldest: 1, newest: 1 } });
      const frontend = await started(await connected(port));
      expect(frontend.frames[0]).toMatchObject({ protocolVersion: 1 });
    });
  });

  describe('is not hurt by', () => {
    const raw = (port: number): Promise<Socket> =>
      new Promise((resolve) => {
        const socket = connect(port, '127.0.0.1', () => resolve(socket));
        socket.on('error', () => undefined);
        ends.push(() => Promise.resolve(void socket.destroy()));
      });
    const closed = (socket: Socket): Promise<void> =>
      new Promise((resolve) => {
        socket.on('close', () => resolve());
        socket.resume();
      });
    const message = (text: string): Buffer =>
      Buffer.concat([envelopeHead(CONTROL, 0, Buffer.byteLength(text)), Buffer.from(text)]);

    it.each<[string, Buffer]>([
      ['HTTP', Buffer.from('GET / HTTP/1.1\r\nHost: n1\r\n\r\n')],
      ['an envelope of 1 GiB', envelopeHead(DATA, 1, 1024 * MIB)],
      ['a first message of 1 MiB', envelopeHead(CONTROL, 0, MIB)],
      ['an envelope of nothing', envelopeHead(CONTROL, 0, 0)],
      ['what is no JSON', message('{')],
      ['a message that it does not know', message('{"kind":"bundle"}')],
      ['null', message('null')],
      ['a start before it is known who it is', message('{"kind":"start","line":1,"request":{}}')],
      ['a frame before it is known who it is', Buffer.concat([envelopeHead(DATA, 1, 1), Buffer.of(1)])],
    ])('%s', async (_what, bytes) => {
      const { port } = await listening();
      const good = await started(await connected(port));
      const socket = await raw(port);
      const end = closed(socket);
      socket.write(bytes);
      await end;
      expect(codes(atNode, LOST)).toEqual(['protocol']);
      good.ask(input(1));
      const [puppet] = runtime.puppets;
      puppet.answer((await asked(puppet, 1))[0]);
      await good.seen(isResult);
    });

    it('one that says nothing, or half of something', async () => {
      const { port } = await listening({ limits: { handshakeMs: 100 } });
      const sockets = [await raw(port), await raw(port), await raw(port)];
      const all = sockets.map(closed);
      const hello = message('{"kind":"hello"}');
      sockets[1].write(hello.subarray(0, 3));
      // A byte at a time does not buy more of it.
      let at = 0;
      const slow = setInterval(() => sockets[2].write(hello.subarray(at, ++at)), 20);
      await Promise.all(all);
      clearInterval(slow);
      expect(codes(atNode, LOST)).toEqual(new Array(3).fill('handshake_timeout'));
    });

    it('half of a connection', async () => {
      const { port } = await listening();
      const socket = await raw(port);
      const end = closed(socket);
      socket.end();
      await end;
      await vi.waitFor(() => expect(codes(atNode, LOST)).toEqual(['connection']));
    });

    it('a frame of 1 GiB, and one that is a container’s, on a line: that frontend is ended, and no other', async () => {
      const { port } = await listening();
      const good = await started(await connected(port));
      for (const bytes of [
        Buffer.of(0, 0, 0, 0x40, PROTOCOL_VERSION, 1),
        Buffer.of(3, 0, 0, 0, PROTOCOL_VERSION, 4, 0),
      ]) {
        atNode.length = 0;
        const bad = await started(await connected(port));
        const { outbox } = (
          bad.channel as unknown as { hub: { link: { outbox: { frame(l: number, b: Buffer): void } } } }
        ).hub.link;
        outbox.frame(1, bytes);
        await bad.seen(isDown);
        await vi.waitFor(() => expect(codes(atNode, LOST)).toEqual(['protocol']));
      }
      good.ask(input(1));
      const [puppet] = runtime.puppets;
      puppet.answer((await asked(puppet, 1)).at(-1) ?? 0);
      await good.seen(isResult);
    });

    it('a frontend that sends more than its credits: that replica is down for it', async () => {
      const { port } = await listening();
      const [greedy, good] = [await started(await connected(port)), await started(await connected(port))];
      for (let k = 0; k < 3; k++) greedy.ask(input(k));
      await greedy.seen(isDown);
      expect(greedy.frames.at(-1)).toMatchObject({
        reason: 'a frontend sent more batches than its 2 credits',
      });
      const [puppet] = runtime.puppets;
      for (const batch of await asked(puppet, 2)) puppet.answer(batch);
      good.ask(input(7));
      puppet.answer((await asked(puppet, 3))[2]);
      await good.seen(isResult);
      expect(good.kinds()).toEqual(['hello', 'result']);
    });

    it.each<[string, unknown, string]>([
      [
        'a container that it does not know',
        { ...MODEL, container: { kind: 'bundle', hash: 'x' } },
        'container.kind',
      ],
      ['an input type', { ...MODEL, inputType: 'images' }, 'inputType'],
      ['a path that is none', { ...MODEL, container: { kind: 'process', path: 7 } }, 'container.path'],
      ['no request', null, 'expected object'],
    ])('%s in a start: it is down, and says which field', async (_what, request, field) => {
      const { port } = await listening();
      const node = await connected(port);
      const frontend = new FrontendDouble(node.startContainer(request as ContainerStart));
      await frontend.seen(isDown);
      expect(frontend.frames).toEqual([{ kind: 'down', reason: expect.stringContaining(field) as string }]);
      await started(node);
    });
  });

  describe('shares a replica', () => {
    it('between frontends: what one floods does not hold back the other', async () => {
      const { port, server } = await listening();
      const [flood, other] = [await started(await connected(port)), await started(await connected(port))];
      expect(runtime.puppets).toHaveLength(1);
      expect(server.replicas).toBe(1);
      const [puppet] = runtime.puppets;
      // Each has the whole window; the container gets no more than it gave.
      flood.ask(input(1));
      flood.ask(input(1));
      await asked(puppet, 2);
      other.ask(input(2));
      const results = (of: FrontendDouble): number => of.frames.filter(isResult).length;
      const served: number[] = [];
      for (let turn = 0; turn < 18; turn++) {
        const batches = await asked(puppet, turn + 1);
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
      const { port } = await listening();
      const [first, second] = [await started(await connected(port)), await started(await connected(port))];
      const [puppet] = runtime.puppets;
      first.ask(input(1));
      first.ask(input(1));
      await asked(puppet, 2);
      second.ask(input(2));
      await new Promise((resolve) => setTimeout(resolve, 30));
      puppet.say({ kind: 'result', batchId: puppet.batches()[0], results: [], serviceNs: 5 });
      const [, , waited] = await asked(puppet, 3);
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
      const { port } = await listening();
      const frontend = await started(await connected(port));
      const other = await started(await connected(port));
      const [puppet] = runtime.puppets;
      frontend.ask(input(1));
      frontend.ask(input(1));
      await asked(puppet, 2);
      other.ask(input(2));
      other.channel.send({ kind: 'cancel', batchId: 1, itemIds: [0] });
      await other.seen(isResult);
      expect(other.outcomes(1)).toEqual(['cancelled']);
      frontend.channel.send({ kind: 'cancel', batchId: 2, itemIds: [0] });
      await vi.waitFor(() => expect(puppet.heard).toHaveLength(3));
      expect(puppet.heard[2]).toEqual({ kind: 'cancel', batchId: puppet.batches()[1], itemIds: [0] });
    });

    it('frees what a frontend held that breaks off, and keeps it for the others', async () => {
      const { port } = await listening({ limits: { graceMs: 50 } });
      const [dying, other] = [await connected(port), await connected(port)];
      const [mine, theirs] = [await started(dying), await started(other)];
      const alone = await started(dying, { ...MODEL, replica: '1' });
      const [shared, own] = runtime.puppets;
      mine.ask(input(1));
      mine.ask(input(1));
      await asked(shared, 2);
      breakOff(dying);
      await Promise.all([mine.seen(isDown), alone.seen(isDown)]);
      expect(mine.frames.at(-1)).toMatchObject({ kind: 'down', isOutside: true });
      await vi.waitFor(() => expect(shared.heard.filter(({ kind }) => kind === 'cancel')).toHaveLength(2));
      theirs.ask(input(2));
      shared.answer(shared.batches()[0]);
      shared.answer((await asked(shared, 3))[2]);
      await theirs.seen(isResult);
      expect(shared.closedFor).toBeUndefined();
      await vi.waitFor(() => expect(own.closedFor).toBe('nobody holds it'));
    });

    it('gives it warm to a frontend that is back in time', async () => {
      const { port } = await listening();
      const node = await connected(port, { times: { firstRetryMs: 1 } });
      const frontend = await started(node);
      breakOff(node);
      await frontend.seen(isDown);
      await vi.waitFor(() => expect(node.takes('constant')).toBe(true), 10_000);
      await started(node);
      expect(runtime.puppets).toHaveLength(1);
    });

    it('does not give one that was closed with batches unanswered to anybody: it may hang', async () => {
      const { port } = await listening();
      const node = await connected(port);
      const hanging = await started(node);
      hanging.ask(input(1));
      await asked(runtime.puppets[0], 1);
      hanging.channel.close();
      await started(node);
      expect(runtime.puppets).toHaveLength(2);
      expect(runtime.puppets[0].closedFor).toBeDefined();
    });

    it('ends at once what a frontend had that says that it ends', async () => {
      const { port } = await listening();
      const node = await connected(port);
      await started(node);
      await new Promise<void>((resolve) => node.close(resolve));
      await vi.waitFor(() => expect(runtime.puppets[0].closedFor).toBe('nobody holds it'));
      expect(atNode).toEqual([]);
    });

    it('ends one that was given back', async () => {
      const { port, server } = await listening();
      const frontend = await started(await connected(port));
      frontend.channel.close();
      await vi.waitFor(() => expect(runtime.puppets[0].closedFor).toBeDefined());
      expect(server.replicas).toBe(0);
    });

    it('only where it is the same: other files, or another output, are another replica', async () => {
      const { port } = await listening();
      const node = await connected(port);
      await started(node);
      await started(node, { ...MODEL, contentHash: 'abd' });
      await started(node, { ...MODEL, container: { kind: 'constant', output: '1' } });
      expect(runtime.puppets).toHaveLength(3);
    });
  });

  it('lets 60 MiB of one model pass without holding back what is small of another', async () => {
    const { port } = await listening();
    const node = await connected(port);
    const [big, small] = [await started(node), await started(node, { ...MODEL, replica: '1' })];
    const order: string[] = [];
    runtime.puppets.forEach(
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
    const { port } = await listening();
    const [node, other] = [await connected(port), await connected(port)];
    await vi.waitFor(() => expect(node.report()).toMatchObject({ node: 'n1', busyHostSeconds: 1.5 }), 5000);
    node.watchGpus(true);
    await vi.waitFor(() => expect(node.report().gpus[0]?.busyNs).toEqual(Float64Array.of(1, 2)), 5000);
    other.watchGpus(true);
    node.watchGpus(false);
    expect(node.report().gpus).toEqual([]);
    await vi.waitFor(() => expect(other.report().gpus).toHaveLength(1), 5000);
    expect(runtime.watched).toBe(true);
    let text = '';
    const ended = new Promise<string | undefined>((resolve) => {
      expect(node.record(1e6, { onText: (piece) => (text += piece), onEnd: resolve })).toBe('begun');
    });
    expect(node.record(1e6, { onText: () => undefined, onEnd: () => undefined })).toBe('recording');
    await vi.waitFor(() => expect(runtime.recording).toBeDefined());
    const refusal = await new Promise<string | undefined>((resolve) => {
      other.record(1e6, { onText: () => undefined, onEnd: resolve });
    });
    expect(refusal).toBe('the node is being recorded already');
    const long = 'x'.repeat(3 * PIECE_BYTES + 5);
    runtime.recording?.onText(long);
    node.stopRecording();
    expect(await ended).toBeUndefined();
    expect(text).toBe(long);
    const cut = new Promise<string | undefined>((resolve) => {
      node.record(1e6, { onText: () => undefined, onEnd: resolve });
    });
    await vi.waitFor(() => expect(runtime.recording).toBeDefined());
    breakOff(node);
    expect(await cut).toMatch(/n1/);
    await vi.waitFor(() => expect(runtime.recording).toBeUndefined());
    expect(node.record(1, { onText: () => undefined, onEnd: () => undefined })).toBe('down');
  });

  it('tells what its GPUs have room for, and counts what was placed there since', async () => {
    const reservations = new Reservations('n1', [profileNamed('t4'), profileNamed('h200')]);
    runtime.room = () => reservations.room();
    const { port } = await listening({ gpus: ['t4', 'h200'] });
    const node = await connected(port);
    let told = 0;
    node.watchRoom(() => (told += 1));
    expect(node.room()).toEqual(reservations.room());
    const memory = { arrayBytes: 1000, moduleBytes: 0, backingBytes: 10 };
    new FrontendDouble(node.start({ ...MODEL, path: '/m', gpu: 1, memory }));
    expect(node.room().gpus.map(({ replicas }) => replicas)).toEqual([0, 1]);
    expect(node.room().freeBackingBytes).toBe(reservations.room().freeBackingBytes - 10);
    await vi.waitFor(() => expect(runtime.startedOnGpu).toEqual([1]));
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
    const { port, server } = await listening();
    const node = await connected(port);
    const [busy, idle] = [await started(node), await started(node, { ...MODEL, replica: '1' })];
    busy.ask(input(1));
    const [puppet] = runtime.puppets;
    const [batch] = await asked(puppet, 1);
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

  describe('that falls silent', () => {
    /** Between a frontend and the node; passes everything on until it is told to hold it. */
    async function link(port: number): Promise<{ port: number; hold(held: boolean): void; server: Server }> {
      const pairs: [Socket, Socket][] = [];
      let held = false;
      const server = createServer((near) => {
        const far = connect(port, '127.0.0.1');
        pairs.push([near, far]);
        for (const [from, to] of [
          [near, far],
          [far, near],
        ]) {
          from.on('data', (piece) => to.write(piece));
          from.on('close', () => !held && to.destroy());
          from.on('error', () => undefined);
        }
        if (held) [near, far].forEach((one) => one.pause());
      });
      await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
      ends.push(() => {
        for (const pair of pairs) pair.forEach((one) => one.destroy());
        return new Promise<void>((resolve) => server.close(() => resolve()));
      });
      return {
        port: (server.address() as AddressInfo).port,
        server,
        hold: (isHeld) => {
          held = isHeld;
          for (const pair of pairs) pair.forEach((one) => (isHeld ? one.pause() : one.resume()));
        },
      };
    }

    const times = { pingMs: 20, silenceMs: 120, firstRetryMs: 10 };

    it('is out of use, by name, and its late answers are nobody’s', async () => {
      const { port } = await listening();
      const wire = await link(port);
      const node = await connected(wire.port, { times });
      const frontend = await started(node);
      frontend.ask(input(1));
      const [puppet] = runtime.puppets;
      const [batch] = await asked(puppet, 1);
      wire.hold(true);
      puppet.answer(batch);
      await frontend.seen(isDown);
      expect(frontend.frames.at(-1)).toMatchObject({
        kind: 'down',
        isOutside: true,
        reason: expect.stringMatching(/GPU node 'n1'.* said nothing for/) as string,
      });
      expect(node.takes('constant')).toBe(false);
      wire.hold(false);
      await vi.waitFor(() => expect(node.takes('constant')).toBe(true), 10_000);
      const again = await started(node);
      // The same number as that of the batch that was lost.
      again.ask(input(2));
      const batches = await asked(puppet, 2);
      puppet.answer(batches[1]);
      await again.seen(isResult);
      expect(frontend.kinds()).toEqual(['hello', 'down']);
      expect(again.kinds()).toEqual(['hello', 'result']);
    });

    it('is not what a frontend is that was stopped itself for a while', async () => {
      const { port } = await listening();
      const node = await connected(port, { times });
      const frontend = await started(node);
      const untilMs = performance.now() + 400;
      while (performance.now() < untilMs) continue;
      await new Promise((resolve) => setTimeout(resolve, 100));
      expect(frontend.kinds()).toEqual(['hello']);
    });

    it('loses a frontend that says nothing, and ends the earlier connection of one that is back', async () => {
      const { port } = await listening({ limits: { silenceMs: 200, graceMs: 10 } });
      const wire = await link(port);
      const node = await connected(wire.port, { times: { ...times, silenceMs: 60_000 } });
      await started(node);
      wire.hold(true);
      await vi.waitFor(() => expect(codes(atNode, LOST)).toEqual(['silent']), 10_000);
      await vi.waitFor(() => expect(runtime.puppets[0].closedFor).toBe('nobody holds it'), 10_000);
    });
  });
});

const HELLO = {
  kind: 'hello' as const,
  protocolVersion: PROTOCOL_VERSION,
  model: 'm',
  version: '1',
  replica: '0',
  inputType: 'bytes' as const,
  maxBatchSize: 100,
  credits: 2,
};

/** Cuts a frontend's connection as a network would. */
function breakOff(node: RemoteNode): void {
  (node as unknown as { socket: Socket }).socket.destroy();
}
