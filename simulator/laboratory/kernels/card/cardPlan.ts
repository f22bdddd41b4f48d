import { bytesOf } from '../fixtureRun.js';
import type { KernelFixture } from '../kernelFixture.js';
import { argumentBytes, extents } from '../launchArguments.js';

/** What `runOnCard.py` does for one fixture; bytes are base64. */
export interface CardPlan {
  readonly name: string;
  /** Relative to the room. */
  readonly ptx: string;
  readonly buffers: Readonly<Record<string, string>>;
  readonly launches: readonly CardLaunch[];
}

export interface CardLaunch {
  readonly kernel: string;
  readonly grid: readonly number[];
  readonly block: readonly number[];
  readonly dynamicSharedBytes: number;
  readonly cooperative: boolean;
  /** Blocks of a cluster, where the launch says so. */
  readonly cluster?: readonly number[];
  readonly args: readonly {
    readonly bytes: string;
    readonly pointers: readonly { readonly offset: number; readonly buffer: string }[];
  }[];
}

export function cardPlan(fixture: KernelFixture): CardPlan {
  const { pathname } = fixture.ptx;
  return {
    name: fixture.name,
    ptx: pathname.split('/').slice(-2).join('/'),
    buffers: Object.fromEntries(
      Object.entries(fixture.buffers()).map(([name, array]) => [name, base64(bytesOf(array))]),
    ),
    launches: fixture.launches.map((launch) => ({
      kernel: launch.kernel,
      grid: extents(launch.grid),
      block: extents(launch.block),
      dynamicSharedBytes: launch.dynamicSharedBytes ?? 0,
      cooperative: launch.cooperative ?? false,
      ...(launch.cluster === undefined ? {} : { cluster: extents(launch.cluster) }),
      args: launch.args.map((argument) => {
        const { bytes, pointers } = argumentBytes(argument);
        return { bytes: base64(bytes), pointers };
      }),
    })),
  };
}

export function base64(bytes: Uint8Array): string {
  return Buffer.from(bytes.buffer, bytes.byteOffset, bytes.byteLength).toString('base64');
}
