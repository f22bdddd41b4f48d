import { Axis, BORDER, type Neighbours } from './axis.js';
import type { FetchForm } from './fetchForm.js';
import { channelReaders, givesIntegers, type ChannelReader } from './texels.js';
import { levelShapes, type LevelShape, type TextureObject } from './textureObject.js';
import {
  cubePlace,
  filtered,
  levelOfGradients,
  MISSING,
  MISSING_ALPHA,
  nearestLevel,
  subLevels,
} from './textureUnit.js';

const floats = new Float32Array(1);
const floatBits = new Int32Array(floats.buffer);
const NAN_BITS = 0x7fffffff;

/** Operands of a fetch: the same words as floats and as integers. */
export interface FetchOperands {
  readonly words: Int32Array;
  readonly floats: Float32Array;
}

/** A texture object with its memory at hand: gives what its fetches give. */
export class SampledTexture {
  private readonly levels: readonly LevelShape[];
  private readonly axes: readonly [Axis, Axis, Axis];
  private readonly readers: readonly ChannelReader[];
  private readonly border: readonly number[];
  private readonly isInteger: boolean;
  /** Texels of 32 bits are given bit for bit where they are not filtered. */
  private readonly isRaw: boolean;
  private readonly dimensions: 1 | 2 | 3;
  /** Channels that the running fetch keeps, and how many of the texture's reach as far. */
  private wanted = 0;
  private channels = 0;
  private readonly isFiltered: boolean;
  private readonly blendsLevels: boolean;
  private readonly sums = new Float64Array(4);
  private readonly along: readonly [Neighbours, Neighbours, Neighbours] = [
    { first: 0, second: 0, weight: 0 },
    { first: 0, second: 0, weight: 0 },
    { first: 0, second: 0, weight: 0 },
  ];
  private readonly place = new Float64Array(3);

  /** Texel that the last fetch read first, as an offset of its bytes in the resource; of tools that watch memory. */
  lastOffset = 0;

  /** @param view of the resource's bytes */
  constructor(
    readonly object: TextureObject,
    private readonly view: DataView,
    private readonly texelBytes: number,
  ) {
    const { resource, sampler } = object;
    this.levels = levelShapes(resource);
    const axis = (index: 0 | 1 | 2): Axis =>
      // Directions have no unit.
      new Axis(
        resource.cube ? 'clamp' : sampler.address[index],
        resource.cube || sampler.normalizedCoordinates,
      );
    this.axes = [axis(0), axis(1), axis(2)];
    this.readers = channelReaders(object);
    this.isInteger = givesIntegers(object);
    this.isFiltered = sampler.filter === 'linear';
    this.blendsLevels = sampler.mipmapFilter === 'linear' && this.levels.length > 1 && !this.isInteger;
    this.isRaw = /32$/.test(resource.type);
    this.border = sampler.border.map((each) => (this.isInteger ? Math.trunc(each) : each));
    this.dimensions = resource.depth > 0 ? 3 : resource.height > 0 ? 2 : 1;
  }

  /** Whether instructions of a geometry read such a texture. */
  fits({ isCube, isLayered, dimensions }: FetchForm): boolean {
    const { resource } = this.object;
    return resource.cube === isCube && resource.layers > 0 === isLayered && this.dimensions === dimensions;
  }

  /** Writes the four words that a fetch gives. */
  fetch(form: FetchForm, operands: FetchOperands, results: Int32Array): void {
    this.wanted = form.wanted;
    this.channels = Math.min(this.readers.length, 32 - Math.clz32(form.wanted));
    const layer = this.takePlace(form, operands);
    const operandsAt = form.coordinates;
    if (form.operation === 'tld4') {
      this.gather(form.channel, layer, results);
      return;
    }
    if (form.isWhole) {
      const level = form.level === 'level' ? this.clampLevel(operands.words[operandsAt] ?? 0) : 0;
      this.readWhole(Math.trunc(level), layer, results);
      return;
    }
    const level = this.levelOf(form, operands, operandsAt);
    if (!this.blendsLevels) {
      const nearest = this.levels.length === 1 ? 0 : nearestLevel(level);
      if (!this.isFiltered) this.readNearest(nearest, layer, results);
      else {
        this.sums.fill(0);
        this.addLinear(nearest, layer, 1);
        this.giveSums(results);
      }
      return;
    }
    const fixed = subLevels(level);
    const lower = Math.min(Math.floor(fixed / 256), this.levels.length - 1);
    const weight = fixed / 256 - lower;
    this.sums.fill(0);
    this.addLevel(lower, layer, 1 - weight);
    if (weight > 0) this.addLevel(Math.min(lower + 1, this.levels.length - 1), layer, weight);
    this.giveSums(results);
  }

