import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { packageRoot } from '../../../simulator/files/index.js';
import { KeyedDraw } from '../../../selection/index.js';
import type { Dim3 } from '../../../simulator/executor/index.js';
import { argumentBytes, type LaunchArgument, type StudiedLaunch, type StudiedModel } from './studiedModel.js';

/** A map of features in a buffer of its own. */
export interface Tensor {
  readonly buffer: string;
  readonly channels: number;
  readonly height: number;
  readonly width: number;
}

const FILE = 'loadtest/experiments/faults/networks.ptx';
const MODULE = 'networks';
const THREADS = 64;
const FLOAT_BYTES = 4;

/** Puts a network together from the kernels of `networks.cu`: a buffer for each result, weights drawn by seed. */
export class NetworkBuilder {
  private readonly buffers = new Map<string, { bytes: number; contents?: Uint8Array }>();
  private readonly launches: StudiedLaunch[] = [];
  private readonly draw: KeyedDraw;

  constructor(seed: number) {
    this.draw = new KeyedDraw(seed);
  }

  image(channels: number, height: number, width: number): Tensor {
    return { buffer: this.floats(channels * height * width), channels, height, width };
  }

  convolution(from: Tensor, filters: number, size: 1 | 3 | 5, stride = 1): Tensor {
    const to = this.image(filters, Math.ceil(from.height / stride), Math.ceil(from.width / stride));
    const inputs = from.channels * size * size;
    this.launch(
      `convolution${size}`,
      pixelGrid(to),
      [THREADS, 1, 1],
      [
        to,
        from,
        { buffer: this.weights(filters * inputs, inputs) },
        { buffer: this.weights(filters, 1) },
        from.channels,
        from.height,
        from.width,
        stride,
        to.height,
        to.width,
      ],
    );
    return to;
  }

  depthwise(from: Tensor, stride = 1): Tensor {
    const to = this.image(from.channels, Math.ceil(from.height / stride), Math.ceil(from.width / stride));
    this.launch(
      'depthwise3',
      pixelGrid(to),
      [THREADS, 1, 1],
      [
        to,
        from,
        { buffer: this.weights(from.channels * 9, 9) },
        { buffer: this.weights(from.channels, 1) },
        from.height,
        from.width,
        stride,
        to.height,
        to.width,
      ],
    );
    return to;
  }

  pool(from: Tensor): Tensor {
    const to = this.image(from.channels, from.height / 2, from.width / 2);
    this.launch('maxPool2', pixelGrid(to), [THREADS, 1, 1], [to, from, from.height, from.width]);
    return to;
  }

  average(from: Tensor): Tensor {
    const to = this.image(from.channels, 1, 1);
    this.launch('averageAll', [from.channels, 1, 1], [THREADS, 1, 1], [to, from, from.height * from.width]);
    return to;
  }

  concatenation(a: Tensor, b: Tensor): Tensor {
    const to = this.image(a.channels + b.channels, a.height, a.width);
    const count = sizeOf(to);
    this.launch('concatenate', rowGrid(count), [THREADS, 1, 1], [to, a, b, sizeOf(a), sizeOf(b)]);
    return to;
  }

  sum(a: Tensor, b: Tensor): Tensor {
    const to = this.image(a.channels, a.height, a.width);
    this.launch('addRelu', rowGrid(sizeOf(to)), [THREADS, 1, 1], [to, a, b, sizeOf(to)]);
    return to;
  }

  dense(from: Tensor, outputs: number): Tensor {
    const to = this.image(outputs, 1, 1);
    const inputs = sizeOf(from);
    this.launch(
      'dense',
      [outputs, 1, 1],
      [THREADS, 1, 1],
      [
        to,
        from,
        { buffer: this.weights(outputs * inputs, inputs) },
        { buffer: this.weights(outputs, 1) },
        inputs,
      ],
    );
    return to;
  }

  softmax(from: Tensor): Tensor {
    const to = this.image(from.channels, 1, 1);
    this.launch('softmax', [1, 1, 1], [THREADS, 1, 1], [to, from, from.channels]);
    return to;
  }

  /** Zeros. */
  floats(count: number): string {
    return this.buffer(FLOAT_BYTES * count);
  }

  /** Uniform around 0, so that a sum over so many inputs keeps their size. */
  weights(count: number, inputs: number): string {
    const name = `w${this.buffers.size}`;
    const next = this.draw.of(name);
    const most = Math.sqrt(3 / inputs);
    const contents = new Uint8Array(
      Float32Array.from({ length: count }, () => (2 * next() - 1) * most).buffer,
    );
    this.buffers.set(name, { bytes: contents.length, contents });
    return name;
  }

  launch(kernel: string, grid: Dim3, block: Dim3, args: readonly (Tensor | LaunchArgument)[]): void {
    const plain = args.map((each) =>
      typeof each === 'object' && 'channels' in each ? { buffer: each.buffer } : each,
    );
    this.launches.push({ module: MODULE, kernel, grid, block, ...argumentBytes(plain) });
  }

  model(
    name: string,
    input: { readonly buffer: string; readonly contents: Uint8Array },
    output: string,
  ): StudiedModel {
    const ptx = readFileSync(join(packageRoot(), FILE), 'utf8');
    return {
      name,
      modules: new Map([[MODULE, ptx]]),
      buffers: this.buffers,
      input,
      output,
      launches: this.launches,
    };
  }

  /** Uniform in [0, 1). */
  drawn(buffer: string): Uint8Array {
    const next = this.draw.of(`input ${buffer}`);
    const bytes = this.buffers.get(buffer)?.bytes ?? 0;
    return new Uint8Array(Float32Array.from({ length: bytes / FLOAT_BYTES }, () => next()).buffer);
  }

  private buffer(bytes: number): string {
    const name = `b${this.buffers.size}`;
    this.buffers.set(name, { bytes });
    return name;
  }
}

export function rowGrid(count: number): Dim3 {
  return [Math.ceil(count / THREADS), 1, 1];
}

function pixelGrid({ channels, height, width }: Tensor): Dim3 {
  return [Math.ceil((height * width) / THREADS), channels, 1];
}

function sizeOf({ channels, height, width }: Tensor): number {
  return channels * height * width;
}
