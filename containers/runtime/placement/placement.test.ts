import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { profileNamed } from '../../../simulator/gpu/index.js';
import { REPLICA_BACKING_BYTES, replicaBytes, type MemoryNeeds } from '../../models/index.js';
import {
  gpuName,
  placeReplica,
  Reservations,
  withoutHolders,
  withReplica,
  type GpuRoom,
  type NodeRoom,
} from './index.js';

const GIB = 2 ** 30;
const needsOf = (gib: number, backingBytes = 0): MemoryNeeds => ({
  arrayBytes: gib * GIB,
  moduleBytes: 0,
  backingBytes,
});
const identity = { model: 'm', version: '1', replica: '0' };
const cards = (...names: string[]) => names.map(profileNamed);

const gpuRooms: fc.Arbitrary<GpuRoom> = fc
  .record({
    card: fc.constantFrom('h200', 't4'),
    declaredBytes: fc.integer({ min: 0, max: 100 }),
    reservedBytes: fc.integer({ min: 0, max: 100 }),
    contextBytes: fc.integer({ min: 0, max: 10 }),
    replicas: fc.integer({ min: 0, max: 5 }),
    batchesInFlight: fc.integer({ min: 0, max: 4 }),
    waitingNs: fc.integer({ min: 0, max: 3 }),
    isCordoned: fc.boolean(),
  })
  .map((gpu) => ({ ...gpu, freeBytes: gpu.declaredBytes - gpu.reservedBytes }));
const manyRooms: fc.Arbitrary<readonly NodeRoom[]> = fc
  .array(fc.record({ free: fc.integer({ min: -5, max: 100 }), gpus: fc.array(gpuRooms, { maxLength: 5 }) }), {
    maxLength: 5,
  })
  .map((nodes) =>
    nodes.map(({ free, gpus }, at) => ({
      node: `node${at}`,
      backingBytes: 100,
      freeBackingBytes: free,
      gpus,
      holders: [],
    })),
  );
const wantedReplicas = fc
  .record({
    arrays: fc.integer({ min: 0, max: 60 }),
    backing: fc.integer({ min: 0, max: 60 }),
    pin: fc.option(fc.constantFrom('node0/0', 'node1/1', 'node9/0'), { nil: undefined }),
    isPicky: fc.boolean(),
  })
  .map(({ arrays, backing, pin, isPicky }) => ({
    needs: { arrayBytes: arrays, moduleBytes: 1, backingBytes: backing },
    ...(pin === undefined ? {} : { pin }),
    ...(isPicky ? { misfits: { t4: 'too few of everything' } } : {}),
  }));

