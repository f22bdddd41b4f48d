import { writeFileSync } from 'node:fs';
import { monitoringFiles } from './files.js';

/** Rewrites dashboards and rules under the current directory, the repository's root. */
for (const [path, text] of monitoringFiles()) writeFileSync(path, text);
