export { isSmallJson, readJson, type JsonReceiver } from './readJson.js';
export { TURNS, type LongTask } from './turns.js';
export { eachInTurns, type Series } from './eachInTurns.js';
