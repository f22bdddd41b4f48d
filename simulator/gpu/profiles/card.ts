import type { DeviceFigures } from './deviceProfile.js';
import type { PartlySourced, Source, Sourced } from './figure.js';

interface CardHead {
  readonly name: string;
  readonly productName: string;
  readonly description: string;
  /** Whether its times were held against a real card. */
  readonly measured: boolean;
  /** By the names that figures give. */
  readonly sources: Readonly<Record<string, Source>>;
}

/** A card that says everything itself. */
export interface WholeCard extends CardHead, Sourced<DeviceFigures> {}

/** A card that takes what it does not say from another one, by the rules in `figureRules.ts`. */
export interface DerivedCard extends CardHead, PartlySourced<DeviceFigures> {
  readonly base: string;
}

export type Card = WholeCard | DerivedCard;
