import { readFileSync } from 'node:fs';
import type { CardResults } from './card/cardResults.js';
import { kernelFixtures } from './index.js';
import { describeFixtures } from './tests/heldToCard.js';

/** What a real card left in memory after the same programs on the same inputs. */
const card = JSON.parse(readFileSync(new URL('./cardDigests.json', import.meta.url), 'utf8')) as CardResults;

describeFixtures(kernelFixtures, card);
