import { TextureError } from './textureError.js';

export const TEXEL_TYPES = ['u8', 's8', 'u16', 's16', 'u32', 's32', 'f16', 'f32'] as const;
export type TexelType = (typeof TEXEL_TYPES)[number];
export const ADDRESS_MODES = ['wrap', 'clamp', 'mirror', 'border'] as const;
export type AddressMode = (typeof ADDRESS_MODES)[number];
export const FILTERS = ['point', 'linear'] as const;
export type Filter = (typeof FILTERS)[number];
export const RESOURCE_KINDS = ['array', 'linear', 'pitched'] as const;
export type ResourceKind = (typeof RESOURCE_KINDS)[number];

/**
 * Memory that a texture or surface object reads as texels. *array*: levels one after another, in each of them layers, faces or
 * slices, in these rows of texels, all without gaps (a card has orders of its own, which no program can see). *linear*: one row
 * in plain memory, fetched by whole coordinates alone. *pitched*: rows in plain memory.
 */
export interface TextureResource {
  readonly kind: ResourceKind;
  /** Device address of the first texel. */
  readonly address: number;
  readonly type: TexelType;
  readonly channels: 1 | 2 | 4;
  /** Texels. */
  readonly width: number;
  /** Absent of one dimension. */
  readonly height?: number | undefined;
  /** Of three dimensions. */
  readonly depth?: number | undefined;
  /** Of a layered array; of cubes how many there are. */
  readonly layers?: number | undefined;
  /** Six faces, or six of each layer: +x, -x, +y, -y, +z, -z. */
  readonly cube?: boolean | undefined;
  /** Of a mipmapped array; 1 by default. Each is half as wide, high and deep as the one before it, rounded down. */
  readonly levels?: number | undefined;
  /** Of pitched memory: bytes from row to row. */
  readonly pitchBytes?: number | undefined;
}

/** How a texture is read; as CUDA's texture descriptor. */
export interface Sampler {
  /** Of each axis; one stands for all. 'clamp' by default. Wrap and mirror hold for normalised coordinates alone. */
  readonly address?: AddressMode | readonly AddressMode[] | undefined;
  /** 'point' by default. */
  readonly filter?: Filter | undefined;
  /** Coordinates go from 0 to 1. */
  readonly normalizedCoordinates?: boolean | undefined;
  /** Integers of 8 and 16 bits are read as floats from 0 or -1 to 1. */
  readonly normalizedFloat?: boolean | undefined;
  /** Colours of 8 bits are read as linear light; with `normalizedFloat`. */
  readonly srgb?: boolean | undefined;
  /** Of mipmaps. */
  readonly mipmapFilter?: Filter | undefined;
  readonly levelBias?: number | undefined;
  readonly leastLevel?: number | undefined;
  readonly greatestLevel?: number | undefined;
  /** What lies outside, by channel; 0 by default. */
  readonly border?: readonly number[] | undefined;
}

/** Every field told. */
export interface TextureObject {
  readonly isSurface: boolean;
  readonly resource: Required<{ [K in keyof TextureResource]: NonNullable<TextureResource[K]> }>;
  readonly sampler: {
    readonly address: readonly [AddressMode, AddressMode, AddressMode];
    readonly filter: Filter;
    readonly normalizedCoordinates: boolean;
    readonly normalizedFloat: boolean;
    readonly srgb: boolean;
    readonly mipmapFilter: Filter;
    readonly levelBias: number;
    readonly leastLevel: number;
    readonly greatestLevel: number;
    readonly border: readonly [number, number, number, number];
  };
}

/** Most texels of each axis, most layers and levels of an H200 (CUDA programming guide, "Technical Specifications"). */
const LIMITS = {
  array: [131072, 131072, 16384],
  surface: [32768, 131072, 16384],
  linear: [2 ** 28],
  pitched: [131072, 65000],
  cube: 32768,
  layers: 2048,
  levels: 18,
} as const;

/** Offset of 16 zero bytes in an object's record: what is read outside of a surface. */
export const OUTSIDE_OFFSET = 192;
/** Bytes of an object's record in device memory. */
export const OBJECT_BYTES = 256;
const MAGIC = 0x58544a57;

