import type { Card } from '../card.js';
import { a100 } from './a100.js';
import { geforce8800 } from './geforce8800.js';
import { h100 } from './h100.js';
import { h200 } from './h200.js';
import { k20c } from './k20c.js';
import { t4 } from './t4.js';
import { v100 } from './v100.js';

/** The cards that Windjammer brings. */
export const CARDS: readonly Card[] = [h200, h100, a100, v100, t4, k20c, geforce8800];
