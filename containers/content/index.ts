export { ContentCheck } from './contentCheck.js';
export { contentOf, ContentSum, filePieces, type Content, type NamedFile } from './fileHash.js';
export { moduleContent, moduleParts } from './moduleParts.js';
export { programContent, programParts } from './programParts.js';
export { pythonContent, pythonParts } from './pythonParts.js';
