import { connect, type Socket } from 'node:net';
import { afterEach, beforeEach, describe, expect, it, vi } from 'vitest';
import { PROTOCOL_VERSION } from '../../protocol/index.js';
import type { ContainerStart } from '../modelContainer.js';
import { FrontendDouble } from '../tests/frontendDouble.js';
import { CONTROL, DATA, envelopeHead } from './envelope.js';
import { NodeServer, type NodeServerOptions } from './nodeServer.js';
import type { RemoteNodeOptions } from './remoteNode.js';
import { input, isDown, isResult, LOST, MODEL, NodeLab, OUT } from './tests/nodeLab.js';

const KEY = Buffer.from('k'.repeat(32));
const MIB = 1024 * 1024;

describe('a node', () => {
  let lab: NodeLab;
  beforeEach(() => {
    lab = new NodeLab();
  });
  afterEach(() => lab.end());

  describe('lets in', () => {
    it('whoever has its key, which proves itself both ways', async () => {
      const { port } = await lab.listening({ security: { key: KEY } });
      const node = await lab.connected(port, { key: KEY });
      expect(node.name).toBe('n1');
      expect(node.gpus).toEqual(['h200']);
      expect(node.takes('process')).toBe(true);
      await lab.started(node);
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
      const { port } = await lab.listening(server);
      const address = { ...(node.address ?? { host: '127.0.0.1', isSecure: false }), port };
      const remote = await lab.connected(port, { ...node, address });
      expect(remote.takes('constant')).toBe(false);
      expect(lab.codes(lab.atFrontends, OUT)).toEqual([code]);
      if (isToldAtNode) await vi.waitFor(() => expect(lab.codes(lab.atNode, LOST)).toContain(code));
      const refused = new FrontendDouble(remote.startContainer(MODEL));
      await refused.seen(isDown);
      const reason = expect.stringMatching(/is not connected: ./) as string;
      expect(refused.frames).toEqual([{ kind: 'down', isOutside: true, reason }]);
      expect(JSON.stringify([lab.atNode, lab.atFrontends])).not.toContain(KEY.toString());
    });

    it('nobody from other machines unless something keeps others out', async () => {
      const server = new NodeServer({
        name: 'n1',
        gpus: [],
        runtime: lab.runtime,
        complain: () => undefined,
      });
      await expect(server.listen('0.0.0.0', 0)).rejects.toMatchObject({ code: 'insecure_listen' });
      await expect(server.listen('::', 0)).rejects.toMatchObject({ code: 'insecure_listen' });
      server.close(() => undefined);
      const keyed = new NodeServer({
        name: 'n1',
        gpus: [],
        runtime: lab.runtime,
        security: { key: KEY },
        complain: () => undefined,
      });
      await keyed.listen('0.0.0.0', 0);
      await new Promise<void>((resolve) => keyed.close(resolve));
    });

    it('frontends that are one version behind, who hear what they know', async () => {
      lab.runtime.onStart = (puppet) => puppet.say({ ...HELLO, golden: { problem: 'none' } });
      const { port } = await lab.listening();
      const [old, present] = [
        await lab.connected(port, { versions: { oldest: 1, newest: 1 } }),
        await lab.connected(port, {}),
      ];
      const frontends = [await lab.started(old), await lab.started(present)];
      expect(frontends.map(({ frames }) => frames[0])).toEqual([
        { ...HELLO, protocolVersion: PROTOCOL_VERSION - 1 },
        { ...HELLO, golden: { problem: 'none' } },
      ]);
      frontends.forEach((frontend, index) => frontend.ask(input(index)));
      const [puppet] = lab.runtime.puppets;
      for (const batch of await lab.asked(puppet, 2)) puppet.answer(batch);
      await Promise.all(frontends.map((frontend) => frontend.seen(isResult)));
    });

    it('nodes that are one version behind', async () => {
      const { port } = await lab.listening({ versions: { oldest: 1, newest: 1 } });
      const frontend = await lab.started(await lab.connected(port));
      expect(frontend.frames[0]).toMatchObject({ protocolVersion: 1 });
    });
  });

  it('says of a model whose files it does not see what it would take, unless it fetches files itself', async () => {
    const request: ContainerStart = {
      ...MODEL,
      container: { kind: 'python', path: '/nowhere/of/a/server/m.py' },
    };
    const { port } = await lab.listening();
    const refused = new FrontendDouble((await lab.connected(port)).startContainer(request));
    await refused.seen(isDown);
    const reason = expect.stringMatching(
      /^node 'n1' has no \/nowhere\/of\/a\/server\/m\.py: .*deploy without --upload.*--join/,
    ) as string;
    expect(refused.frames).toEqual([{ kind: 'down', isOutside: true, reason }]);
    expect(lab.runtime.puppets).toEqual([]);
    const fetching = await lab.listening({ fetchesFiles: true });
    await lab.started(await lab.connected(fetching.port), request);
    // A path from the package's root.
    const own: ContainerStart = { ...MODEL, container: { kind: 'process', path: 'package.json' } };
    await lab.started(await lab.connected(port), own);
  });

  describe('is not hurt by', () => {
    const raw = (port: number): Promise<Socket> =>
      new Promise((resolve) => {
        const socket = connect(port, '127.0.0.1', () => resolve(socket));
        socket.on('error', () => undefined);
        lab.ends.push(() => Promise.resolve(void socket.destroy()));
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
      const { port } = await lab.listening();
      const good = await lab.started(await lab.connected(port));
      const socket = await raw(port);
      const end = closed(socket);
      socket.write(bytes);
      await end;
      expect(lab.codes(lab.atNode, LOST)).toEqual(['protocol']);
      good.ask(input(1));
      const [puppet] = lab.runtime.puppets;
      puppet.answer((await lab.asked(puppet, 1))[0]);
      await good.seen(isResult);
    });

    it('one that says nothing, or half of something', async () => {
      const { port } = await lab.listening({ limits: { handshakeMs: 100 } });
      const sockets = [await raw(port), await raw(port), await raw(port)];
      const all = sockets.map(closed);
      const hello = message('{"kind":"hello"}');
      sockets[1].write(hello.subarray(0, 3));
      // A byte at a time does not buy more of it.
      let at = 0;
      const slow = setInterval(() => sockets[2].write(hello.subarray(at, ++at)), 20);
      await Promise.all(all);
      clearInterval(slow);
      expect(lab.codes(lab.atNode, LOST)).toEqual(new Array(3).fill('handshake_timeout'));
    });

    it('half of a connection, and says nothing of one that has said nothing: it looks whether the port is open', async () => {
      const { port } = await lab.listening();
      const silent = await raw(port);
      const silentEnd = closed(silent);
      silent.end();
      await silentEnd;
      const socket = await raw(port);
      const end = closed(socket);
      socket.end(message('{"kind":"hello"}').subarray(0, 3));
      await end;
      await vi.waitFor(() => expect(lab.codes(lab.atNode, LOST)).toEqual(['connection']));
    });

    it('a frame of 1 GiB, and one that is a container’s, on a line: that frontend is ended, and no other', async () => {
      const { port } = await lab.listening();
      const good = await lab.started(await lab.connected(port));
      for (const bytes of [
        Buffer.of(0, 0, 0, 0x40, PROTOCOL_VERSION, 1),
        Buffer.of(3, 0, 0, 0, PROTOCOL_VERSION, 4, 0),
      ]) {
        lab.atNode.length = 0;
        const bad = await lab.started(await lab.connected(port));
        const { outbox } = (
          bad.channel as unknown as { hub: { link: { outbox: { frame(l: number, b: Buffer): void } } } }
        ).hub.link;
        outbox.frame(1, bytes);
        await bad.seen(isDown);
        await vi.waitFor(() => expect(lab.codes(lab.atNode, LOST)).toEqual(['protocol']));
      }
      good.ask(input(1));
      const [puppet] = lab.runtime.puppets;
      puppet.answer((await lab.asked(puppet, 1)).at(-1) ?? 0);
      await good.seen(isResult);
    });

    it('a frontend that sends more than its credits: that replica is down for it', async () => {
      const { port } = await lab.listening();
      const [greedy, good] = [
        await lab.started(await lab.connected(port)),
        await lab.started(await lab.connected(port)),
      ];
      for (let k = 0; k < 3; k++) greedy.ask(input(k));
      await greedy.seen(isDown);
      expect(greedy.frames.at(-1)).toMatchObject({
        reason: 'a frontend sent more batches than its 2 credits',
      });
      const [puppet] = lab.runtime.puppets;
      for (const batch of await lab.asked(puppet, 2)) puppet.answer(batch);
      good.ask(input(7));
      puppet.answer((await lab.asked(puppet, 3))[2]);
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
      const { port } = await lab.listening();
      const node = await lab.connected(port);
      const frontend = new FrontendDouble(node.startContainer(request as ContainerStart));
      await frontend.seen(isDown);
      expect(frontend.frames).toEqual([{ kind: 'down', reason: expect.stringContaining(field) as string }]);
      await lab.started(node);
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
