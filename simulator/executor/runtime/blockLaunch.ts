import type { IrModule } from '../../ptx/index.js';
import type { ExecutorLaunch } from '../types.js';

/** What running blocks asks of a launch once it stands in an area. */
export interface BlockLaunch extends Pick<ExecutorLaunch, 'kernel' | 'shape' | 'place'> {
  readonly module: { readonly ir: Pick<IrModule, 'file'> };
}
