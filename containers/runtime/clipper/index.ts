export { Complaints } from './complaints.js';
export {
  ClipperServer,
  DEFAULT_CLIPPER_LIMITS,
  type ClipperLimits,
  type ClipperServerOptions,
  type DialledContainer,
} from './clipperServer.js';
