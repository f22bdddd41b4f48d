export { lowerCalls, type CallLoweringOptions } from './lowerCalls.js';