export function texelBytes({ type, channels }: Pick<TextureResource, 'type' | 'channels'>): number {
  return (Number(type.slice(1)) / 8) * channels;
}

/** Extents of one level: texels of each axis, and slices, faces and layers together. */
export interface LevelShape {
  readonly width: number;
  readonly height: number;
  readonly depth: number;
  /** Bytes from the first level's first texel. */
  readonly offset: number;
  readonly rowBytes: number;
  readonly sliceBytes: number;
}

/** Where each level lies. */
export function levelShapes(resource: TextureObject['resource']): LevelShape[] {
  const shapes: LevelShape[] = [];
  let offset = 0;
  for (let level = 0; level < resource.levels; level++) {
    const width = Math.max(1, resource.width >> level);
    const height = Math.max(1, resource.height >> level);
    const isStack = resource.layers > 0 || resource.cube;
    const depth = isStack
      ? Math.max(1, resource.layers) * (resource.cube ? 6 : 1)
      : Math.max(1, resource.depth >> level);
    const rowBytes = resource.kind === 'pitched' ? resource.pitchBytes : width * texelBytes(resource);
    const sliceBytes = rowBytes * height;
    shapes.push({ width, height, depth, offset, rowBytes, sliceBytes });
    offset += sliceBytes * depth;
  }
  return shapes;
}

/** Bytes that a resource takes, from its address on. */
export function resourceBytes(resource: TextureObject['resource']): number {
  const shapes = levelShapes(resource);
  const last = shapes.at(-1);
  if (last === undefined) return 0;
  if (resource.kind === 'pitched')
    return last.rowBytes * (last.height - 1) + last.width * texelBytes(resource);
  return last.offset + last.sliceBytes * last.depth;
}

/**
 * An object with everything told, of what was asked for. Whether its memory is there is not asked.
 * @throws TextureError naming the field
 */
export function textureObject(resource: TextureResource, sampler: Sampler | undefined): TextureObject {
  const isSurface = sampler === undefined;
  const told = wholeResource(resource, isSurface);
  return { isSurface, resource: told, sampler: wholeSampler(told, sampler ?? {}, isSurface) };
}

function wholeResource(resource: TextureResource, isSurface: boolean): TextureObject['resource'] {
  const { kind, address, type, channels, width } = resource;
  const { height = 0, depth = 0, layers = 0, cube = false, levels = 1, pitchBytes = 0 } = resource;
  const told = { kind, address, type, channels, width, height, depth, layers, cube, levels, pitchBytes };
  const fail = (field: string, reason: string): never => {
    throw new TextureError(`resource.${field}`, reason);
  };
  oneOf('resource.kind', kind, RESOURCE_KINDS);
  oneOf('resource.type', type, TEXEL_TYPES);
  if (channels !== 1 && channels !== 2 && channels !== 4)
    fail('channels', `1, 2 or 4, got ${String(channels)}`);
  const axes = { width, height, depth, layers, levels, pitchBytes };
  for (const [field, value] of Object.entries(axes))
    if (!Number.isSafeInteger(value) || value < 0) fail(field, `a whole number of at least 0, got ${value}`);
  if (width < 1) fail('width', `at least 1 texel, got ${width}`);
  if (!Number.isSafeInteger(address) || address <= 0) fail('address', `a device address, got ${address}`);
  if (address % texelBytes(told) !== 0)
    fail('address', `a multiple of the ${texelBytes(told)} bytes of a texel`);
  if (kind !== 'array') {
    for (const [field, value] of Object.entries({ depth, layers }))
      if (value > 0) fail(field, `an array alone has it, not ${kind} memory`);
    if (cube) fail('cube', `an array alone has faces, not ${kind} memory`);
    if (levels !== 1) fail('levels', `an array alone has mipmaps, not ${kind} memory`);
    if (isSurface) fail('kind', `a surface is of an array, not of ${kind} memory`);
  }
  if (kind === 'linear' && height > 0) fail('height', 'linear memory is one row: take pitched memory');
  if (kind === 'pitched') {
    if (height < 1) fail('height', 'pitched memory has rows');
    if (pitchBytes < width * texelBytes(told) || pitchBytes % 32 !== 0)
      fail('pitchBytes', `a multiple of 32 of at least ${width * texelBytes(told)}, got ${pitchBytes}`);
    if (address % 512 !== 0) fail('address', 'pitched memory begins at a multiple of 512 bytes');
  } else if (pitchBytes > 0) fail('pitchBytes', 'pitched memory alone has it');
  if (depth > 0 && height < 1) fail('height', 'an array with depth has rows');
  if (depth > 0 && (layers > 0 || cube))
    fail('depth', 'an array of three dimensions has no layers and no faces');
  if (cube && height !== width) fail('height', `faces are square: ${width}, got ${height}`);
  if (cube && width > LIMITS.cube) fail('width', `at most ${LIMITS.cube} texels of a face, got ${width}`);
  if (layers > LIMITS.layers) fail('layers', `at most ${LIMITS.layers}, got ${layers}`);
  const most = kind === 'array' ? LIMITS[isSurface ? 'surface' : 'array'] : LIMITS[kind];
  for (const [axis, field] of (['width', 'height', 'depth'] as const).entries()) {
    const limit = most[axis] ?? 0;
    if (axes[field] > limit) fail(field, `at most ${limit} texels, got ${axes[field]}`);
  }
  const mostLevels = Math.min(LIMITS.levels, 1 + Math.floor(Math.log2(Math.max(width, height, depth))));
  if (levels < 1 || levels > mostLevels)
    fail('levels', `from 1 to ${mostLevels} of these extents, got ${levels}`);
  return told;
}

