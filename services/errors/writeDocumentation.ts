import { writeFileSync } from 'node:fs';
import { errorDocumentation } from './documentation.js';
import { pythonCodes } from './pythonCodes.js';

/** Rewrites what is made of the catalogue, under the current directory, the repository's root. */
writeFileSync('docs/reference/errors.md', errorDocumentation());
writeFileSync('services/client/python/windjammer/error_codes.py', pythonCodes());
