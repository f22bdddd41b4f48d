import type { Resampling } from '../layers/windowLayers.js';

/** How Resize makes one axis of another extent; names are those of the operator's attributes. */
export interface ResizeOptions {
  readonly extent: number;
  readonly out: number;
  /** Of the output over the input. */
  readonly scale: number;
  readonly mode: 'nearest' | 'linear' | 'cubic';
  readonly transformation: string;
  readonly nearest: string;
  readonly cubic: number;
  readonly excludesOutside: boolean;
  readonly antialias: boolean;
  /** Start and end of the region, of the extent. */
  readonly crop: readonly [number, number];
  readonly otherwise: number;
}

/** The taps of each new element, as the operator's reference has them. */
export function resamplingOf(options: ResizeOptions): Resampling {
  const taps = Array.from({ length: options.out }, (_, k) => tapsAt(options, originalPlace(options, k)));
  const most = Math.max(1, ...taps.map((list) => list.length));
  const places = new Int32Array(options.out * most);
  const weights = new Float32Array(options.out * most);
  taps.forEach((list, k) => {
    list.forEach(([place, weight], tap) => {
      places[k * most + tap] = place;
      weights[k * most + tap] = weight;
    });
  });
  return { taps: most, places, weights };
}

function originalPlace({ extent, out, scale, transformation, crop }: ResizeOptions, k: number): number {
  // Corners are those of the extent before it is rounded down, as ONNX's reference has it.
  const wide = Math.abs(scale * extent - out) < 1e-5 ? out : scale * extent;
  switch (transformation) {
    case 'align_corners':
      return out === 1 ? 0 : (k * (extent - 1)) / (wide - 1);
    case 'asymmetric':
      return k / scale;
    case 'pytorch_half_pixel':
      return out === 1 ? -0.5 : (k + 0.5) / scale - 0.5;
    case 'tf_half_pixel_for_nn':
      return (k + 0.5) / scale;
    case 'half_pixel_symmetric': {
      const adjustment = out / (scale * extent);
      const centre = extent / 2;
      return centre * (1 - adjustment) + (k + 0.5) / scale - 0.5;
    }
    case 'tf_crop_and_resize': {
      const [start, end] = crop;
      return out === 1
        ? 0.5 * (start + end) * (extent - 1)
        : start * (extent - 1) + (k * (end - start) * (extent - 1)) / (out - 1);
    }
    default:
      return (k + 0.5) / scale - 0.5;
  }
}

type Tap = readonly [place: number, weight: number];

function tapsAt(options: ResizeOptions, at: number): readonly Tap[] {
  const { extent, mode, transformation } = options;
  if (transformation === 'tf_crop_and_resize' && (at < 0 || at > extent - 1)) return [[-1, 0]];
  if (mode === 'nearest') return [[clamped(nearestPlace(options.nearest, at), extent), 1]];
  const weight = mode === 'linear' ? linear : (distance: number) => cubic(distance, options.cubic);
  const reach = mode === 'linear' ? 1 : 2;
  // Where many elements become one, each tap is as wide as they are.
  const width = options.antialias ? Math.max(1, 1 / options.scale) : 1;
  const first = Math.floor(at - reach * width) + 1;
  const last = Math.ceil(at + reach * width) - 1;
  const list: [number, number][] = [];
  for (let place = Math.min(first, Math.floor(at)); place <= Math.max(last, Math.floor(at) + 1); place++) {
    const isOutside = place < 0 || place >= extent;
    const share = options.excludesOutside && isOutside ? 0 : weight((place - at) / width);
    list.push([clamped(place, extent), share]);
  }
  const sum = list.reduce((total, [, share]) => total + share, 0);
  return list.map(([place, share]) => [place, share / sum]);
}

function nearestPlace(mode: string, at: number): number {
  switch (mode) {
    case 'floor':
      return Math.floor(at);
    case 'ceil':
      return Math.ceil(at);
    case 'round_prefer_ceil':
      return Math.floor(at + 0.5);
    default:
      return Math.ceil(at - 0.5);
  }
}

function linear(distance: number): number {
  return Math.max(0, 1 - Math.abs(distance));
}

function cubic(distance: number, a: number): number {
  const x = Math.abs(distance);
  if (x < 1) return ((a + 2) * x - (a + 3)) * x * x + 1;
  return x < 2 ? ((x - 5) * x + 8) * x * a - 4 * a : 0;
}

function clamped(place: number, extent: number): number {
  return Math.min(Math.max(place, 0), extent - 1);
}
