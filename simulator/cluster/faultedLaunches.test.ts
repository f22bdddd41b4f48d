import { readFileSync } from 'node:fs';
import { resolve } from 'node:path';
import { describe, expect, it } from 'vitest';
import type { FaultOptions } from '../faults/index.js';
import { profileNamed } from '../gpu/index.js';
import { VirtualClock } from '../time/index.js';
import { GpuNode } from './index.js';
import { STRIDES } from './tests/killedKernel.js';
import { pointerParams, Session } from './tests/session.js';

const ELEMENTS = 2048;
const H200 = profileNamed('h200');
const MEETING = resolve(import.meta.dirname, '../launchSpec/fixtures/parameters.ptx');

function open(recovery: string, faults: FaultOptions | undefined): Session {
  const clock = new VirtualClock();
  const node = new GpuNode(clock, {
    gpus: ['h200'],
    backingBytes: 2 ** 25,
    recovery,
    ...(faults === undefined ? {} : { faults }),
  });
  return new Session(node, clock).open();
}

function read(session: Session, address: number, bytes: number): Uint8Array {
  const { result, failure } = session.call('memcpyDeviceToHost', { address, bytes, pinned: true });
  if (result?.bytes === undefined) throw new Error(failure?.message);
  return result.bytes;
}

/** Three launches of a graph, one after another, each of which doubles what is there and adds one. @returns their runs, and what they leave */
function graph(recovery: string, launch?: number): { runs: (number | undefined)[]; bytes: Uint8Array } {
  const session = open(recovery, launch === undefined ? undefined : { at: [{ launch, part: 0.6 }] });
  const module = session.handle('moduleLoad', { ptx: STRIDES, file: 'strides.ptx' });
  const address = session.handle('malloc', { bytes: 4 * ELEMENTS });
  session.call('memset', { address, value: 1, bytes: 4 * ELEMENTS });
  const params = new Uint8Array(20);
  params.set(pointerParams(address), 0);
  params.set(pointerParams(address, ELEMENTS), 8);
  const node = {
    op: 'launch',
    args: { module, kernel: 'strides', grid: [4, 1, 1], block: [64, 1, 1], dynamicSharedBytes: 0, params },
  } as const;
  const made = session.handle('graphCreate', {});
  for (const after of [[], [0], [1]]) session.call('graphAddNode', { graph: made, after, node });
  const exec = session.handle('graphInstantiate', { graph: made });
  const { result } = session.call('graphLaunch', { exec });
  return {
    runs: result?.nodes?.map((each) => each.result.launch?.runs) ?? [],
    bytes: read(session, address, 4 * ELEMENTS),
  };
}

/** Blocks that meet at barriers of the grid. */
function meeting(recovery: string, faults?: FaultOptions): { runs: number | undefined; bytes: Uint8Array } {
  const blocks = 8;
  const session = open(recovery, faults);
  const module = session.handle('moduleLoad', { ptx: readFileSync(MEETING, 'utf8'), file: 'parameters.ptx' });
  const bytes = blocks * 64 * 4;
  const address = session.handle('malloc', { bytes });
  session.call('memset', { address, value: 1, bytes });
  const { result, failure } = session.call('launch', {
    module,
    kernel: 'meeting',
    grid: [blocks, 1, 1],
    block: [64, 1, 1],
    dynamicSharedBytes: 0,
    params: pointerParams(address, 2),
    cooperative: true,
  });
  if (failure !== undefined) throw new Error(failure.message);
  return { runs: result?.launch?.runs, bytes: read(session, address, bytes) };
}

