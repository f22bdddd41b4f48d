export type * from './records.js';
