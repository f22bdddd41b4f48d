export { AccessCaches } from './accessCaches.js';
export { loadCache, placeOf, placesIn, type CacheLocals } from './accessWindows.js';
export { AddressEmitter, type MemorySurroundings } from './addressEmitter.js';
export { JOURNAL_WHAT, journalFunction, journalWhat, type JournalKind } from './journalEmitter.js';
export { MemoryEmitter } from './memoryEmitter.js';
