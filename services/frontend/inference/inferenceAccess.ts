import type { IncomingMessage } from 'node:http';
import type { AccessKey, Denial, Gate } from '../../access/index.js';
import type { InferenceRoute } from './inferencePaths.js';
import type { Servable } from './servables.js';

/**
 * The key of a request of the protocol, or why it may not go on. Health of the server is told to anybody: undefined.
 * @param find what a name of the path stands for, if it stands for anything
 */
export function inferenceKey(
  gate: Gate,
  route: InferenceRoute,
  request: IncomingMessage,
  find: (name: string, version: string | undefined) => Servable | undefined,
): AccessKey | Denial | undefined {
  switch (route.kind) {
    case 'live':
    case 'serverReady':
      return undefined;
    case 'server':
      return gate.keyFor(request, 'predict');
    case 'allStatistics':
    case 'repositoryIndex':
    case 'statistics':
      return gate.keyFor(request, 'metrics');
    case 'load':
    case 'unload':
      return gate.keyFor(request, 'admin');
    case 'model':
    case 'modelReady':
    case 'config':
    case 'infer': {
      const servable = find(route.model, route.version);
      // For a key that is limited, what there is not is like what it may not ask for.
      const kind = servable?.kind ?? 'model';
      return gate.keyFor(request, 'predict', kind, servable?.record.name ?? route.model);
    }
  }
}
