export { makeDirectory } from './directories.js';
export { fileStamp } from './fileStamp.js';
export { readGivenFile, requireRegularFile, START_FILE, WORK_FILE, type FileLimits } from './givenFile.js';
export { packageRoot } from './packageRoot.js';
export { parseJsonText, readJsonFile, readPemFile, readTextFile } from './textFile.js';
