/** Keeps what a card made of these programs: node dist/simulator/laboratory/tensor/programs/keepResults.js OUT/programs.json */
import { keepCardResults } from '../../kernels/index.js';
import { tensorPrograms } from './index.js';

const [, , path = 'programs.json', target = 'simulator/laboratory/tensor/programs/cardDigests.json'] =
  process.argv;
keepCardResults(tensorPrograms, path, target);
