export { forEachLane, forEachStoring, lowestLane, populationCount, storingAtOnce } from './laneMasks.js';
export { LanePaths, MOST_LOOKS, type Standing } from './lanePaths.js';
