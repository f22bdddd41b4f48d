import { writeFileSync } from 'node:fs';
import { errorDocumentation } from './documentation.js';

/** Rewrites docs/reference/errors.md under the current directory, the repository's root. */
writeFileSync('docs/reference/errors.md', errorDocumentation());
