import type { AddressMode } from './textureObject.js';
import { isMirrored, scaled, subTexels, taken } from './textureUnit.js';

/** Index of what lies outside where the border is read. */
export const BORDER = -1;

/** Two neighbours along an axis, and the second one's weight in 256ths. */
export interface Neighbours {
  first: number;
  second: number;
  weight: number;
  /** The second one lies before the first. */
  isMirrored: boolean;
}

/** Coordinates of one axis of a texture, of whatever extent. */
export class Axis {
  private readonly mode: AddressMode;

  /** @param mode wrap and mirror hold for normalised coordinates alone */
  constructor(
    mode: AddressMode,
    private readonly isNormalized: boolean,
  ) {
    this.mode = isNormalized || mode === 'border' ? mode : 'clamp';
  }

  /** The texel at a coordinate. */
  nearest(coordinate: number, extent: number): number {
    const texel = Math.floor(this.position(coordinate, extent));
    // All but nothing below a period's end is the end.
    const last = this.mode === 'wrap' ? extent - 1 : Infinity;
    return this.index(Math.min(texel, last), extent, this.isMirrored(coordinate));
  }

  /** The texels on both sides of a coordinate. */
  neighbours(coordinate: number, extent: number, into: Neighbours): void {
    const fixed = subTexels(this.position(coordinate, extent)) - 128;
    const first = Math.floor(fixed / 256);
    into.isMirrored = this.isMirrored(coordinate);
    into.weight = fixed - 256 * first;
    into.first = this.index(first, extent, into.isMirrored);
    into.second = this.index(first + 1, extent, into.isMirrored);
    // Clamped is the place, and not the texels alone: both are the same texel, and the first one has all weight.
    if (this.mode === 'clamp' && into.first === into.second) into.weight = 0;
  }

  private isMirrored(coordinate: number): boolean {
    return this.mode === 'mirror' && isMirrored(taken(coordinate));
  }

  /** In texels, near enough to the texture for a whole number to say where. */
  private position(coordinate: number, extent: number): number {
    const given = taken(coordinate);
    const texels = this.isNormalized ? scaled(given, extent, this.mode) : given;
    return Math.min(Math.max(texels, -2), extent + 2);
  }

  private index(texel: number, extent: number, fromEnd: boolean): number {
    if (texel >= 0 && texel < extent) return fromEnd ? extent - 1 - texel : texel;
    switch (this.mode) {
      case 'border':
        return BORDER;
      case 'wrap':
        return texel < 0 ? texel + extent * Math.ceil(-texel / extent) : texel % extent;
      case 'clamp':
      case 'mirror':
        return texel < 0 === fromEnd ? extent - 1 : 0;
    }
  }
}
