import type { InputEncoding } from '../encoding/index.js';
import type { ManifestArgument } from '../manifest.js';

/** Values on the device, `width` of them an item: the input, or what a launch leaves behind. */
export interface Tensor {
  readonly name: string;
  readonly element: 'u8' | 'i32' | 'f32' | 'f64';
  readonly width: number;
}

export type WeightValues = Float32Array | Float64Array | Int32Array;

/** Modules of the kernel library, by the name of their file. */
export type LibraryModule =
  | 'dense'
  | 'elementwise'
  | 'images'
  | 'maths'
  | 'pairs'
  | 'products'
  | 'recurrent'
  | 'reductions'
  | 'rows'
  | 'strided'
  | 'terms'
  | 'trees'
  | 'trigonometry'
  | 'windows';

type Extent = string | number;

export interface DraftLaunch {
  readonly module: LibraryModule;
  readonly kernel: string;
  readonly grid: readonly [Extent, Extent, Extent];
  readonly block: readonly [number, number, number];
  readonly dynamicSharedBytes?: number;
  readonly arguments: readonly ManifestArgument[];
  /** PTX thread-instructions of one item, estimated from the kernel's loops. */
  readonly instructions: number;
}

export interface DraftWeight {
  readonly name: string;
  readonly values: WeightValues;
}

/** How a query's text, or its row of columns, becomes numbers. */
export interface DraftEncoding {
  readonly columns: readonly string[] | undefined;
  readonly encoding: InputEncoding;
}

const INPUT_ELEMENTS = { floats: 'f32', doubles: 'f64', integers: 'i32', bytes: 'u8' } as const;
export type ImportInputType = keyof typeof INPUT_ELEMENTS;
export const IMPORT_INPUT_TYPES = Object.keys(INPUT_ELEMENTS) as ImportInputType[];

/** A kernel model in the making: layers add weights, buffers and launches in the order in which they run. */
export class ModelDraft {
  readonly input: Tensor;
  /** Inputs may have NaN, for values that are missing. */
  takesMissing = false;
  /** Of a model of strings: how they become the doubles that the input is. */
  encoding: DraftEncoding | undefined;
  readonly weights: DraftWeight[] = [];
  readonly tensors: Tensor[] = [];
  readonly launches: DraftLaunch[] = [];
  private readonly counts = new Map<string, number>();

  constructor(
    readonly inputType: ImportInputType,
    readonly inputShape: readonly number[],
  ) {
    const width = inputShape.reduce((product, extent) => product * extent, 1);
    this.input = { name: 'input', element: INPUT_ELEMENTS[inputType], width };
  }

  /** A name for a layer that no other has: dense1, dense2, … */
  layerName(kind: string): string {
    const count = (this.counts.get(kind) ?? 0) + 1;
    this.counts.set(kind, count);
    return `${kind}${count}`;
  }

  /** @returns the argument that points at the values. */
  weight(name: string, values: WeightValues): ManifestArgument {
    this.weights.push({ name, values });
    return { pointer: name };
  }

  tensor(name: string, element: Tensor['element'], width: number): Tensor {
    const tensor = { name, element, width };
    this.tensors.push(tensor);
    return tensor;
  }

  launch(launch: DraftLaunch): void {
    this.launches.push(launch);
  }

  /** One thread for each of `width` elements an item, in blocks of 128. */
  launchElements(
    launch: Pick<DraftLaunch, 'module' | 'kernel' | 'arguments'> & {
      readonly width: number;
      readonly instructionsEach: number;
    },
  ): void {
    const { module, kernel, width, instructionsEach } = launch;
    this.launches.push({
      module,
      kernel,
      grid: [`ceilDiv(batch * ${width}, 128)`, 1, 1],
      block: [128, 1, 1],
      arguments: launch.arguments,
      instructions: width * instructionsEach + 128 * 12,
    });
  }
}

export function pointerTo(tensor: Tensor): ManifestArgument {
  return { pointer: tensor.name };
}

/** Elements of the whole batch. */
export function countOf(width: number): ManifestArgument {
  return { i64: `batch * ${width}` };
}
