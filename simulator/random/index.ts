export { SeededRandom } from './seededRandom.js';
