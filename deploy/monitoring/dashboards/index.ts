import { APPLICATION } from './application.js';
import type { Board } from './board.js';
import { CLUSTER } from './cluster.js';
import { GPUS } from './gpu.js';
import { MODEL } from './model.js';
import { OVERVIEW } from './overview.js';
import { SELECTION } from './selection.js';

export type { Board } from './board.js';
export { grafanaJson } from './grafanaJson.js';

export const BOARDS: readonly Board[] = [OVERVIEW, APPLICATION, MODEL, SELECTION, GPUS, CLUSTER];
