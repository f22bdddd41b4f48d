import { randomBytes } from 'node:crypto';
import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import { curveKeyPair, Dealer, Publisher } from 'zeromq';
import type { ContainerFrame, ItemResult, PredictFrame } from '../../protocol/index.js';
import { ClipperServer, type ClipperLimits, type DialledContainer } from './index.js';
import { frame, message, OPENING_V2, OPENING_V3, RawPeer, readyBody } from './tests/rawPeer.js';
import { TwinContainer, uint32, uint64s, type TwinOptions } from './tests/twinContainer.js';

interface Complaint {
  readonly message: string;
  readonly details: Readonly<Record<string, unknown>>;
}

const NONE = Buffer.alloc(0);
const HEARTBEAT = [NONE, uint32(2)];
const registration = (
  model: string | Buffer,
  version = '1',
  inputType = '3',
  ...rest: Buffer[]
): Buffer[] => [NONE, uint32(0), Buffer.from(model), Buffer.from(version), Buffer.from(inputType), ...rest];

describe('ClipperServer', () => {
  let server: ClipperServer;
  let port: number;
  let complaints: Complaint[];
  let closers: (() => void)[];
  let isDown = false;

  async function listen(limits: Partial<ClipperLimits> = {}, at = 0): Promise<void> {
    isDown = false;
    server = new ClipperServer({
      nowNs: () => performance.now() * 1e6,
      firstMessageId: 7,
      limits,
      complain: (what, details) => complaints.push({ message: what, details }),
    });
    ({ port } = await server.listen('127.0.0.1', at));
  }

  async function stop(): Promise<void> {
    isDown = true;
    await server.close();
  }

  beforeEach(() => {
    complaints = [];
    closers = [];
  });
  afterEach(async () => {
    for (const close of closers) close();
    if (!isDown) await stop();
  });

  function twin(options: Partial<TwinOptions> = {}): TwinContainer {
    const made = new TwinContainer({
      port,
      model: 'm',
      version: '1',
      inputType: 'doubles',
      predict: (inputs) => inputs.map((_, at) => `output ${at}`),
      ...options,
    });
    closers.push(() => made.stop());
    return made;
  }

  async function ready(): Promise<RawPeer> {
    const peer = await RawPeer.ready(port);
    closers.push(() => peer.end());
    return peer;
  }

  async function dialled(): Promise<RawPeer> {
    const peer = await RawPeer.dial(port);
    closers.push(() => peer.end());
    return peer;
  }

  const containers = (count: number) => expect.poll(() => server.containers().length).toBe(count);
  const complaint = (part: string) =>
    expect.poll(() => complaints.map((one) => one.message).join('; ')).toContain(part);
  const reason = (part: string) =>
    expect.poll(() => complaints.map(({ details }) => String(details.reason)).join('; ')).toContain(part);

  /** A container in use: its frames, and a way to ask it. */
  function use(container: DialledContainer = server.containers()[0]) {
    const frames: ContainerFrame[] = [];
    const channel = container.open('0');
    channel.open({ onFrame: (one) => frames.push(one) });
    let batchId = 0;
    return {
      channel,
      frames,
      send(...inputs: Uint8Array[]): number {
        const items = inputs.map((bytes, at) => ({ id: 10 + at, bytes, budgetNs: 1e9 }));
        const predict: PredictFrame = { kind: 'predict', batchId: ++batchId, items };
        channel.send(predict);
        return batchId;
      },
      async ask(...inputs: Uint8Array[]): Promise<readonly ItemResult[]> {
        const asked = this.send(...inputs);
        const found = () => frames.find((one) => one.kind === 'result' && one.batchId === asked);
        await expect.poll(found).toBeDefined();
        const result = found();
        return result?.kind === 'result' ? result.results : [];
      },
      down: () => frames.find((one) => one.kind === 'down')?.reason,
    };
  }

  it('asks a container that dials in what it is, and knows it then', async () => {
    await listen();
    const one = twin();
    await containers(1);
    expect(server.containers()[0]).toMatchObject({ model: 'm', version: '1', inputType: 'doubles' });
    expect(one.events).toEqual(['heartbeat', 'asked', 'metadata']);
    expect(complaints).toEqual([]);
  });

  it('answers heartbeats, and asks nothing more of one that it knows', async () => {
    await listen();
    const one = twin({ pollMs: 20 });
    await expect.poll(() => one.events.filter((event) => event === 'alive').length).toBeGreaterThan(3);
    expect(one.events.filter((event) => event === 'asked')).toHaveLength(1);
    expect(server.containers()).toHaveLength(1);
  });

  it.each([
    ['bytes', [Buffer.from([0, 255, 7]), Buffer.from([1])]],
    ['integers', [new Int32Array([1, -2, 2 ** 31 - 1]), new Int32Array([5])]],
    ['floats', [new Float32Array([0.5, -1e30])]],
    ['doubles', [new Float64Array([Math.PI, -0, 1e308]), new Float64Array([2])]],
    ['strings', [Buffer.from('añ😀'), Buffer.from('x'.repeat(300))]],
  ] as const)('carries %s as they are, and an output for each', async (inputType, inputs) => {
    await listen();
    const bytes = inputs.map((input) => Buffer.from(input.buffer, input.byteOffset, input.byteLength));
    const one = twin({ inputType, predict: (received) => received.map((input) => input.toString('base64')) });
    await containers(1);
    const results = await use().ask(...bytes);
    expect(results).toEqual(
      bytes.map((input, at) => ({ id: 10 + at, ok: true, output: input.toString('base64') })),
    );
    expect(one.events.at(-1)).toBe(`batch ${inputs.length}`);
  });

  it.each([
    [2, 2],
    [4, 4],
    ['none', null],
  ])('does not serve a container of RPC version %s, whose own log says why', async (said, rpcVersion) => {
    await listen();
    const one = twin({ rpcVersion, pollMs: 20 });
    await complaint('speaks another version of the RPC');
    expect(complaints[0].details).toMatchObject({ model: 'm', version: '1', expected: 3, rpcVersion: said });
    // As Clipper does, it asks with each heartbeat, and every message says the version that is spoken.
    await expect.poll(() => one.events.filter((event) => event === 'asked').length).toBeGreaterThan(2);
    expect(one.errors[0]).toBe(`received version 3, speaks ${rpcVersion}`);
    expect(server.containers()).toEqual([]);
  });

  it('reads an input type that is followed by anything, as containers in C++ send it', async () => {
    await listen();
    const peer = await ready();
    peer.say(registration('m', '1234', '2\0\x07z', uint32(3)));
    await containers(1);
    expect(server.containers()[0]).toMatchObject({ version: '1234', inputType: 'floats' });
    // Their library cannot take a batch of numbers.
    const texts = await ready();
    texts.say(registration('texts', '12', '4\0', uint32(3)));
    await containers(2);
    expect(server.containers().map(({ maxBatchSize }) => maxBatchSize)).toEqual([1, 1024]);
  });

  it('reads messages in pieces of any size, several of them in one piece', async () => {
    await listen();
    const peer = await ready();
    const stream = Buffer.concat([
      message(HEARTBEAT),
      message(registration('m'.repeat(300), '1', '3', uint32(3))),
      message(HEARTBEAT),
    ]);
    peer.socket.setNoDelay(true);
    for (const byte of stream) {
      peer.write([byte]);
      await new Promise((resolve) => setImmediate(resolve));
    }
    await containers(1);
    // Three frames of 4 bytes behind an empty one: asked for its metadata, and then told that it is known.
    await peer.until(({ length }) => length >= 2 * (2 + 3 * 6));
    peer.write(Buffer.concat([stream, stream]));
    await peer.until(({ length }) => length >= 6 * (2 + 3 * 6));
    expect(server.containers()).toMatchObject([{ model: 'm'.repeat(300) }]);
  });

  it.each([
    ['no UTF-8', registration(Buffer.from([0xff, 0xfe]), '1', '3', uint32(3)), 'whose name is none'],
    ['empty', registration('', '1', '3', uint32(3)), 'whose name is none'],
    ['too long', registration('m'.repeat(1025), '1', '3', uint32(3)), 'whose name is none'],
    ['of a type that there is not', registration('m', '1', '9', uint32(3)), 'of a type that there is not'],
    [
      'of a type that is no number',
      registration('m', '1', 'doubles', uint32(3)),
      'of a type that there is not',
    ],
    ['without a type', registration('m').slice(0, 4), "no message of Clipper's RPC"],
    ['with half a version', registration('m', '1', '3', Buffer.from([3])), "no message of Clipper's RPC"],
  ])('does not serve a container whose name or type is %s', async (_what, frames, said) => {
    await listen();
    const peer = await ready();
    peer.say(frames);
    await complaint(said);
    expect(server.containers()).toEqual([]);
    // It may say better.
    peer.say(registration('m', '1', '3', uint32(3)));
    await containers(1);
  });

  it('knows names with odd bytes as they are', async () => {
    await listen();
    const name = "a:b,c\n\0 ../é'";
    twin({ model: name });
    await containers(1);
    expect(server.containers()[0].model).toBe(name);
  });

  it('tells when the container is gone, at once', async () => {
    await listen();
    const one = twin({ predict: () => undefined });
    await containers(1);
    const used = use();
    used.send(new Uint8Array(8));
    await expect.poll(() => one.events.at(-1)).toBe('batch 1');
    one.stop();
    await expect.poll(used.down).toBe('it closed its connection');
    expect(server.containers()).toEqual([]);
  });

  it('ends the connection of one that nobody wants any more: it dials again, and is there anew', async () => {
    await listen();
    const one = twin();
    await containers(1);
    use().channel.close();
    await containers(0);
    await containers(1);
    expect(one.events.filter((event) => event === 'metadata')).toHaveLength(2);
    expect(await use().ask(new Uint8Array(8))).toMatchObject([{ ok: true }]);
  });

  it('is found again by containers after it was lost', async () => {
    await listen();
    const one = twin();
    await containers(1);
    const before = use();
    expect(await before.ask(new Uint8Array(8))).toMatchObject([{ ok: true }]);
    await stop();
    expect(before.down()).toBe('the server stops');
    await listen({}, port);
    await containers(1);
    expect(await use().ask(new Uint8Array(8))).toMatchObject([{ ok: true }]);
    expect(one.events.filter((event) => event === 'metadata')).toHaveLength(2);
  });

  describe('what a container answers wrongly', () => {
    let peer: RawPeer;
    let used: ReturnType<typeof use>;
    const answer = (id: Buffer, header: Buffer, outputs: Buffer[], length = header.length): void =>
      peer.say([NONE, uint32(1), id, uint64s(length), header, ...outputs]);
    /** Asks, and gives the id that the question had. */
    const asked = async (...inputs: Uint8Array[]): Promise<Buffer> => {
      peer.forget();
      used.send(...inputs);
      const bytes = await peer.until(({ length }) => length >= 24);
      // An empty frame, the version and the type come first.
      return bytes.subarray(2 + 6 + 6 + 2, 2 + 6 + 6 + 6);
    };
    const results = () => used.frames.flatMap((one) => (one.kind === 'result' ? [one.results] : []));

    beforeEach(async () => {
      await listen();
      peer = await ready();
      peer.say(registration('m', '1', '3', uint32(3)));
      await containers(1);
      used = use();
    });

    const [a, b] = [Buffer.from('a'), Buffer.from('b')];
    it.each([
      ['too few outputs', uint64s(1, 1), [a], undefined, 'has 1 outputs, it was asked 2'],
      ['too many', uint64s(3, 1, 1, 1), [a, b, a], undefined, 'has 3 outputs, it was asked 2'],
      ['none', uint64s(0), [], undefined, 'has 0 outputs, it was asked 2'],
      ['another count than it says', uint64s(3, 1, 1, 1), [a, b], undefined, 'says 3 outputs, and 2 came'],
      ['a count of 2^64-1', Buffer.alloc(8, 0xff), [a, b], undefined, 'and 2 came'],
      ['no sizes', uint64s(2), [a, b], undefined, 'lacks sizes of outputs'],
      ['other sizes', uint64s(2, 1, 7), [a, b], undefined, 'says 7 bytes for output 1, and 1 came'],
      ['another length of its header', uint64s(2, 1, 1), [a, b], 99, 'not what its length says'],
      ['no header', NONE, [a, b], undefined, 'has no count'],
    ])('%s fail the batch with the reason', async (_what, header, outputs, length, message) => {
      const id = await asked(new Uint8Array(8), new Uint8Array(8));
      answer(id, header, [...outputs], length);
      await expect.poll(results).toHaveLength(1);
      const failed = { ok: false, code: 'modelError', message: expect.stringContaining(message) as string };
      expect(results()[0]).toMatchObject([
        { id: 10, ...failed },
        { id: 11, ...failed },
      ]);
      // It goes on.
      answer(await asked(new Uint8Array(8)), uint64s(1, 1), [a]);
      await expect.poll(() => results().at(1)).toEqual([{ id: 10, ok: true, output: 'a' }]);
    });

    it('an output that is no UTF-8 fails alone', async () => {
      const id = await asked(new Uint8Array(8), new Uint8Array(8));
      answer(id, uint64s(2, 1, 1), [Buffer.from([0xff]), b]);
      await expect.poll(results).toHaveLength(1);
      expect(results()[0]).toMatchObject([{ ok: false, message: 'its output is no UTF-8' }, { output: 'b' }]);
    });

    it('answers given twice, late, for batches of others or for none are nobody’s', async () => {
      const other = await ready();
      other.say(registration('m', '1', '3', uint32(3)));
      await containers(2);
      const usedOther = use(server.containers()[1]);
      const id = await asked(new Uint8Array(8));
      // The other one answers for this one.
      other.say([NONE, uint32(1), id, uint64s(16), uint64s(1, 1), b]);
      await complaint('answered what it was not asked');
      expect(results()).toEqual([]);
      answer(id, uint64s(1, 1), [a]);
      answer(id, uint64s(1, 1), [b]);
      answer(uint32(4_000_000_000), uint64s(1, 1), [b]);
      const next = await asked(new Uint8Array(8));
      answer(next, uint64s(1, 1), [b]);
      await expect.poll(results).toHaveLength(2);
      expect(results()).toMatchObject([[{ output: 'a' }], [{ output: 'b' }]]);
      expect(usedOther.frames.map(({ kind }) => kind)).toEqual(['hello']);
    });

    it('a registration of another model over the same connection changes nothing', async () => {
      peer.say(registration('m', '1', '3', uint32(3)));
      peer.say(registration('other', '1', '3', uint32(3)));
      await complaint('said that it is another one than before');
      expect(server.containers()).toMatchObject([{ model: 'm' }]);
      expect(used.down()).toBeUndefined();
    });

    it('a batch of more than 64 MiB is not sent, and fails', async () => {
      const inputs = [new Uint8Array(40 * 1024 * 1024), new Uint8Array(40 * 1024 * 1024)];
      used.send(...inputs);
      await expect.poll(results).toHaveLength(1);
      expect(results()[0]).toMatchObject([{ code: 'modelError' }, { code: 'modelError' }]);
    });
  });

  describe('who speaks no ZeroMQ, or another one', () => {
    it.each([
      ['HTTP', Buffer.from('GET / HTTP/1.1\r\n\r\n'), 'it speaks no ZeroMQ'],
      ['TLS', Buffer.from([0x16, 3, 1, 2, 0]), 'it speaks no ZeroMQ'],
      ['ZMTP 1.0', Buffer.from([0xff, 0, 0, 0, 0, 0, 0, 0, 1, 0x7e, 0]), 'it speaks ZMTP 1.0'],
      ['ZMTP 1.0 with a signature', Buffer.from([...OPENING_V3.slice(0, 10), 0]), 'it speaks ZMTP 1.0'],
      [
        'another mechanism',
        Buffer.from([...OPENING_V3, 0, ...Buffer.from('PLAIN'), ...Buffer.alloc(47)]),
        '"PLAIN"',
      ],
      ['ZMTP 2.0 as a SUB', Buffer.from([...OPENING_V2, 2]), 'of type number 2'],
    ])('%s is told good-bye', async (_what, bytes, said) => {
      await listen();
      const peer = await dialled();
      peer.write(bytes);
      await peer.closed();
      await reason(said);
    });

    const greeting = [...OPENING_V3, 1, ...Buffer.from('NULL'), ...Buffer.alloc(48)];
    it.each([
      ['a message before READY', frame(Buffer.from('hello')), 'a message before READY'],
      ['another command', frame(Buffer.from('\x04PING\0\0'), 4), '"PING" before READY'],
      ['a READY without a type', frame(Buffer.from('\x05READY'), 4), 'of type ""'],
      ['a READY that ends early', frame(Buffer.from('\x05READY\x0bSock'), 4), 'ends inside a property'],
      ['an ERROR', frame(Buffer.from('\x05ERROR\x02no'), 4), 'it refused the connection'],
      ['a command without a name', frame(NONE, 4), 'without a name'],
      ['a publisher', frame(readyBody('PUB'), 4), '"PUB"'],
      ['a huge READY', Buffer.from([6, 0, 0, 0, 0, 1, 0, 0, 0]), 'a command of 16777216 bytes'],
      ['flags that there are not', Buffer.from([0x80, 0]), 'flags 128'],
    ])('%s ends the handshake', async (_what, bytes, said) => {
      await listen();
      const peer = await dialled();
      peer.write(greeting);
      peer.write(bytes);
      await peer.closed();
      await reason(said);
    });

    it('a publisher of libzmq, and one that asks for keys, are refused and do no harm', async () => {
      await listen();
      const publisher = new Publisher({ linger: 0 });
      const { publicKey, secretKey } = curveKeyPair();
      const secret = new Dealer({
        linger: 0,
        curveServerKey: publicKey,
        curvePublicKey: publicKey,
        curveSecretKey: secretKey,
      });
      for (const socket of [publisher, secret]) {
        socket.connect(`tcp://127.0.0.1:${port}`);
        closers.push(() => socket.close());
      }
      await complaint('a connection for containers was given up');
      twin();
      await containers(1);
      expect(await use().ask(new Uint8Array(8))).toMatchObject([{ ok: true }]);
    });

    it('random bytes, at every stage, leave it as it was', async () => {
      await listen();
      const noise = Array.from({ length: 40 }, () => randomBytes(2000));
      const stages: (() => Promise<RawPeer>)[] = [dialled, ready];
      for (const [at, bytes] of noise.entries()) {
        const peer = await stages[at % 2]();
        peer.write(bytes);
        peer.socket.end();
        await peer.closed();
      }
      await expect.poll(() => server.connections().open).toBe(0);
      twin();
      await containers(1);
    });

    it('a peer of libzmq 3 (ZMTP 2.0) is served', async () => {
      await listen();
      const peer = await dialled();
      peer.write([...OPENING_V2, 5, 0, 0]);
      await peer.until(({ length }) => length >= 11 + 3);
      peer.say(HEARTBEAT);
      peer.say(registration('old', '1', '3', uint32(3)));
      await containers(1);
      expect(server.containers()[0].model).toBe('old');
    });

    it('ZeroMQ’s own heartbeats are answered', async () => {
      await listen();
      const peer = await ready();
      peer.write(frame(Buffer.from('\x04PING\0\x0aabc'), 4));
      const bytes = await peer.until(({ length }) => length >= 10);
      expect(bytes).toEqual(frame(Buffer.from('\x04PONGabc'), 4));
    });
  });

  describe('what is no message of Clipper’s', () => {
    it.each([
      ['one frame', [NONE], 'no message type'],
      ['no empty frame first', [Buffer.from('x'), uint32(2)], 'its first frame is not empty'],
      ['half a type', [NONE, Buffer.from([2])], 'no message type'],
      ['a type that there is not', [NONE, uint32(3)], 'its message type is 3'],
      ['an answer without an id', [NONE, uint32(1)], 'no message id'],
    ])('%s is passed over', async (_what, frames, said) => {
      await listen();
      const peer = await ready();
      peer.say(frames);
      await reason(said);
      peer.say(registration('m', '1', '3', uint32(3)));
      await containers(1);
    });
  });

  describe('limits', () => {
    it.each([
      [
        'a frame of 2^40 bytes',
        Buffer.from([2, 0, 0, 1, 0, 0, 0, 0, 0]),
        'a message of more than 1000000 bytes',
      ],
      [
        'a frame of 2^63 bytes',
        Buffer.from([2, 0x80, 0, 0, 0, 0, 0, 0, 0]),
        'a message of more than 1000000 bytes',
      ],
      [
        'frames of a megabyte together',
        message(Array.from({ length: 5 }, () => Buffer.alloc(250_000))),
        'more than 1000000',
      ],
      ['two thousand frames', message(Array.from({ length: 2000 }, () => NONE)), 'more than 1029 frames'],
    ])('%s end the connection', async (_what, bytes, said) => {
      await listen({ messageBytes: 1_000_000 });
      const peer = await ready();
      peer.write(bytes);
      await peer.closed();
      await reason(said);
    });

    it('messages that never end share a memory, which is given back; short ones always fit', async () => {
      await listen({ bufferedBytes: 3_000_000 });
      const hoarders = await Promise.all(Array.from({ length: 4 }, ready));
      const endless = Buffer.concat([Buffer.from([2, 0, 0, 0, 0, 2, 0, 0, 0]), Buffer.alloc(2_000_000)]);
      for (const peer of hoarders) peer.write(endless);
      await reason('there is no memory left for its message');
      twin();
      await containers(1);
      expect(await use().ask(new Uint8Array(8))).toMatchObject([{ ok: true }]);
      for (const peer of hoarders) peer.end();
      await expect.poll(() => server.connections().open).toBe(1);
    });

    it('a handshake, a message and a silence have their time', async () => {
      await listen({ handshakeMs: 1000, messageMs: 2000, silenceMs: 1000 });
      const mute = await dialled();
      const half = await ready();
      half.write([1, 0, 0]);
      await mute.closed();
      await reason("it did not finish ZeroMQ's handshake in 1 s");
      await half.closed();
      // One that computes may be silent; one that is asked nothing may not.
      const busy = twin({ predict: () => undefined, model: 'busy' });
      const idle = twin({ model: 'idle' });
      await containers(2);
      const [first, second] = server.containers();
      const [usedBusy, usedIdle] =
        first.model === 'busy' ? [use(first), use(second)] : [use(second), use(first)];
      usedBusy.send(new Uint8Array(8));
      await expect.poll(usedIdle.down, { timeout: 5000 }).toBe('it said nothing for 1 s');
      expect(usedBusy.down()).toBeUndefined();
      expect(busy.events.at(-1)).toBe('batch 1');
      expect(idle.failure).toBeUndefined();
    });

    it('a flood from one is read slowly, and others are answered meanwhile', async () => {
      await listen();
      const flood = await ready();
      const heartbeats = Buffer.concat(Array.from({ length: 5000 }, () => message(HEARTBEAT)));
      for (let round = 0; round < 1000; round++) flood.write(heartbeats);
      twin();
      await containers(1);
      const used = use();
      for (let round = 0; round < 20; round++) {
        expect(await used.ask(new Uint8Array(8))).toMatchObject([{ ok: true }]);
      }
      await complaint('sends too much unasked');
      // Most of it has not been read: it waits where the one who sends it pays for it.
      expect(flood.socket.writableLength).toBeGreaterThan(0);
    });

    it('of more than there may be, those make room that have been there longest and serve nobody', async () => {
      await listen({ connections: 50 });
      const one = twin({ model: 'served' });
      await containers(1);
      const used = use();
      const crowd: RawPeer[] = [];
      for (let at = 0; at < 200; at++) {
        const peer = await ready();
        peer.say(registration(`m${at}`, '1', '3', uint32(3)));
        crowd.push(peer);
      }
      await expect.poll(() => crowd.filter((peer) => peer.isClosed).length).toBe(151);
      await containers(50);
      expect(server.connections()).toEqual({ open: 50, refused: 151 });
      expect(await used.ask(new Uint8Array(8))).toMatchObject([{ ok: true }]);
      expect(one.events.filter((event) => event === 'metadata')).toHaveLength(1);
    });

    it('where all serve, others are refused', async () => {
      await listen({ connections: 1 });
      twin();
      await containers(1);
      use();
      const late = await dialled();
      await late.closed();
      await complaint('a container was refused: there are too many');
    });

    it('a storm of connections leaves nothing behind', async () => {
      await listen();
      twin();
      await containers(1);
      const used = use();
      for (let round = 0; round < 10; round++) {
        const peers = await Promise.all(Array.from({ length: 50 }, dialled));
        for (const peer of peers) {
          peer.write(OPENING_V3);
          peer.end();
        }
      }
      await expect.poll(() => server.connections().open).toBe(1);
      expect(await used.ask(new Uint8Array(8))).toMatchObject([{ ok: true }]);
    });
  });
});
