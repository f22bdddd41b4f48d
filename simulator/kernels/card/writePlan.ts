/**
 * Writes what a real card is to run, every fixture with its inputs:
 *   npm run build && node dist/simulator/kernels/card/writePlan.js plan.json
 *   python3 simulator/kernels/card/runOnCard.py plan.json simulator/kernels results.json   (beside a card)
 *   node dist/simulator/kernels/card/keepResults.js results.json
 */
import { writeFileSync } from 'node:fs';
import { kernelFixtures } from '../index.js';
import { cardPlan } from './cardPlan.js';

const [, , path = 'plan.json'] = process.argv;
writeFileSync(path, JSON.stringify(kernelFixtures.map(cardPlan)));
console.log(`${kernelFixtures.length} programs in ${path}`);