describe('the place of a replica', () => {
  it('always fits, and is one of those where the least work waits; there is none only where none fits', () => {
    fc.assert(
      fc.property(manyRooms, wantedReplicas, (rooms, wanted) => {
        const outcome = placeReplica(rooms, wanted);
        expect(placeReplica(rooms, wanted)).toEqual(outcome);
        const fitting = rooms.flatMap(({ node, freeBackingBytes, gpus }) =>
          gpus.flatMap((gpu, at) =>
            replicaBytes(wanted.needs, gpu.contextBytes) <= gpu.freeBytes &&
            wanted.needs.backingBytes <= freeBackingBytes &&
            !gpu.isCordoned &&
            !(gpu.card === 't4' && wanted.misfits !== undefined) &&
            (wanted.pin === undefined || wanted.pin === gpuName(node, at))
              ? [{ node, at, gpu }]
              : [],
          ),
        );
        if (!outcome.ok) {
          expect(fitting).toEqual([]);
          return;
        }
        const place = fitting.find(({ node, at }) => node === outcome.place.node && at === outcome.place.gpu);
        expect(place?.gpu.waitingNs).toBe(Math.min(...fitting.map(({ gpu }) => gpu.waitingNs)));
      }),
    );
  });

  it('never takes a GPU or a node above what it has, however many are placed one after the other', () => {
    fc.assert(
      fc.property(manyRooms, fc.array(wantedReplicas, { maxLength: 40 }), (before, wanted) => {
        let rooms = before;
        for (const each of wanted) {
          const outcome = placeReplica(rooms, each);
          if (outcome.ok) rooms = withReplica(rooms, outcome.place, each.needs);
        }
        rooms.forEach((room, at) => {
          expect(room.freeBackingBytes).toBeGreaterThanOrEqual(Math.min(0, before[at].freeBackingBytes));
          room.gpus.forEach((gpu, index) => {
            expect(gpu.freeBytes).toBeGreaterThanOrEqual(Math.min(0, before[at].gpus[index].freeBytes));
            expect(gpu.freeBytes).toBe(gpu.declaredBytes - gpu.reservedBytes);
          });
        });
      }),
    );
  });

  it('goes where batches take the least time, then to the fewest replicas, then to the first', () => {
    const node = new Reservations('n', cards('h200', 'h200', 'h200'));
    const next = (): number => {
      const outcome = placeReplica([node.room()], { needs: needsOf(1) });
      return outcome.ok ? outcome.place.gpu : -1;
    };
    expect(next()).toBe(0);
    node.reserve(1, 0, identity, needsOf(1));
    node.reserve(2, 1, identity, needsOf(1));
    expect(next()).toBe(2);
    node.reserve(3, 2, identity, needsOf(1));
    expect(next()).toBe(0);
    // Both have answered once: one batch on GPU 0 takes longer than two on GPU 1, and on GPU 2 nobody knows yet how long.
    for (const [line, serviceNs] of [
      [1, 5000],
      [2, 1000],
    ]) {
      node.onSent(line);
      node.onAnswered(line, serviceNs);
    }
    node.onSent(1);
    for (let k = 0; k < 2; k++) node.onSent(2);
    node.onSent(3);
    expect(node.room().gpus.map(({ waitingNs }) => waitingNs)).toEqual([5000, 2000, 0]);
    expect(next()).toBe(2);
    node.onAnswered(3, 9000);
    node.onSent(3);
    expect(next()).toBe(1);
  });

  it('says of each GPU why it is none, the memory of the card and that behind all of a node in words of their own', () => {
    const full = new Reservations('full', cards('t4'));
    full.reserve(1, 0, identity, needsOf(14));
    const behind = new Reservations('behind', cards('h200', 'h200'));
    behind.reserve(1, 0, identity, needsOf(1, REPLICA_BACKING_BYTES - 100));
    behind.cordon(0, true);
    const outcome = placeReplica([full.room(), behind.room()], { needs: needsOf(2, 101) });
    expect(outcome).toEqual({ ok: false, reason: expect.any(String) as string });
    const { reason } = outcome as { reason: string };
    expect(reason).toContain(
      `full/0 (t4): ${15 * GIB - 14 * GIB - 40 * 2 ** 20} of its ${15 * GIB} bytes are free`,
    );
    expect(reason).toContain('behind/0 (h200): it is cordoned');
    expect(reason).toMatch(
      /behind\/1 \(h200\): .* and 100 of the \d+ that the simulation has for all GPUs of behind, of which a replica needs 101/,
    );
    const pinned = placeReplica([full.room(), behind.room()], { needs: needsOf(1), pin: 'node7/0' });
    expect(pinned).toMatchObject({
      reason: "it is pinned to GPU 'node7/0', which is not there: there are full/0, behind/0, behind/1",
    });
    const many = new Reservations(
      'many',
      new Array(1000).fill(profileNamed('t4')) as ReturnType<typeof cards>,
    );
    const crowd = placeReplica([many.room()], { needs: needsOf(20) }) as { reason: string };
    expect(crowd.reason).toMatch(/many\/63 \(t4\).*; and 936 more$/);
  });
});

describe('what replicas hold', () => {
  it('is given back once, and who waits for room is told', () => {
    const node = new Reservations('n', cards('h200'));
    let told = 0;
    node.watch(() => (told += 1));
    const empty = node.room();
    node.reserve(1, 0, identity, needsOf(3, 5));
    node.reserve(2, 0, { ...identity, replica: '1' }, needsOf(4, 6));
    // Of a GPU that is not there nothing can be held.
    node.reserve(3, 1, identity, needsOf(1));
    expect(node.room()).toMatchObject({
      freeBackingBytes: empty.freeBackingBytes - 11,
      gpus: [{ replicas: 2, reservedBytes: 7 * GIB + 2 * empty.gpus[0].contextBytes }],
    });
    const planned = withoutHolders([node.room()], ({ replica }) => replica === '1');
    node.release(1);
    node.release(1);
    node.release(3);
    expect(told).toBe(1);
    expect(planned).toEqual([node.room()]);
    node.releaseAll();
    node.releaseAll();
    expect(told).toBe(2);
    expect(node.room()).toEqual(empty);
  });

  it('is plain JSON', () => {
    const node = new Reservations('n', cards('h200', 't4'));
    node.reserve(1, 1, identity, needsOf(1));
    expect(JSON.parse(JSON.stringify(node.room()))).toEqual(node.room());
  });
});
