import { writeFileSync } from 'node:fs';
import { metricDocumentation } from './documentation.js';

/** Rewrites docs/reference/metrics.md under the current directory, the repository's root. */
writeFileSync('docs/reference/metrics.md', metricDocumentation());
