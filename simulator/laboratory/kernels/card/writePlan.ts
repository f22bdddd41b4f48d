/**
 * Writes what a real card is to run, every fixture with its inputs:
 *   npm run build && node dist/simulator/laboratory/kernels/card/writePlan.js plan.json
 *   python3 simulator/laboratory/kernels/card/runOnCard.py plan.json simulator/laboratory/kernels results.json   (beside a card)
 *   node dist/simulator/laboratory/kernels/card/keepResults.js results.json
 */
import { writeFileSync } from 'node:fs';
import { kernelFixtures } from '../index.js';
import { cardPlan } from './cardPlan.js';

const [, , path = 'plan.json'] = process.argv;
writeFileSync(path, JSON.stringify(kernelFixtures.map(cardPlan)));
console.log(`${kernelFixtures.length} programs in ${path}`);