function wholeSampler(
  resource: TextureObject['resource'],
  sampler: Sampler,
  isSurface: boolean,
): TextureObject['sampler'] {
  const fail = (field: string, reason: string): never => {
    throw new TextureError(`sampler.${field}`, reason);
  };
  const { address = 'clamp', filter = 'point', mipmapFilter = 'point', border = [] } = sampler;
  const modes = typeof address === 'string' ? [address] : address;
  if (modes.length < 1 || modes.length > 3)
    fail('address', `one mode or one of each axis, got ${modes.length}`);
  modes.forEach((mode) => {
    oneOf('sampler.address', mode, ADDRESS_MODES);
  });
  oneOf('sampler.filter', filter, FILTERS);
  oneOf('sampler.mipmapFilter', mipmapFilter, FILTERS);
  if (border.length > 4) fail('border', `at most 4 channels, got ${border.length}`);
  const { levelBias = 0, leastLevel = 0, greatestLevel = resource.levels - 1 } = sampler;
  for (const [field, value] of Object.entries({ levelBias, leastLevel, greatestLevel }))
    if (!Number.isFinite(value)) fail(field, `a finite number, got ${value}`);
  if (border.some((each) => typeof each !== 'number')) fail('border', 'numbers');
  const { normalizedFloat = false, normalizedCoordinates = false, srgb = false } = sampler;
  const isInteger = !resource.type.startsWith('f');
  const isNarrow = isInteger && !resource.type.endsWith('32');
  if (normalizedFloat && !isNarrow)
    fail('normalizedFloat', `for integers of 8 and 16 bits, not for ${resource.type}: leave it out`);
  if (filter === 'linear' && isInteger && !normalizedFloat)
    fail('filter', `linear filtering gives floats: set normalizedFloat, or take 'point'`);
  if (srgb && (resource.type !== 'u8' || !normalizedFloat)) fail('srgb', 'for u8 with normalizedFloat');
  if (resource.kind === 'linear' && (filter === 'linear' || normalizedCoordinates))
    fail(
      filter === 'linear' ? 'filter' : 'normalizedCoordinates',
      'linear memory is fetched by whole coordinates, without a filter: take pitched memory or an array',
    );
  if (resource.levels > 1 && !normalizedCoordinates && !isSurface)
    fail('normalizedCoordinates', 'mipmaps are read by normalised coordinates: set it');
  const axis = (index: number): AddressMode => modes[index] ?? modes[0] ?? 'clamp';
  const channel = (index: number): number => border[index] ?? 0;
  return {
    address: [axis(0), axis(1), axis(2)],
    filter,
    normalizedCoordinates,
    normalizedFloat,
    srgb,
    mipmapFilter,
    levelBias,
    leastLevel,
    greatestLevel,
    border: [channel(0), channel(1), channel(2), channel(3)],
  };
}

