import { readFileSync } from 'node:fs';
import type { CardResults } from '../../kernels/index.js';
import { describeFixtures } from '../../kernels/tests/heldToCard.js';
import { tensorPrograms } from './index.js';

/** What an H200 left in memory after the same programs on the same inputs. */
const card = JSON.parse(readFileSync(new URL('./cardDigests.json', import.meta.url), 'utf8')) as CardResults;

describeFixtures(tensorPrograms, card);
