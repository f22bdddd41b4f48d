export { StoreThreadLine } from './storeThreadLine.js';
export { SCHEMA_VERSION, type Put } from './storeFiles.js';
