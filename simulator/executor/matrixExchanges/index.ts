export {
  columnStep,
  matrixOperation,
  rowsPerPart,
  ROW_ALIGNMENT,
  type MatrixOperation,
} from './matrixOperation.js';
