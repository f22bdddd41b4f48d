export { makeDirectory } from './directories.js';
export { readJsonFile, readTextFile } from './textFile.js';
