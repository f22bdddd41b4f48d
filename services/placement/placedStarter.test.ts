import { expect, it } from 'vitest';
import type { ContainerChannel, ContainerFrame } from '../../containers/protocol/index.js';
import type { NodeHost } from '../../containers/runtime/index.js';
import type { HostedModel } from '../registry/index.js';
import { MemoryStore } from '../store/index.js';
import { PlacedStarter } from './placedStarter.js';
import { Placements } from './placements.js';

const model = {
  name: 'm',
  version: '1',
  inputType: 'doubles',
  labels: [],
  batching: { strategy: 'aimd' },
  container: { kind: 'constant', output: '0' },
} satisfies HostedModel;

function harness() {
  const placements = new Placements(new MemoryStore());
  const started: string[] = [];
  const closed: string[] = [];
  const node = {
    startContainer: ({ replica }: { readonly replica: string }): ContainerChannel => {
      started.push(replica);
      return {
        send: () => undefined,
        open: (sink) => sink.onFrame({ kind: 'printed', text: `replica ${replica}` }),
        close: () => closed.push(replica),
      };
    },
  } as unknown as NodeHost;
  const starter = new PlacedStarter({ placements, node: () => node, wanted: () => undefined });
  const start = (number = 0) => {
    const frames: ContainerFrame[] = [];
    const channel = starter.start(model, number);
    channel.open({ onFrame: (frame) => frames.push(frame) });
    return { channel, frames };
  };
  const place = (...nodes: (string | null)[]) => {
    const places = nodes.map((name, number) => (name === null ? null : { node: name, number }));
    placements.set(model, { token: 1, places }, placements.of(model)?.version ?? 0);
    starter.refresh();
  };
  return { placements, starter, started, closed, start, place };
}

it('starts a replica that has no place yet once it has one, and not twice: that is no failure', () => {
  const { starter, started, start, place } = harness();
  expect(starter.obstacle(model, 0)).toBeUndefined();
  const { frames } = start();
  starter.refresh();
  expect([frames, started]).toEqual([[], []]);
  place('n1');
  starter.refresh();
  expect(started).toEqual(['0']);
  expect(frames).toEqual([{ kind: 'printed', text: 'replica 0' }]);
});

it('is down with the reason where there is no place, and starts nothing for what was closed meanwhile', async () => {
  const { starter, started, start, place } = harness();
  const [first, second] = [start(0), start(1)];
  first.channel.close();
  place(null, null);
  await Promise.resolve();
  expect(started).toEqual([]);
  expect(first.frames).toEqual([]);
  expect(second.frames).toMatchObject([{ kind: 'down', isOutside: true }]);
  expect(starter.obstacle(model, 0)).toMatch(/no node has room for it/);
});

it('gives each of its replicas its place by its number, and ends what was placed elsewhere', () => {
  const { started, closed, start, place } = harness();
  place('n1', 'n1');
  const [first, second] = [start(0), start(1)];
  expect(started).toEqual(['0', '1']);
  place('n1', 'n2');
  expect(closed).toEqual(['1']);
  expect(first.frames).toHaveLength(1);
  expect(second.frames.at(-1)).toMatchObject({ kind: 'down', reason: 'it was placed on n2 in place of n1' });
});

it('names the replicas that run, those without a place too, and says which have settled', () => {
  const { starter, placements, start } = harness();
  expect(starter.numbers(model)).toBeUndefined();
  const places = [{ node: 'n1', number: 3 }, null, { node: 'n2', number: 0, replaces: 3 }];
  placements.set(model, { token: 1, places }, 0);
  expect(starter.numbers(model)).toEqual([3, 1, 0]);
  expect(starter.obstacle(model, 1)).toMatch(/no node has room for it/);
  start(3);
  expect(starter.isSettled(model, 3)).toBe(false);
});
