export type * from './ir.js';
