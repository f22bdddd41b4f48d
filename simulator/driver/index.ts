export type * from './commands.js';
