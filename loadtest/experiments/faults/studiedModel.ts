import type { Dim3 } from '../../../simulator/executor/index.js';

/** One launch of a model's pass, with zeros where pointers go. */
export interface StudiedLaunch {
  readonly module: string;
  readonly kernel: string;
  readonly grid: Dim3;
  readonly block: Dim3;
  readonly params: Uint8Array;
  readonly pointers: readonly { readonly offset: number; readonly buffer: string }[];
}

/** A model of which every pass does the same: copies its input to the device, launches, and copies its output back. */
export interface StudiedModel {
  readonly name: string;
  /** PTX by name. */
  readonly modules: ReadonlyMap<string, string>;
  /** Bytes of each buffer and what it holds before the first pass; zeros unless told. */
  readonly buffers: ReadonlyMap<string, { readonly bytes: number; readonly contents?: Uint8Array }>;
  readonly input: { readonly buffer: string; readonly contents: Uint8Array };
  readonly output: string;
  readonly launches: readonly StudiedLaunch[];
}

export type LaunchArgument = { readonly buffer: string } | { readonly float: number } | number;

/** Lays arguments out as PTX does: each at a multiple of its own size. Numbers are 32-bit integers. */
export function argumentBytes(args: readonly LaunchArgument[]): Pick<StudiedLaunch, 'params' | 'pointers'> {
  const pointers: { offset: number; buffer: string }[] = [];
  const view = new DataView(new ArrayBuffer(8 * args.length));
  let end = 0;
  for (const argument of args) {
    if (typeof argument === 'object' && 'buffer' in argument) {
      end = 8 * Math.ceil(end / 8);
      pointers.push({ offset: end, buffer: argument.buffer });
      end += 8;
      continue;
    }
    if (typeof argument === 'number') view.setInt32(end, argument, true);
    else view.setFloat32(end, argument.float, true);
    end += 4;
  }
  return { params: new Uint8Array(view.buffer, 0, end), pointers };
}
