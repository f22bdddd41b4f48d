export { forEachLane, lowestLane, populationCount } from './laneMasks.js';
export { LanePaths, type Standing } from './lanePaths.js';
