export { makeDirectory } from './directories.js';
export { fileStamp } from './fileStamp.js';
export { readJsonFile, readTextFile } from './textFile.js';
