export { oneLaneEmitter } from './oneLane.js';
export { vectorEmitter } from './vectorEmitter.js';
