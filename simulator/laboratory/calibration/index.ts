export { calibrate, largestBuffer } from './calibrate.js';
export { CalibrationError, type CalibrationErrorCode } from './calibrationError.js';
export {
  calibrationReport,
  comparison,
  type CalibratedLaunch,
  type CalibrationReport,
  type Comparison,
  type KernelErrors,
} from './calibrationReport.js';
export { errorTable, withErrorTable, type SetErrors } from './errorTable.js';
export { measuredByTable, measuredLaunches, type MeasuredLaunch } from './measuredLaunches.js';
export { MEASURED_SETS, measuredSet, type MeasuredSet } from './measuredSets.js';
export { scatterPage, scatterSvg } from './scatterPlot.js';