  /** Takes coordinates from the operands. @returns the layer, or the face of one */
  private takePlace(form: FetchForm, { words, floats: values }: FetchOperands): number {
    const { place } = this;
    const from = form.isLayered ? 1 : 0;
    if (form.isWhole) {
      for (let axis = 0; axis < form.dimensions; axis++) place[axis] = words[from + axis] ?? 0;
    } else {
      const used = form.isCube ? 3 : form.dimensions;
      for (let axis = 0; axis < used; axis++) place[axis] = values[from + axis] ?? 0;
    }
    const most = Math.max(1, this.object.resource.layers) - 1;
    const layer = form.isLayered ? Math.min((words[0] ?? 0) >>> 0, most) : 0;
    if (!form.isCube) return layer;
    const { face, s, t } = cubePlace(place[0] ?? 0, place[1] ?? 0, place[2] ?? 0);
    place[0] = s;
    place[1] = t;
    return layer * 6 + face;
  }

  private levelOf(form: FetchForm, { floats: values }: FetchOperands, at: number): number {
    if (this.levels.length === 1) return 0;
    let level = 0;
    if (form.level === 'level') level = values[at] ?? 0;
    else if (form.level === 'grad') {
      const { resource } = this.object;
      const extents = [resource.width, resource.height, resource.depth].slice(0, this.dimensions);
      const slope = (from: number): number[] =>
        extents.map((extent, axis) => (values[from + axis] ?? 0) * extent);
      level = levelOfGradients(slope(at), slope(at + form.slopes));
    }
    return this.clampLevel(level + this.object.sampler.levelBias);
  }

  private clampLevel(level: number): number {
    const { leastLevel, greatestLevel } = this.object.sampler;
    const last = this.levels.length - 1;
    if (level !== level) return Math.min(Math.max(0, leastLevel), last);
    return Math.min(Math.max(level, leastLevel, 0), greatestLevel < 0 ? 0 : greatestLevel, last);
  }

  private shape(level: number): LevelShape {
    const shape = this.levels[Math.min(Math.max(level, 0), this.levels.length - 1)];
    if (shape === undefined) throw new RangeError(`no level ${level}`);
    return shape;
  }

  /** Byte offset of a texel, or of nothing where the border is read. */
  private offset({ offset, rowBytes, sliceBytes }: LevelShape, x: number, y: number, slice: number): number {
    if (x === BORDER || y === BORDER || slice === BORDER) return BORDER;
    return offset + slice * sliceBytes + y * rowBytes + x * this.texelBytes;
  }

  private readNearest(level: number, layer: number, results: Int32Array): void {
    const shape = this.shape(level);
    const [ax, ay, az] = this.axes;
    const x = ax.nearest(this.place[0] ?? 0, shape.width);
    const y = this.dimensions < 2 ? 0 : ay.nearest(this.place[1] ?? 0, shape.height);
    const z = this.dimensions < 3 ? layer : az.nearest(this.place[2] ?? 0, shape.depth);
    this.give(this.offset(shape, x, y, z), results);
  }

  private readWhole(level: number, layer: number, results: Int32Array): void {
    const shape = this.shape(level);
    const [ax, ay, az] = this.axes;
    const [px = 0, py = 0, pz = 0] = this.place;
    if (this.object.resource.kind === 'linear' && (px < 0 || px >= shape.width)) {
      results.fill(0);
      return;
    }
    const x = ax.whole(px, shape.width);
    const y = this.dimensions < 2 ? 0 : ay.whole(py, shape.height);
    const z = this.dimensions < 3 ? layer : az.whole(pz, shape.depth);
    this.give(this.offset(shape, x, y, z), results);
  }

  /** Channels of one texel. */
  private give(offset: number, results: Int32Array): void {
    if (offset !== BORDER) this.lastOffset = offset;
    for (let channel = 0; channel < 4; channel++)
      if (((this.wanted >> channel) & 1) === 1) results[channel] = this.word(offset, channel);
  }

