/** Keeps what a card wrote (see writePlan.ts) as `simulator/laboratory/kernels/cardDigests.json`. */
import { kernelFixtures } from '../index.js';
import { keepCardResults } from './keepCardResults.js';

const [, , path = 'results.json', target = 'simulator/laboratory/kernels/cardDigests.json'] = process.argv;
keepCardResults(kernelFixtures, path, target);
