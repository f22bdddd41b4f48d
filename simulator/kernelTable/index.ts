export { KernelTableError, type KernelTableErrorCode } from './kernelTableError.js';
export { parseKernelTable, type KernelClass, type KernelRow } from './kernelTable.js';
export {
  replayTables,
  type ClientReport,
  type LatencyReport,
  type PreemptionReport,
  type ReplayOptions,
  type ReplayReport,
  type ReplayTable,
} from './replay.js';
export { RowWorks } from './rowWork.js';
export { tableModule, type TableLaunch, type TableModule } from './tableModule.js';
export { TABLE_STATISTICS, tableLike, tableText, type TableStatistics } from './tableStatistics.js';
