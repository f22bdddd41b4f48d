export {
  columnStep,
  matrixOperation,
  rowsPerPart,
  ROW_ALIGNMENT,
  type MatrixOperation,
} from './matrixOperation.js';
export { PRODUCT_IMPORT, productImport, productNumber } from './productImport.js';
