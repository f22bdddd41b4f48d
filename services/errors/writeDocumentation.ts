import { writeFileSync } from 'node:fs';
import { errorDocumentation } from './documentation.js';

/** Rewrites docs/errors.md under the current directory, the repository's root. */
writeFileSync('docs/errors.md', errorDocumentation());
