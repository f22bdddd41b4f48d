export { LineSplitter } from './lineSplitter.js';
export { escapeMarkup } from './markup.js';
export { percent } from './percent.js';
export { reasonOf } from './reason.js';
