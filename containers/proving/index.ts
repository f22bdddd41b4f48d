export { giveWay } from './backgroundThread.js';
export { BudgetedSolver } from './budgetedSolver.js';
export { installedSolver, SOLVER_PACKAGE } from './installedSolver.js';
export { proveAlone, proveOffline, withAnswers, type OwnProof } from './proveOffline.js';
export type { Solver } from './solver.js';
export { SolverLost, SolverThread } from './solverThread.js';
export { SolverMissing } from './z3Api.js';
export { Z3Solver } from './z3Solver.js';
