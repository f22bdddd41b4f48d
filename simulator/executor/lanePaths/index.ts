export { forEachLane, forEachStoring, lowestLane, populationCount, storingAtOnce } from './laneMasks.js';
export { LanePaths, type Standing } from './lanePaths.js';
