export { makeDirectory } from './directories.js';
export { fileStamp } from './fileStamp.js';
export { packageRoot } from './packageRoot.js';
export { readJsonFile, readTextFile } from './textFile.js';