function oneOf(field: string, value: string, among: readonly string[]): void {
  if (!among.includes(value)) throw new TextureError(field, `one of ${among.join(', ')}, got ${value}`);
}

/** The record of an object, which its handle is the address of: it lies in memory that kernels cannot write. */
export function encodeObject({ isSurface, resource, sampler }: TextureObject): Uint8Array {
  const bytes = new Uint8Array(OBJECT_BYTES);
  const view = new DataView(bytes.buffer);
  let at = 0;
  const word = (value: number): void => {
    view.setUint32(at, value, true);
    at += 4;
  };
  const float = (value: number): void => {
    view.setFloat32(at, value, true);
    at += 4;
  };
  word(MAGIC);
  word(isSurface ? 1 : 0);
  word(RESOURCE_KINDS.indexOf(resource.kind));
  word(TEXEL_TYPES.indexOf(resource.type));
  word(resource.address % 2 ** 32);
  word(Math.floor(resource.address / 2 ** 32));
  const { channels, width, height, depth, layers, cube, levels, pitchBytes } = resource;
  for (const value of [channels, width, height, depth, layers, cube ? 1 : 0, levels, pitchBytes]) word(value);
  for (const mode of sampler.address) word(ADDRESS_MODES.indexOf(mode));
  const { filter, mipmapFilter, normalizedCoordinates, normalizedFloat, srgb } = sampler;
  word(FILTERS.indexOf(filter));
  word(FILTERS.indexOf(mipmapFilter));
  word((normalizedCoordinates ? 1 : 0) | (normalizedFloat ? 2 : 0) | (srgb ? 4 : 0));
  for (const value of [sampler.levelBias, sampler.leastLevel, sampler.greatestLevel]) float(value);
  for (const value of sampler.border) float(value);
  return bytes;
}

/** @returns undefined for bytes that are no record of an object */
export function decodeObject(bytes: Uint8Array): TextureObject | undefined {
  if (bytes.length < OBJECT_BYTES) return undefined;
  const view = new DataView(bytes.buffer, bytes.byteOffset, OBJECT_BYTES);
  let at = 0;
  const word = (): number => {
    at += 4;
    return view.getUint32(at - 4, true);
  };
  const float = (): number => {
    at += 4;
    return view.getFloat32(at - 4, true);
  };
  if (word() !== MAGIC) return undefined;
  const isSurface = word() === 1;
  const kind = RESOURCE_KINDS[word()];
  const type = TEXEL_TYPES[word()];
  const address = word() + word() * 2 ** 32;
  const [channels = 0, width = 0, height = 0, depth = 0, layers = 0, cube = 0, levels = 0, pitchBytes = 0] =
    Array.from({ length: 8 }, word);
  const modes = Array.from({ length: 3 }, () => ADDRESS_MODES[word()] ?? 'clamp');
  const [filter = 'point', mipmapFilter = 'point'] = [FILTERS[word()], FILTERS[word()]];
  const flags = word();
  const [levelBias = 0, leastLevel = 0, greatestLevel = 0, ...border] = Array.from({ length: 7 }, float);
  if (kind === undefined || type === undefined) return undefined;
  const resource: TextureResource = {
    kind,
    address,
    type,
    channels: channels as 1 | 2 | 4,
    width,
    height,
    depth,
    layers,
    cube: cube === 1,
    levels,
    pitchBytes,
  };
  const sampler: Sampler = {
    address: modes,
    filter,
    mipmapFilter,
    normalizedCoordinates: (flags & 1) !== 0,
    normalizedFloat: (flags & 2) !== 0,
    srgb: (flags & 4) !== 0,
    levelBias,
    leastLevel,
    greatestLevel,
    border,
  };
  try {
    return textureObject(resource, isSurface ? undefined : sampler);
  } catch (error) {
    if (error instanceof TextureError) return undefined;
    throw error;
  }
}
