export { askNoop } from './askNoop.js';
