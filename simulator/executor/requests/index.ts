export {
  atomicSectors,
  bitCount4,
  RequestShaper,
  SECTOR_BYTES,
  sharedAtomicCycles,
  type RequestShape,
} from './requestShape.js';
