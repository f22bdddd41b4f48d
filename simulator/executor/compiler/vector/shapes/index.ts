export { UNIFORM, sameShape, shapeOfOperand, strideOf, type LaneShape } from './laneShapes.js';
export { analyseShapes, type MaskedInstructions, type RegisterShapes } from './shapeAnalysis.js';
