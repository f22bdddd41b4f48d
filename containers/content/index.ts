export { ContentCheck } from './contentCheck.js';
export { contentOf, type Content } from './fileHash.js';
export { moduleContent } from './moduleParts.js';
