export { LoadError, type LoadErrorCode } from './loadError.js';
export { functionAddress, loadModule, unloadModule } from './loadModule.js';
export {
  layoutLocal,
  layoutShared,
  sharedBytesOf,
  type LocalLayout,
  type SharedLayout,
} from './variableLayout.js';
