export type * from './store.js';
export { EmbeddedStore, SCHEMA_VERSION } from './embeddedStore.js';
export { MemoryStore } from './memoryStore.js';
export { StoreError } from './storeError.js';
export { storeKey, storeKeyParts } from './storeKey.js';
