export { StoreThreadLine } from './storeThreadLine.js';
export { SCHEMA_VERSION, StoreFiles, type Put } from './storeFiles.js';
