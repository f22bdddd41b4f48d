export { fetchCode, FETCH_RESULTS, FETCH_WORDS } from './fetchForm.js';
export type { FetchOperands } from './sampledTexture.js';
export { TextureError } from './textureError.js';
export {
  ADDRESS_MODES,
  encodeObject,
  FILTERS,
  levelShapes,
  OBJECT_BYTES,
  RESOURCE_KINDS,
  resourceBytes,
  TEXEL_TYPES,
  texelBytes,
  textureObject,
  type AddressMode,
  type Filter,
  type ResourceKind,
  type Sampler,
  type TexelType,
  type TextureObject,
  type TextureResource,
} from './textureObject.js';
export { objectAt, TextureFault, TextureUnits } from './textureUnits.js';
export { blendOf, shareOut } from './textureUnit.js';
