import { writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { packageRoot } from '../../simulator/files/index.js';
import { manifestTexts } from './manifests.js';

for (const [name, text] of Object.entries(manifestTexts()))
  writeFileSync(join(packageRoot(), 'deploy/kubernetes', name), text);
