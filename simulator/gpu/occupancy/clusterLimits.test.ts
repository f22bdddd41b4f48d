import { describe, expect, it } from 'vitest';
import type { Dim3 } from '../../executor/index.js';
import { parseModule } from '../../ptx/index.js';
import { GpuError } from '../gpuError.js';
import { profileNamed } from '../profiles/index.js';
import { activeClusters } from './occupancy.js';
import { checkCluster, launchCluster } from './clusterLimits.js';

function kernel(directives = '') {
  const text = `.version 9.0\n.target sm_90\n.address_size 64\n.entry k() ${directives} { ret; }`;
  const [fn] = parseModule(text, 'k.ptx').functions;
  if (fn === undefined) throw new Error('no kernel');
  return fn;
}

interface Asked {
  readonly grid?: Dim3;
  readonly cluster?: Dim3;
  readonly card?: string;
  readonly nonPortableCluster?: boolean;
}

/** What is said of a launch; nothing where it is right. */
function said(
  { grid = [32, 4, 1], cluster, card = 'h200', nonPortableCluster }: Asked,
  directives = '',
): string {
  const fn = kernel(directives);
  try {
    const shape = { grid, block: [32, 1, 1], dynamicSharedBytes: 0, nonPortableCluster } as const;
    checkCluster(profileNamed(card), fn, { ...shape, cluster: launchCluster(fn, cluster) });
    return '';
  } catch (error) {
    if (!(error instanceof GpuError) || error.field !== 'cluster' || error.code !== 'invalidLaunch')
      throw error;
    return error.message;
  }
}

describe('the cluster of a launch', () => {
  it.each([
    [{}, ''],
    [{ cluster: [1, 1, 1] }, ''],
    [{ cluster: [1, 1, 1], card: 'a100' }, ''],
    [{ cluster: [4, 2, 1] }, ''],
    [{ cluster: [16, 1, 1], nonPortableCluster: true }, ''],
    [{}, '.reqnctapercluster 2, 2'],
    [{ cluster: [2, 2, 1] }, '.reqnctapercluster 2, 2'],
    [{ cluster: [2, 1, 1] }, '.explicitcluster .maxclusterrank 2'],
    [{ cluster: [8, 1, 1] }, '.maxclusterrank 0'],
  ] as const)('%j is taken %s', (asked: Asked, directives) => {
    expect(said(asked, directives)).toBe('');
  });

  it.each([
    [{ cluster: [0, 1, 1] }, '', 'cluster: 0 in x; a whole number, 1 or more, is expected'],
    [
      { cluster: [3, 1, 1] },
      '',
      'cluster: 3 in x does not divide grid.x, 32: make the grid a multiple of it',
    ],
    [{ cluster: [2, 1, 2] }, '', 'cluster: 2 in z does not divide grid.z, 1'],
    [
      { cluster: [16, 1, 1] },
      '',
      'cluster: 16 blocks; more than 8, up to 16 on h200, need nonPortableCluster',
    ],
    [{ cluster: [32, 1, 1], nonPortableCluster: true }, '', 'cluster: 32 blocks; the limit is 16 on h200'],
    [
      { cluster: [2, 1, 1], card: 'a100' },
      '',
      'cluster: 2x1x1, which a100 has not: clusters of blocks came with',
    ],
    [{ cluster: [2, 1, 1], card: '8800gtx' }, '', 'which 8800gtx has not'],
    [{ card: 't4' }, '.reqnctapercluster 2', 'which t4 has not'],
    [{ cluster: [4, 1, 1] }, '.maxclusterrank 2', "cluster: 4 blocks; the limit is .maxclusterrank 2 of 'k'"],
    [{}, '.explicitcluster', "cluster: none, but 'k' is .explicitcluster: give the launch a cluster"],
    [
      { cluster: [4, 1, 1] },
      '.reqnctapercluster 2',
      "cluster: 4x1x1, but 'k' has .reqnctapercluster 2: leave",
    ],
  ] as const)('%j %s is refused', (asked: Asked, directives, message) => {
    expect(said(asked, directives)).toContain(message);
  });
});

describe('clusters that the device holds at once', () => {
  // GPCs of 18, 16 and 8 SMs; with one block an SM as a card answered.
  it.each([
    [1, 1, 132],
    [1, 2, 66],
    [1, 4, 30],
    [1, 8, 15],
    [1, 16, 7],
    [2, 16, 15],
    [2, 12, 21],
    [0, 2, 0],
  ])('%i blocks an SM, %i a cluster: %i', (blocksPerSm, size, clusters) => {
    expect(activeClusters(profileNamed('h200'), blocksPerSm, size)).toBe(clusters);
  });
});
