import type { IrFunction } from '../ptx/index.js';
import {
  resourceBytes,
  TextureError,
  textureObject,
  type Sampler,
  type TextureResource,
} from '../executor/index.js';
import type {
  BufferSpec,
  ContentsSpec,
  PlacedValue,
  PointerSpec,
  SurfaceSpec,
  TextureSpec,
} from './argumentSchema.js';
import { packArguments, writeValue, type SpecAddresses } from './arguments.js';
import { PIECE_BYTES, fillPiece, isUnwritten } from './bufferContents.js';
import { elementBytes, type ElementType } from './elementTypes.js';
import { LaunchSpecError } from './launchSpecError.js';
import type { LaunchSpec } from './schema.js';
import { sizeOf } from './valueLayout.js';

/** The device that a spec is placed on. */
export interface SpecHost {
  /** Zeroed memory. @returns its device address */
  allocate(bytes: number): number;
  write(address: number, bytes: Uint8Array): void;
  free(address: number): void;
  /** Makes a texture object, or a surface object where no sampler is given. @returns its handle */
  createObject(resource: TextureResource, sampler: Sampler | undefined): number;
  /** Variables of the module in `.global` and `.const`. */
  readonly symbols: readonly SpecSymbol[];
}

export interface SpecSymbol {
  readonly name: string;
  readonly address: number;
  readonly bytes: number;
}

/** A buffer of the spec on the device. */
export interface PlacedBuffer {
  readonly spec: BufferSpec;
  readonly address: number;
  readonly bytes: number;
  /** Its path in the spec, such as `args[2].buffer`. */
  readonly path: string;
  /** Place in `args` of the argument that holds it; undefined for one that a module variable points to. */
  readonly arg?: number;
  /** Whether it is that argument itself, and not part of a structure. */
  readonly isArgument: boolean;
}

/** Elements to report when the kernel has run. */
export interface PlacedOutput {
  readonly arg?: number;
  readonly name?: string;
  readonly type: ElementType;
  readonly count: number;
  readonly address: number;
}

export interface PlacedSpec {
  readonly params: Uint8Array;
  readonly buffers: readonly PlacedBuffer[];
  readonly outputs: readonly PlacedOutput[];
}

/** What a launch is given, of a spec. */
export type GivenValues = Pick<LaunchSpec, 'args' | 'symbols'>;

/**
 * Allocates and fills a spec's buffers, sets module variables and packs the arguments.
 * @param shared buffers that are there already, for pointers by name
 * @throws LaunchSpecError `invalidSpec` for what does not fit the kernel or the module, and what the host throws
 */
export function placeSpec(
  spec: GivenValues,
  kernel: IrFunction,
  host: SpecHost,
  shared: readonly PlacedBuffer[] = [],
): PlacedSpec {
  const placement = new Placement(spec, host, shared);
  placement.placeBuffers();
  const params = packArguments(kernel, spec.args, placement);
  placement.setSymbols();
  return { params, buffers: placement.buffers, outputs: placement.outputs };
}

/** Sets module variables by themselves, for any launch of the module. @throws as `placeSpec` */
export function placeSymbols(
  symbols: LaunchSpec['symbols'],
  host: SpecHost,
  shared: readonly PlacedBuffer[],
): Omit<PlacedSpec, 'params'> {
  const placement = new Placement({ args: [], symbols }, host, shared);
  placement.placeBuffers();
  placement.setSymbols();
  return { buffers: placement.buffers, outputs: placement.outputs };
}

/** Allocates and fills buffers that no argument holds. @throws as `placeSpec` */
export function placeNamedBuffers(
  buffers: readonly { readonly spec: BufferSpec; readonly path: string }[],
  host: SpecHost,
): Omit<PlacedSpec, 'params'> {
  const placement = new Placement({ args: [], symbols: {} }, host);
  for (const { spec, path } of buffers) placement.place(spec, path, undefined, false);
  placement.freeDangling();
  return { buffers: placement.buffers, outputs: placement.outputs };
}

class Placement implements SpecAddresses {
  readonly buffers: PlacedBuffer[] = [];
  readonly outputs: PlacedOutput[] = [];
  private readonly byName = new Map<string, PlacedBuffer>();

  constructor(
    private readonly spec: GivenValues,
    private readonly host: SpecHost,
    shared: readonly PlacedBuffer[] = [],
  ) {
    for (const each of shared) if (each.spec.name !== undefined) this.byName.set(each.spec.name, each);
  }

  placeBuffers(): void {
    this.spec.args.forEach((argument, arg) => this.visit(argument, `args[${arg}]`, arg, true));
    for (const [name, value] of Object.entries(this.spec.symbols)) {
      this.symbol(name);
      this.visit(value, `symbols.${name}`, undefined, false);
    }
    this.freeDangling();
  }

  freeDangling(): void {
    for (const { spec, address } of this.buffers) if (spec.freed) this.host.free(address);
  }

