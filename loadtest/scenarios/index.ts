export { SCENARIOS } from './scenarios.js';
export { runScenario } from './runScenario.js';
