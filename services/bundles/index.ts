export { MOST_BUNDLE_BYTES, type BundleStore } from './bundle.js';
export { BundleCache, type BundleCacheOptions, type HeldBundle } from './bundleCache.js';
export { BundleError } from './bundleError.js';
export { collectBundles } from './collectBundles.js';
export { FolderBundles } from './folderBundles.js';
export { RedisBundles } from './redisBundles.js';
export { BundledStarter } from './bundledStarter.js';
export { keepBundle } from './keepBundle.js';
export { uploadBundle } from './uploadBundle.js';