  place(spec: BufferSpec, path: string, arg: number | undefined, isArgument: boolean): void {
    const { name, type, count } = spec;
    if (name !== undefined && this.byName.has(name)) {
      throw invalid(`${path}.name`, `'${name}' is the name of ${this.byName.get(name)?.path ?? ''} already`);
    }
    if (spec.out && !isArgument && name === undefined)
      throw invalid(`${path}.name`, 'is missing; a reported buffer that is no argument itself needs a name');
    const bytes = count * elementBytes(type);
    const address = this.host.allocate(bytes);
    this.fill(spec, address, path);
    const owner = arg === undefined ? {} : { arg };
    const placed: PlacedBuffer = { spec, address, bytes, path, isArgument, ...owner };
    this.buffers.push(placed);
    if (name !== undefined) this.byName.set(name, placed);
    if (spec.out)
      this.outputs.push({ ...owner, ...(name === undefined ? {} : { name }), type, count, address });
  }

  setSymbols(): void {
    for (const [name, value] of Object.entries(this.spec.symbols)) {
      const path = `symbols.${name}`;
      const symbol = this.symbol(name);
      const { bytes } = sizeOf(value, path);
      if (bytes !== symbol.bytes)
        throw invalid(path, `${bytes} bytes given, but the variable has ${symbol.bytes}; give exactly that`);
      const contents = new Uint8Array(bytes);
      writeValue(contents, value, path, this);
      this.host.write(symbol.address, contents);
      if (!('array' in value) || !value.array.out) continue;
      const { type, count } = value.array;
      this.outputs.push({ name, type, count, address: symbol.address });
    }
  }

  buffer(spec: BufferSpec): number {
    const placed = this.buffers.find((each) => each.spec === spec);
    if (placed === undefined) throw new RangeError('a buffer that was never placed');
    return placed.address;
  }

  object(spec: TextureSpec | SurfaceSpec, path: string): number {
    const placed =
      spec.buffer === undefined ? undefined : this.buffers.find((each) => each.spec === spec.buffer);
    const memory = placed ?? this.bufferOf(spec.of, `${path}.of`);
    const sampler = 'sampler' in spec ? spec.sampler : undefined;
    const resource = { ...spec.resource, address: memory.address };
    try {
      const bytes = resourceBytes(textureObject(resource, sampler).resource);
      if (bytes > memory.bytes)
        throw invalid(
          `${path}.resource`,
          `takes ${bytes} bytes, but ${memory.path} has ${memory.bytes}; give it more elements`,
        );
    } catch (error) {
      if (!(error instanceof TextureError)) throw error;
      throw invalid(`${path}.${error.field}`, error.message.slice(error.field.length + 2));
    }
    return this.host.createObject(resource, sampler);
  }

  pointer({ of, symbol }: PointerSpec, path: string): number {
    if (symbol !== undefined) return this.symbol(symbol, `${path}.symbol`).address;
    return this.bufferOf(of, `${path}.of`).address;
  }

  /** @param of a place in args or a name */
  private bufferOf(of: string | number | undefined, path: string): PlacedBuffer {
    if (typeof of === 'string') {
      const named = this.byName.get(of);
      if (named !== undefined) return named;
      const names = [...this.byName.keys()].join(', ') || 'none';
      throw invalid(path, `no buffer has the name '${of}'; there are: ${names}`);
    }
    const placed = this.buffers.find(({ arg, isArgument }) => isArgument && arg === of);
    if (placed === undefined) throw invalid(path, `argument ${of ?? ''} is no buffer`);
    return placed;
  }

  private symbol(name: string, path = `symbols.${name}`): SpecSymbol {
    const found = this.host.symbols.find((each) => each.name === name);
    if (found !== undefined) return found;
    const names = this.host.symbols.map((each) => each.name).join(', ') || 'none';
    throw invalid(path, `the module has no variable '${name}' in .global or .const; there are: ${names}`);
  }

  private visit(value: PlacedValue, path: string, arg: number | undefined, isArgument: boolean): void {
    if ('struct' in value) {
      value.struct.fields.forEach((field, index) =>
        this.visit(field, `${path}.struct.fields[${index}]`, arg, false),
      );
    } else if ('array' in value && value.array.out && !path.startsWith('symbols.')) {
      throw invalid(`${path}.array.out`, 'a structure is passed by value, nothing comes back; leave it out');
    } else if ('array' in value && value.array.out && path.includes('.struct.')) {
      throw invalid(`${path}.array.out`, 'only the whole variable can be reported; give it as one array');
    } else if ('buffer' in value) this.place(value.buffer, `${path}.buffer`, arg, isArgument);
    else if ('tensorMap' in value && value.tensorMap.buffer !== undefined)
      this.place(value.tensorMap.buffer, `${path}.tensorMap.buffer`, arg, false);
    else if ('texture' in value) this.visitMemory(value.texture, `${path}.texture`, arg);
    else if ('surface' in value) this.visitMemory(value.surface, `${path}.surface`, arg);
  }

  private visitMemory({ buffer }: TextureSpec | SurfaceSpec, path: string, arg: number | undefined): void {
    if (buffer !== undefined) this.place(buffer, `${path}.buffer`, arg, false);
  }

  private fill(spec: ContentsSpec, address: number, path: string): void {
    if (isUnwritten(spec)) return;
    const width = elementBytes(spec.type);
    const perPiece = PIECE_BYTES / width;
    for (let first = 0; first < spec.count; first += perPiece) {
      const bytes = new Uint8Array(Math.min(perPiece, spec.count - first) * width);
      fillPiece(spec, first, bytes, path);
      this.host.write(address + first * width, bytes);
    }
  }
}

function invalid(field: string, message: string): LaunchSpecError {
  return new LaunchSpecError('invalidSpec', `${field}: ${message}`, field);
}
