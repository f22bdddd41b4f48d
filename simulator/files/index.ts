export { makeDirectory } from './directories.js';
