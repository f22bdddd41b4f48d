import type { IncomingMessage } from 'node:http';
import type { Denial, Gate } from '../../access/index.js';
import type { InferenceRoute } from './inferencePaths.js';
import type { Servable } from './servables.js';

/**
 * Why a request of the protocol may not go on; undefined: it may. Health of the server is told to anybody.
 * @param find what a name of the path stands for, if it stands for anything
 */
export function inferenceDenial(
  gate: Gate,
  route: InferenceRoute,
  request: IncomingMessage,
  find: (name: string, version: string | undefined) => Servable | undefined,
): Denial | undefined {
  switch (route.kind) {
    case 'live':
    case 'serverReady':
      return undefined;
    case 'server':
      return gate.denial(request, 'predict');
    case 'allStatistics':
    case 'repositoryIndex':
    case 'statistics':
      return gate.denial(request, 'metrics');
    case 'load':
    case 'unload':
      return gate.denial(request, 'admin');
    case 'model':
    case 'modelReady':
    case 'infer': {
      const servable = find(route.model, route.version);
      // For a key that is limited, what there is not is like what it may not ask for.
      const kind = servable?.kind ?? 'model';
      return gate.denial(request, 'predict', kind, servable?.record.name ?? route.model);
    }
  }
}
