export { StoreThreadLine, type ReadingTask, type TaskDone } from './storeThreadLine.js';
export { SCHEMA_VERSION, SLICE, StoreFiles, type Put } from './storeFiles.js';
