export { proveOffline, withAnswers } from './proveOffline.js';
export type { Solver } from './solver.js';
export { SolverMissing } from './z3Api.js';
export { Z3Solver } from './z3Solver.js';
