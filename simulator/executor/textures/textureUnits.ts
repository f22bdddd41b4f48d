import type { AddressSpace } from '../types.js';
import { fetchForm, type FetchForm } from './fetchForm.js';
import { SampledTexture, type FetchOperands } from './sampledTexture.js';
import { channelDataType, channelOrder } from './texels.js';
import {
  decodeObject,
  levelShapes,
  OBJECT_BYTES,
  OUTSIDE_OFFSET,
  resourceBytes,
  texelBytes,
  type LevelShape,
  type TextureObject,
} from './textureObject.js';

/** Why a fetch cannot be: told with the place of the thread by whoever runs it. */
export class TextureFault extends Error {
  override readonly name = 'TextureFault';

  constructor(
    readonly code: 'illegalAddress' | 'illegalInstruction' | 'misalignedAddress',
    message: string,
    readonly address: number,
  ) {
    super(message);
  }
}

interface Resolved {
  readonly handle: number;
  readonly object: TextureObject;
  readonly texture: SampledTexture | undefined;
  readonly first: LevelShape;
  /** Codes of instructions that have been found to fit it. */
  readonly fitting: boolean[];
}

const WORD = 2 ** 32;
const NOTHING = new DataView(new ArrayBuffer(0));

/** What texture units do for one launch. Objects are looked up once: none changes while a kernel runs. */
export class TextureUnits {
  private readonly known = new Map<number, Resolved>();
  private readonly forms: FetchForm[] = [];
  private last: Resolved | undefined;

  constructor(private readonly space: AddressSpace) {}

  /**
   * Answers one instruction of one lane.
   * @param code of the instruction (`fetchCode`). @param results four words; of `surfplace` an address and whether it is inside
   * @throws TextureFault
   */
  fetch(code: number, low: number, high: number, operands: FetchOperands, results: Int32Array): void {
    const form = (this.forms[code] ??= fetchForm(code));
    const handle = (low >>> 0) + (high >>> 0) * WORD;
    if (form.operation === 'istypep') {
      results[0] = this.isOf(form, handle) ? 1 : 0;
      return;
    }
    const found = this.last?.handle === handle ? this.last : this.resolve(handle);
    switch (form.operation) {
      case 'tex':
      case 'tld4':
        if (found.texture === undefined || found.fitting[code] !== true) {
          requireFit(found, form);
          found.fitting[code] = true;
        }
        found.texture?.fetch(form, operands, results);
        return;
      case 'txq':
      case 'suq':
        results[0] = answer(found, form, operands);
        return;
      case 'surfplace':
        place(found, form, operands.words, results);
    }
  }

  /** Device address of a texel that the last fetch of a texture read, and its bytes; nothing where it read none. */
  lastTexel(): { readonly address: number; readonly bytes: number } | undefined {
    const { last } = this;
    if (last?.texture === undefined) return undefined;
    const { resource } = last.object;
    return { address: resource.address + last.texture.lastOffset, bytes: texelBytes(resource) };
  }

  private isOf(form: FetchForm, handle: number): boolean {
    const found = this.known.get(handle) ?? this.look(handle);
    if (found === undefined) return false;
    return found.object.isSurface ? form.query === 'surfref' : form.query === 'texref';
  }

  private resolve(handle: number): Resolved {
    const found = this.known.get(handle) ?? this.look(handle);
    if (found === undefined)
      throw fault(`handle ${hex(handle)} is of no texture and no surface that is there`, handle);
    this.last = found;
    return found;
  }

  private look(handle: number): Resolved | undefined {
    const object = objectAt(this.space, handle);
    if (object === undefined) return undefined;
    const { resource } = object;
    const bytes = resourceBytes(resource);
    const segment = this.space.find(resource.address);
    if (segment === undefined || resource.address + bytes > segment.virtualAddress + segment.bytes)
      throw fault(
        `the ${bytes} bytes at ${hex(resource.address)} of ${described(object)} are not mapped any more`,
        resource.address,
      );
    const [first] = levelShapes(resource);
    if (first === undefined) return undefined;
    const data = segment.offset < 0 ? undefined : this.space.view(resource.address, bytes);
    const view = data === undefined ? NOTHING : new DataView(data.buffer, data.byteOffset, data.byteLength);
    const texture = object.isSurface ? undefined : new SampledTexture(object, view, texelBytes(resource));
    const found = { handle, object, texture, first, fitting: [] };
    this.known.set(handle, found);
    return found;
  }
}

/** @throws TextureFault for an instruction of another geometry than the object's */
function requireFit({ texture, object, handle }: Resolved, form: FetchForm): void {
  if (texture === undefined)
    throw fault(`handle ${hex(handle)} is of a surface: a texture's is expected`, handle);
  const { resource, sampler } = object;
  if (!texture.fits(form)) throw fault(`${form.operation}.${form.geometry} of ${described(object)}`, handle);
  if (!form.isWhole && resource.kind === 'linear')
    throw fault(`${form.operation}.${form.geometry} of linear memory by float coordinates`, handle);
  if (form.isWhole && sampler.normalizedCoordinates)
    throw fault('whole coordinates of a texture whose coordinates are normalised', handle);
}

