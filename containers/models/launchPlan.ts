import type { Dim3 } from '../../simulator/executor/index.js';
import { FieldError, evaluateField, scopeOf } from './deviceLayout.js';
import type { Scope } from './expression.js';
import type { KernelModelManifest, ManifestArgument } from './manifest.js';

/** One launch at one batch size, complete but for the addresses of device regions. */
export interface PlannedLaunch {
  readonly module: string;
  readonly kernel: string;
  readonly grid: Dim3;
  readonly block: Dim3;
  readonly dynamicSharedBytes: number;
  /** Argument bytes as PTX lays parameters out: in order, each aligned to its own size; zeros for pointers. */
  readonly params: Uint8Array;
  readonly pointers: readonly { readonly offset: number; readonly region: string }[];
  /** Where each argument lies, in order. */
  readonly layout: readonly { readonly offset: number; readonly bytes: number }[];
}

/** Limits of every CUDA device of compute capability 9.0. */
const MAX_GRID: Dim3 = [0x7fffffff, 65_535, 65_535];
const MAX_BLOCK: Dim3 = [1024, 1024, 64];
const MAX_BLOCK_THREADS = 1024;
const MAX_SHARED_BYTES = 232_448;

/** The model's launches for a batch of `batch` items, in order. @throws FieldError naming the field. */
export function planLaunches(manifest: KernelModelManifest, batch: number): readonly PlannedLaunch[] {
  const scope = scopeOf(manifest, batch);
  return manifest.launches.map((launch, index) => {
    const field = `launches[${index}]`;
    const grid = extents(launch.grid, MAX_GRID, scope, `${field}.grid`);
    const block = extents(launch.block, MAX_BLOCK, scope, `${field}.block`);
    const threads = block[0] * block[1] * block[2];
    if (threads > MAX_BLOCK_THREADS) {
      throw new FieldError(`${field}.block`, `${threads} threads, more than ${MAX_BLOCK_THREADS}`);
    }
    const sharedField = `${field}.dynamicSharedBytes`;
    const dynamicSharedBytes = evaluateField(launch.dynamicSharedBytes, scope, sharedField);
    if (dynamicSharedBytes > MAX_SHARED_BYTES) {
      throw new FieldError(sharedField, `${dynamicSharedBytes} bytes, more than ${MAX_SHARED_BYTES}`);
    }
    const { module, kernel } = launch;
    return {
      module,
      kernel,
      grid,
      block,
      dynamicSharedBytes,
      ...encodeArguments(launch.arguments, scope, `${field}.arguments`),
    };
  });
}

function extents(
  sources: readonly (string | number)[],
  limits: Dim3,
  scope: Scope,
  field: string,
): [number, number, number] {
  const [x, y, z] = sources.map((source, axis) => {
    const value = evaluateField(source, scope, `${field}[${axis}]`);
    if (value < 1 || value > limits[axis]) {
      throw new FieldError(`${field}[${axis}]`, `must be from 1 to ${limits[axis]}, is ${value}`);
    }
    return value;
  });
  return [x, y, z];
}

function encodeArguments(
  list: readonly ManifestArgument[],
  scope: Scope,
  field: string,
): Pick<PlannedLaunch, 'params' | 'pointers' | 'layout'> {
  const layout: { offset: number; bytes: number }[] = [];
  let end = 0;
  for (const argument of list) {
    const bytes = argumentBytes(argument);
    const offset = Math.ceil(end / bytes) * bytes;
    layout.push({ offset, bytes });
    end = offset + bytes;
  }
  const params = new Uint8Array(end);
  const view = new DataView(params.buffer);
  const pointers: { offset: number; region: string }[] = [];
  list.forEach((argument, index) => {
    const { offset } = layout[index];
    const at = `${field}[${index}]`;
    if ('pointer' in argument) pointers.push({ offset, region: argument.pointer });
    else if ('i32' in argument) view.setInt32(offset, bounded(argument.i32, scope, at, 0x7fffffff), true);
    else if ('u32' in argument) view.setUint32(offset, bounded(argument.u32, scope, at, 0xffffffff), true);
    else if ('i64' in argument) setInt64(view, offset, evaluateField(argument.i64, scope, at));
    else if ('u64' in argument) setInt64(view, offset, evaluateField(argument.u64, scope, at));
    else if ('f32' in argument) view.setFloat32(offset, argument.f32, true);
    else view.setFloat64(offset, argument.f64, true);
  });
  return { params, pointers, layout };
}

function argumentBytes(argument: ManifestArgument): number {
  return 'i32' in argument || 'u32' in argument || 'f32' in argument ? 4 : 8;
}

function bounded(source: string | number, scope: Scope, field: string, largest: number): number {
  const value = evaluateField(source, scope, field);
  if (value > largest) throw new FieldError(field, `must be at most ${largest}, is ${value}`);
  return value;
}

function setInt64(view: DataView, offset: number, value: number): void {
  view.setBigUint64(offset, BigInt(value), true);
}

/** The launch's argument bytes with addresses filled in. */
export function bindPointers(launch: PlannedLaunch, addresses: ReadonlyMap<string, number>): Uint8Array {
  const params = launch.params.slice();
  const view = new DataView(params.buffer);
  for (const { offset, region } of launch.pointers) {
    const address = addresses.get(region);
    if (address === undefined) throw new FieldError('launches', `nothing is named '${region}'`);
    setInt64(view, offset, address);
  }
  return params;
}
