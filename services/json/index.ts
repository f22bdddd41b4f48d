export {
  isSmallJson,
  JsonStream,
  readJson,
  SMALL_BYTES,
  type JsonReceiver,
  type JsonSource,
} from './readJson.js';
export { boundedLines } from './boundedLines.js';
export { ExactInteger } from './exactInteger.js';
export { jsonText } from './jsonText.js';
export { parseExactly } from './parseExactly.js';
export { LongNumbers } from './longNumbers.js';
export { TURNS, type LongTask } from './turns.js';
export { eachInTurns, type Series } from './eachInTurns.js';
export { differingFields } from './differingFields.js';
export { shapeFault } from './shapeFault.js';
