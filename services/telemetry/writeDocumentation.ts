import { writeFileSync } from 'node:fs';
import { metricDocumentation } from './documentation.js';

/** Rewrites docs/metrics.md under the current directory, the repository's root. */
writeFileSync('docs/metrics.md', metricDocumentation());
