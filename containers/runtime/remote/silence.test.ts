import { connect, createServer, type AddressInfo, type Server, type Socket } from 'node:net';
import { afterEach, beforeEach, describe, expect, it, vi } from 'vitest';
import { input, isDown, isResult, LOST, NodeLab } from './tests/nodeLab.js';

describe('a node', () => {
  let lab: NodeLab;
  beforeEach(() => {
    lab = new NodeLab();
  });
  afterEach(() => lab.end());

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
      lab.ends.push(() => {
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
      const { port } = await lab.listening();
      const wire = await link(port);
      const node = await lab.connected(wire.port, { times });
      const frontend = await lab.started(node);
      frontend.ask(input(1));
      const [puppet] = lab.runtime.puppets;
      const [batch] = await lab.asked(puppet, 1);
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
      const again = await lab.started(node);
      // The same number as that of the batch that was lost.
      again.ask(input(2));
      const batches = await lab.asked(puppet, 2);
      puppet.answer(batches[1]);
      await again.seen(isResult);
      expect(frontend.kinds()).toEqual(['hello', 'down']);
      expect(again.kinds()).toEqual(['hello', 'result']);
    });

    it('is not what a frontend is that was stopped itself for a while', async () => {
      const { port } = await lab.listening();
      const node = await lab.connected(port, { times });
      const frontend = await lab.started(node);
      const untilMs = performance.now() + 400;
      while (performance.now() < untilMs) continue;
      await new Promise((resolve) => setTimeout(resolve, 100));
      expect(frontend.kinds()).toEqual(['hello']);
    });

    it('loses a frontend that says nothing, and ends the earlier connection of one that is back', async () => {
      const { port } = await lab.listening({ limits: { silenceMs: 200, graceMs: 10 } });
      const wire = await link(port);
      const node = await lab.connected(wire.port, { times: { ...times, silenceMs: 60_000 } });
      await lab.started(node);
      wire.hold(true);
      await vi.waitFor(() => expect(lab.codes(lab.atNode, LOST)).toEqual(['silent']), 10_000);
      await vi.waitFor(() => expect(lab.runtime.puppets[0].closedFor).toBe('nobody holds it'), 10_000);
    });
  });
});
