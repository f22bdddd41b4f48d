import { writeFileSync } from 'node:fs';
import { operatorDocumentation } from './documentation.js';

/** Rewrites docs/reference/onnx.md under the current directory, the repository's root. */
writeFileSync('docs/reference/onnx.md', operatorDocumentation());
