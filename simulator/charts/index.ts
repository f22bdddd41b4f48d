export {
  fittingAxis,
  linearAxis,
  logarithmicAxis,
  roundLogarithmicAxis,
  tickText,
  type Axis,
} from './axis.js';
export { frame, PALETTE, pixel, svgDocument, yGrid, type PlotArea } from './svgDocument.js';