describe('faults strike', () => {
  it.each(['restore', 'klevel', 'verdicts'])('nodes of graphs, which run again under %s', (recovery) => {
    const clean = graph(recovery);
    expect(clean.runs).toEqual([undefined, undefined, undefined]);
    for (const launch of [0, 1, 2]) {
      const { runs, bytes } = graph(recovery, launch);
      expect(runs).toEqual([0, 1, 2].map((node) => (node === launch ? 2 : undefined)));
      expect(bytes).toEqual(clean.bytes);
    }
  });

  it.each(['restore', 'verdicts'])('launches whose blocks wait for one another, under %s', (recovery) => {
    const clean = meeting('none');
    for (const part of [0, 0.5]) {
      const { runs, bytes } = meeting(recovery, { kind: 'bitFlip', at: [{ launch: 0, block: 5, part }] });
      expect(runs).toBe(2);
      expect(bytes).toEqual(clean.bytes);
    }
  });

  it('launches that fail by themselves too: that ends them, whatever recovers', () => {
    const session = open('verdicts', { rate: 0 });
    const params = new Uint8Array(20);
    params.set(pointerParams(0, ELEMENTS), 8);
    const module = session.handle('moduleLoad', { ptx: STRIDES, file: 'strides.ptx' });
    const { failure } = session.call('launch', {
      module,
      kernel: 'strides',
      grid: [1, 1, 1],
      block: [64, 1, 1],
      dynamicSharedBytes: 0,
      params,
    });
    expect(failure?.fault?.code).toBe('illegalAddress');
  });
});

describe('memory that is saved at the host', () => {
  const MIB = 2 ** 20;

  /** A launch before which 4 MiB are saved, while a copy of `otherBytes` is on its way to the host. */
  function saved(otherBytes: number): {
    launchNs: number;
    copyNs: number;
    toHostBytes: number;
    saveNs: number;
  } {
    const clock = new VirtualClock();
    const node = new GpuNode(clock, {
      gpus: ['h200'],
      backingBytes: 128 * MIB,
      recovery: 'restore',
      saveTo: 'host',
    });
    const session = new Session(node, clock).open();
    const other = new Session(node, clock).open();
    const module = session.handle('moduleLoad', { ptx: STRIDES, file: 'strides.ptx' });
    const address = session.handle('malloc', { bytes: 4 * MIB });
    const source = other.handle('malloc', { bytes: 64 * MIB });
    const fromNs = clock.nowNs();
    let copy = -1;
    if (otherBytes > 0) {
      copy = other.send('memcpyDeviceToHost', { address: source, bytes: otherBytes, pinned: true });
      clock.run(fromNs + 100_000);
    }
    const params = new Uint8Array(20);
    params.set(pointerParams(address), 0);
    params.set(pointerParams(address, ELEMENTS), 8);
    const begunNs = clock.nowNs();
    const { timeNs, failure } = session.call('launch', {
      module,
      kernel: 'strides',
      grid: [4, 1, 1],
      block: [64, 1, 1],
      dynamicSharedBytes: 0,
      params,
    });
    if (failure !== undefined) throw new Error(failure.message);
    clock.run();
    const { copies, faults } = node.reading(0);
    return {
      launchNs: timeNs - begunNs,
      copyNs: (other.find(copy)?.timeNs ?? fromNs) - fromNs,
      toHostBytes: copies.toHostBytes,
      saveNs: faults?.saveNs ?? NaN,
    };
  }

  it('waits for the copy engine as other copies do, and leaves those their rate', () => {
    const alone = saved(0);
    const beside = saved(32 * MIB);
    const twice = saved(64 * MIB);
    expect(alone.toHostBytes).toBe(4 * MIB);
    expect(beside.toHostBytes).toBe(36 * MIB);
    // The copy has the bus to itself until its end; the launch's memory follows.
    const linkNs = (bytes: number): number => (bytes / H200.copies.hostLinkBytesPerSecond) * 1e9;
    expect(twice.copyNs - beside.copyNs).toBeCloseTo(linkNs(32 * MIB), -1);
    expect(twice.saveNs - beside.saveNs).toBeCloseTo(linkNs(32 * MIB), -1);
    expect(beside.launchNs - alone.launchNs).toBeGreaterThan(linkNs(32 * MIB) - 120_000);
  });
});
