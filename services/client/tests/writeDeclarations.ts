import { writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { packageRoot } from '../../../simulator/files/index.js';
import { clientDeclarations, DECLARATIONS } from './clientDeclarations.js';

writeFileSync(join(packageRoot(), DECLARATIONS), await clientDeclarations());
