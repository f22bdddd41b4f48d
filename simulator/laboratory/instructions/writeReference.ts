import { writeFileSync } from 'node:fs';
import { instructionReference } from './reference.js';

/** Rewrites docs/reference/ptx.md under the current directory, the repository's root. */
writeFileSync('docs/reference/ptx.md', instructionReference());
