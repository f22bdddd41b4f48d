import { beforeEach, describe, expect, it } from 'vitest';
import { Registry } from '../registry/index.js';
import { MemoryStore } from '../store/index.js';
import { Placements } from './placements.js';
import { Placer, type PlacerSources } from './placer.js';

const VERSION = { name: 'm', version: '1' };

describe('the placer', () => {
  let placements: Placements;
  let placer: Placer;
  let registry: Registry;
  let nodes: string[];
  let settled: Set<number>;
  let gone: Set<string>;
  let leaving: Set<string>;
  let nowMs: number;
  let token: number | undefined;

  beforeEach(async () => {
    const store = new MemoryStore();
    registry = new Registry(store);
    leaving = new Set();
    placements = new Placements(store, (node) => leaving.has(node));
    nodes = ['n1', 'n2'];
    settled = new Set();
    gone = new Set();
    nowMs = 0;
    token = 1;
    await add('m', 3);
    placer = new Placer(sources());
    placer.reconcile();
  });

  const add = (name: string, replicas: number) =>
    registry.addModel(
      {
        name,
        version: '1',
        inputType: 'doubles',
        labels: [],
        container: { kind: 'constant', output: '0' },
        batching: { strategy: 'aimd' },
      },
      { replicas },
    );
  const sources = (): PlacerSources => ({
    registry,
    placements,
    nodes: () =>
      nodes.map((name) => ({
        name,
        takes: () => true,
        room: { node: name, backingBytes: 0, freeBackingBytes: 0, gpus: [], holders: [] },
      })),
    isGone: (name) => gone.has(name),
    wanted: () => undefined,
    isSettled: (_model, replica) => settled.has(replica),
    nowMs: () => nowMs,
    token: () => token,
  });
  /** Of every version. */
  const all = () =>
    placements.versions().map((version) => placements.of(version)?.value.places.map((place) => place?.node));

  const places = () => {
    placer.reconcile();
    return placements.of(VERSION)?.value.places.map((place) => place?.node ?? null);
  };
  const cordon = (node: string) => new Promise((resolve) => placements.cordon(node, true, resolve));

  it('spreads replicas, and says nothing while another frontend places', () => {
    expect(places()).toEqual(['n1', 'n2', 'n1']);
    token = undefined;
    nodes = ['n2'];
    gone.add('n1');
    expect(places()).toEqual(['n1', 'n2', 'n1']);
    token = 2;
    expect(places()).toEqual(['n2', 'n2', 'n2']);
    // One with an older lease, which does not know that it is over.
    token = 1;
    nodes = ['n1'];
    gone = new Set(['n2']);
    expect(places()).toEqual(['n2', 'n2', 'n2']);
  });

  it('leaves replicas where they are while their node is away for a moment', () => {
    nodes = ['n2'];
    expect(places()).toEqual(['n1', 'n2', 'n1']);
    gone.add('n1');
    expect(places()).toEqual(['n2', 'n2', 'n2']);
  });

  const numbers = () => placements.of(VERSION)?.value.places.map((place) => place?.number);

  it('empties a node that is cordoned one replica after the other, each once another answers in its place', async () => {
    await cordon('n1');
    expect(places()).toEqual(['n1', 'n2', 'n1', 'n2']);
    expect(places()).toEqual(['n1', 'n2', 'n1', 'n2']);
    expect(numbers()).toEqual([0, 1, 2, 3]);
    settled.add(3);
    expect(places()).toEqual(['n2', 'n2', 'n1', 'n2']);
    // Number 0 is still being drained.
    expect(numbers()).toEqual([3, 1, 2, 4]);
    settled.add(4);
    expect(places()).toEqual(['n2', 'n2', 'n2']);
    expect(numbers()).toEqual([3, 1, 4]);
    expect(places()).toEqual(['n2', 'n2', 'n2']);
  });

  it('goes on with what another frontend began, also where the node that is left dies meanwhile', async () => {
    await cordon('n1');
    expect(places()).toEqual(['n1', 'n2', 'n1', 'n2']);
    placer = new Placer(sources());
    token = 2;
    nodes = ['n2'];
    gone.add('n1');
    expect(places()).toEqual(['n2', 'n2', 'n2']);
    expect(numbers()).toEqual([3, 1, 2]);
  });

  it('forgets a move that is no longer one: its node is gone, or there are fewer replicas', async () => {
    await cordon('n1');
    expect(places()).toEqual(['n1', 'n2', 'n1', 'n2']);
    nodes = ['n1'];
    gone.add('n2');
    expect(places()).toEqual(['n1', null, 'n1']);
    nodes = ['n1', 'n2'];
    gone.clear();
    expect(places()).toEqual(['n1', 'n2', 'n1', 'n2']);
    await registry.setScale('m', '1', { replicas: 0 });
    expect(places()).toEqual([]);
  });

  it('does not wait for ever for one that does not answer where it is to go', async () => {
    await cordon('n1');
    expect(places()).toEqual(['n1', 'n2', 'n1', 'n2']);
    nowMs = 1000;
    expect(places()).toEqual(['n1', 'n2', 'n1', 'n2']);
    nowMs = 29_000;
    expect(places()).toEqual(['n1', 'n2', 'n1', 'n2']);
    nowMs = 31_000;
    expect(places()?.[0]).toBe('n2');
  });

  describe('balances', () => {
    beforeEach(async () => {
      settled = new Set([0, 1, 2]);
      nodes = ['n1'];
      gone.add('n2');
      expect(places()).toEqual(['n1', 'n1', 'n1']);
      for (const name of ['x', 'y']) await add(name, 1);
      expect(places()).toEqual(['n1', 'n1', 'n1']);
      nodes = ['n1', 'n2'];
      gone.clear();
      expect(places()).toEqual(['n1', 'n1', 'n1']);
    });

    it('onto a node that has come, once it is quiet, one replica at a time, until nothing is gained', () => {
      nowMs += 4000;
      expect(places()).toEqual(['n1', 'n1', 'n1']);
      nowMs += 1100;
      expect(places()).toEqual(['n1', 'n1', 'n1', 'n2']);
      nowMs += 20_000;
      expect(places()).toEqual(['n1', 'n1', 'n1', 'n2']);
      expect(all()).toEqual([['n1', 'n1', 'n1', 'n2'], ['n1'], ['n1']]);
      settled.add(3);
      expect(places()).toEqual(['n1', 'n1', 'n2']);
      expect(numbers()).toEqual([0, 1, 3]);
      for (let step = 0; step < 20; step++) {
        nowMs += 6000;
        placer.reconcile();
      }
      // Five on two nodes: two and three.
      expect(all().flat().sort()).toEqual(['n1', 'n1', 'n1', 'n2', 'n2']);
      const before = all();
      nowMs += 1_000_000;
      placer.reconcile();
      expect(all()).toEqual(before);
    });

    it('what is on one node alone also where that makes no node less loaded', async () => {
      await registry.deleteVersion('x', '1');
      await registry.deleteVersion('y', '1');
      await registry.setScale('m', '1', { replicas: 2 });
      expect(places()).toEqual(['n1', 'n1']);
      await add('z', 1);
      placer.reconcile();
      expect(all()).toEqual([['n1', 'n1'], ['n2']]);
      nowMs += 6000;
      expect(places()).toEqual(['n1', 'n1', 'n2']);
      settled.add(2);
      expect(places()).toEqual(['n1', 'n2']);
      for (let step = 0; step < 9; step++) {
        nowMs += 6000;
        expect(places()).toEqual(['n1', 'n2']);
      }
    });

    it('nothing that does not answer, and leaves for a while what does not answer where it was to go', () => {
      settled.clear();
      nowMs += 6000;
      expect(places()).toEqual(['n1', 'n1', 'n1']);
      settled = new Set([0, 1, 2]);
      nowMs += 6000;
      expect(places()).toEqual(['n1', 'n1', 'n1', 'n2']);
      expect(places()).toEqual(['n1', 'n1', 'n1', 'n2']);
      nowMs += 31_000;
      expect(places()).toEqual(['n1', 'n1', 'n1']);
      nowMs += 300_000;
      expect(places()).toEqual(['n1', 'n1', 'n1']);
      nowMs += 600_000;
      placer.reconcile();
      nowMs += 6000;
      expect(places()).toEqual(['n1', 'n1', 'n1', 'n2']);
    });
  });

  it('empties a node that says that it is about to stop, until it is gone or has come back', async () => {
    leaving.add('n1');
    expect(places()).toEqual(['n1', 'n2', 'n1', 'n2']);
    settled = new Set([3, 4]);
    expect(places()).toEqual(['n2', 'n2', 'n1', 'n2']);
    expect(places()).toEqual(['n2', 'n2', 'n2']);
    leaving.clear();
    await add('another', 2);
    placer.reconcile();
    expect(all()).toContainEqual(['n1', 'n1']);
  });

  it('leaves on a cordoned node what has room nowhere else, and takes it from one that is away', async () => {
    await cordon('n1');
    await cordon('n2');
    settled = new Set([0, 1, 2]);
    expect(places()).toEqual(['n1', 'n2', 'n1']);
    nodes = ['n2'];
    expect(places()).toEqual([null, 'n2', null]);
  });
});