  private word(offset: number, channel: number): number {
    const read = this.readers[channel];
    if (read === undefined) return this.bitsOf(channel === 3 ? MISSING_ALPHA : MISSING);
    if (offset === BORDER) return this.bitsOf(this.border[channel] ?? 0);
    if (this.isRaw) return this.view.getInt32(offset + 4 * channel, true);
    return this.bitsOf(read(this.view, offset));
  }

  private bitsOf(value: number): number {
    if (this.isInteger) return value | 0;
    if (value !== value) return NAN_BITS;
    floats[0] = value;
    return floatBits[0] ?? 0;
  }

  private addLevel(level: number, layer: number, weight: number): void {
    if (this.isFiltered) {
      this.addLinear(level, layer, weight);
      return;
    }
    const shape = this.shape(level);
    const [ax, ay, az] = this.axes;
    const x = ax.nearest(this.place[0] ?? 0, shape.width);
    const y = this.dimensions < 2 ? 0 : ay.nearest(this.place[1] ?? 0, shape.height);
    const z = this.dimensions < 3 ? layer : az.nearest(this.place[2] ?? 0, shape.depth);
    this.add(this.offset(shape, x, y, z), weight);
  }

  /** Adds the texels around a place, each by its weight. */
  private addLinear(level: number, layer: number, weight: number): void {
    const shape = this.shape(level);
    const { dimensions, axes, along, place } = this;
    const [x, y, z] = along;
    axes[0].neighbours(place[0] ?? 0, shape.width, x);
    if (dimensions > 1) axes[1].neighbours(place[1] ?? 0, shape.height, y);
    if (dimensions > 2) axes[2].neighbours(place[2] ?? 0, shape.depth, z);
    for (let slice = 0; slice < (dimensions > 2 ? 2 : 1); slice++) {
      const atZ = dimensions < 3 ? layer : slice === 0 ? z.first : z.second;
      const ofZ = dimensions < 3 ? weight : (weight * (slice === 0 ? 256 - z.weight : z.weight)) / 256;
      for (let row = 0; row < (dimensions > 1 ? 2 : 1); row++) {
        const atY = dimensions < 2 ? 0 : row === 0 ? y.first : y.second;
        const ofY = dimensions < 2 ? ofZ : (ofZ * (row === 0 ? 256 - y.weight : y.weight)) / 256;
        this.add(this.offset(shape, x.first, atY, atZ), (ofY * (256 - x.weight)) / 256);
        this.add(this.offset(shape, x.second, atY, atZ), (ofY * x.weight) / 256);
      }
    }
  }

  /** A texel without weight counts for nothing, whatever it is. */
  private add(offset: number, weight: number): void {
    if (weight === 0) return;
    if (offset !== BORDER) this.lastOffset = offset;
    const { readers, sums, view, border, channels } = this;
    for (let channel = 0; channel < channels; channel++) {
      const value = offset === BORDER ? border[channel] : readers[channel]?.(view, offset);
      sums[channel] = (sums[channel] ?? 0) + weight * (value ?? 0);
    }
  }

  private giveSums(results: Int32Array): void {
    for (let channel = 0; channel < 4; channel++) {
      if (((this.wanted >> channel) & 1) === 0) continue;
      const isThere = channel < this.readers.length;
      const missing = channel === 3 ? MISSING_ALPHA : MISSING;
      results[channel] = this.bitsOf(isThere ? filtered(this.sums[channel] ?? 0) : missing);
    }
  }

  /** One channel of the four texels around a place: below left first, then counterclockwise (PTX, `tld4`). */
  private gather(channel: number, layer: number, results: Int32Array): void {
    const shape = this.shape(this.clampLevel(this.object.sampler.levelBias));
    const [x, y] = this.along;
    this.axes[0].neighbours(this.place[0] ?? 0, shape.width, x);
    this.axes[1].neighbours(this.place[1] ?? 0, shape.height, y);
    const at = (column: number, row: number): number => {
      const offset = this.offset(shape, column, row, layer);
      if (offset !== BORDER) this.lastOffset = offset;
      return this.word(offset, channel);
    };
    results[0] = at(x.first, y.second);
    results[1] = at(x.second, y.second);
    results[2] = at(x.second, y.first);
    results[3] = at(x.first, y.first);
  }
}
