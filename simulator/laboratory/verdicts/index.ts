/** What verdicts of idempotency are held to; apart from them, so that nothing that serves loads it. */
export * from './corpus/index.js';
export * from './heldOut/index.js';
export * from './mutation/index.js';
export * from './oracles/index.js';
