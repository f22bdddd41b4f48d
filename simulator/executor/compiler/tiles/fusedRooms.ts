import type { TileForm } from '../../../tensor/index.js';
import type { VectorPlan } from './fragments.js';

/** Rooms of the scratch, in bytes from its begin. */
export interface FusedRooms {
  /** Of each 16 lines of the wide factor, elements as they are stored: place along k after place. */
  readonly raw: number;
  /** The same as f32, and their exponents as i8. */
  readonly wide: number;
  readonly wideExponents: number;
  /** Line after line of the other factor. */
  readonly single: number;
  readonly singleExponents: number;
  /** Accumulators and results, as they are stored: line after line of the other side. */
  readonly c: number;
  readonly d: number;
  /** Lines of the wide factor as they are turned about, where those that a warp holds are eighths or sparse. */
  readonly dense: number;
  readonly bytes: number;
}

export function fusedRooms({ shape: { k } }: TileForm, { wide, single }: VectorPlan): FusedRooms {
  let bytes = 0;
  const take = (size: number): number => {
    bytes += size;
    return bytes - size;
  };
  return {
    raw: take(wide.across * k * 4),
    wide: take(wide.across * k * 4),
    wideExponents: take(wide.across * k),
    single: take(single.across * k * 4),
    singleExponents: take(single.across * k),
    c: take(wide.across * single.across * 4),
    d: take(wide.across * single.across * 4),
    dense: take(wide.across * k * 4),
    bytes,
  };
}
