export type { SolverFact, SolverFacts, SolverNotes, SolverQuery } from './query.js';
export { rangeQuery } from './rangeQuery.js';
export { solverBounds, type BoundedAccess } from './solverBounds.js';
