import { beforeEach, describe, expect, it } from 'vitest';
import { Registry } from '../registry/index.js';
import { MemoryStore } from '../store/index.js';
import { Placements } from './placements.js';
import { Placer } from './placer.js';

const VERSION = { name: 'm', version: '1' };

describe('the placer', () => {
  let placements: Placements;
  let placer: Placer;
  let registry: Registry;
  let nodes: string[];
  let settled: Set<number>;
  let gone: Set<string>;
  let nowMs: number;
  let token: number | undefined;

  beforeEach(async () => {
    const store = new MemoryStore();
    registry = new Registry(store);
    placements = new Placements(store);
    nodes = ['n1', 'n2'];
    settled = new Set();
    gone = new Set();
    nowMs = 0;
    token = 1;
    await registry.addModel(
      {
        ...VERSION,
        inputType: 'doubles',
        labels: [],
        container: { kind: 'constant', output: '0' },
        batching: { strategy: 'aimd' },
      },
      { replicas: 3 },
    );
    placer = new Placer({
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
    placer.reconcile();
  });

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

  it('empties a node that is cordoned one replica after the other, each once the others answer', async () => {
    await cordon('n1');
    expect(places()).toEqual(['n1', 'n2', 'n1']);
    settled.add(1);
    expect(places()).toEqual(['n2', 'n2', 'n1']);
    expect(places()).toEqual(['n2', 'n2', 'n1']);
    settled.add(0);
    expect(places()).toEqual(['n2', 'n2', 'n2']);
  });

  it('does not wait for ever for one that does not answer where it has gone', async () => {
    await cordon('n1');
    settled.add(1);
    expect(places()).toEqual(['n2', 'n2', 'n1']);
    nowMs = 29_000;
    expect(places()).toEqual(['n2', 'n2', 'n1']);
    nowMs = 31_000;
    expect(places()).toEqual(['n2', 'n2', 'n2']);
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
