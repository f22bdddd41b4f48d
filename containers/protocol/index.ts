export { fittingGroup } from './fittingGroup.js';
export * from './frames.js';
export * from './inputForm.js';
export { inputValue } from './inputValue.js';
export { encodeFrame, FrameReader, MAX_FRAME_BYTES } from './streamCodec.js';
export { ProtocolError } from './streamBytes.js';
export { LAUNCH_CLASSES, launchClassNamed, type LaunchClass } from '../../simulator/scheduling/index.js';