/** The object whose record lies at an address, in memory that kernels cannot write. */
export function objectAt(space: AddressSpace, handle: number): TextureObject | undefined {
  const segment = Number.isSafeInteger(handle) ? space.find(handle) : undefined;
  if (segment?.virtualAddress !== handle || segment.permission !== 'read' || segment.offset < 0)
    return undefined;
  return segment.bytes < OBJECT_BYTES ? undefined : decodeObject(space.view(handle, OBJECT_BYTES));
}

function answer({ object, first }: Resolved, { query, level }: FetchForm, { words }: FetchOperands): number {
  const { resource, sampler } = object;
  const shape = level === 'level' ? levelShapes(resource)[words[0] ?? 0] : first;
  switch (query) {
    case 'width':
      return shape?.width ?? 0;
    case 'height':
      // Of an array of one dimension its layers, and of a texture without any its one row.
      if (resource.height === 0) return resource.layers > 0 ? resource.layers : object.isSurface ? 0 : 1;
      return shape?.height ?? 0;
    case 'depth': {
      const isStack = resource.height > 0 && resource.layers > 0 && !resource.cube;
      const areFaces = resource.cube && object.isSurface;
      return resource.depth > 0 || isStack || areFaces ? (shape?.depth ?? 0) : 0;
    }
    case 'channel_data_type':
      return channelDataType(object);
    case 'channel_order':
      return channelOrder(object);
    case 'normalized_coords':
      return sampler.normalizedCoordinates ? 1 : 0;
    case 'array_size':
      return resource.layers;
    case 'num_mipmap_levels':
      return resource.levels;
    case 'num_samples':
      return 1;
    case 'none':
    case 'texref':
    case 'samplerref':
    case 'surfref':
      return 0;
  }
}

/** Where an element of a surface lies: its address in two words, and whether it is inside. x counts bytes. */
function place(found: Resolved, form: FetchForm, words: Int32Array, results: Int32Array): void {
  const { object, first, handle } = found;
  const { resource } = object;
  if (!object.isSurface)
    throw fault(`handle ${hex(handle)} is of a texture: a surface's is expected`, handle);
  const { geometry, bytes, outside, dimensions, isLayered } = form;
  const isStack = resource.layers > 0 || resource.cube;
  const own = resource.depth > 0 ? 3 : resource.height > 0 ? 2 : 1;
  if (dimensions !== own || isLayered !== isStack)
    throw fault(`a surface access .${geometry} of ${described(object)}`, handle);
  const from = isStack ? 1 : 0;
  const slice = isStack ? (words[0] ?? 0) >>> 0 : dimensions > 2 ? (words[2] ?? 0) : 0;
  const across = words[from] ?? 0;
  // Also outside, where nothing is accessed.
  if (across % bytes !== 0)
    throw new TextureFault(
      'misalignedAddress',
      `x = ${across} of ${described(object)} counts bytes: it must be a multiple of the element's ${bytes}`,
      handle,
    );
  const x = inside(across, first.rowBytes - bytes, outside);
  const y = dimensions > 1 ? inside(words[from + 1] ?? 0, first.height - 1, outside) : 0;
  const z = inside(slice, first.depth - 1, outside);
  if (x < 0 || y < 0 || z < 0) {
    if (outside === 'trap')
      throw fault(
        `(${[...words.slice(0, from + dimensions)].join(', ')}) with ${bytes} bytes is outside of ${described(object)}`,
        handle,
      );
    setAddress(results, handle + OUTSIDE_OFFSET);
    results[2] = 0;
    return;
  }
  setAddress(results, resource.address + z * first.sliceBytes + y * first.rowBytes + x);
  results[2] = 1;
}

/** A coordinate from 0 to the greatest; -1 where it lies outside and is not brought in. */
function inside(value: number, greatest: number, outside: FetchForm['outside']): number {
  if (value >= 0 && value <= greatest) return value;
  if (outside !== 'clamp' || greatest < 0) return -1;
  return value < 0 ? 0 : greatest;
}

function setAddress(results: Int32Array, address: number): void {
  results[0] = (address % WORD) | 0;
  results[1] = Math.floor(address / WORD);
}

function fault(message: string, address: number): TextureFault {
  return new TextureFault('illegalAddress', message, address);
}

/** In words: 'a layered array of 8 x 8 texels with 4 layers'. */
function described({ resource, isSurface }: TextureObject): string {
  const { kind, width, height, depth, layers, cube } = resource;
  const extents = [width, height, depth].filter((each) => each > 0).join(' x ');
  const stack = `${cube ? ' of 6 faces' : ''}${layers > 0 ? ` with ${layers} layers` : ''}`;
  return `a ${isSurface ? 'surface' : 'texture'} on ${kind === 'array' ? 'an array' : `${kind} memory`} of ${extents} texels${stack}`;
}

function hex(address: number): string {
  return `0x${address.toString(16)}`;
}
