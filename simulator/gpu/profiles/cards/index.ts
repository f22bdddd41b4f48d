import type { Card } from '../card.js';
import { h200 } from './h200.js';

/** The cards that Windjammer brings. A card's base comes before it. */
export const CARDS: readonly Card[] = [h200];
