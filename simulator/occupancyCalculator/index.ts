export { calculateOccupancy, calculateOccupancyFile, type OccupancyQuestion } from './calculateOccupancy.js';
export type { BlockSizeRow, LimitRow, OccupancyReport } from './occupancyReport.js';
export { occupancyText } from './occupancyText.js';
