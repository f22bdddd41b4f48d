/** A path of the protocol, parsed. */
export type InferenceRoute =
  | { readonly kind: 'server' | 'live' | 'serverReady' | 'allStatistics' | 'repositoryIndex' }
  | {
      readonly kind: 'model' | 'modelReady' | 'config' | 'statistics' | 'infer';
      readonly model: string;
      readonly version: string | undefined;
    }
  | { readonly kind: 'load' | 'unload'; readonly model: string };

/** `/v2/models/stats`: statistics of every model, unless one has this name. */
export const STATISTICS = 'stats';

/** Whether a URL belongs to the protocol: `/v2` and what is below it. */
export function isInferencePath(url: string): boolean {
  if (!url.startsWith('/v2')) return false;
  return url.length === 3 || url[3] === '/' || url[3] === '?';
}

const ACTIONS = { ready: 'modelReady', config: 'config', stats: 'statistics', infer: 'infer' } as const;

/** @returns undefined for a path that names no route, `malformed` when its encoding is broken. */
export function inferenceRoute(url: string): InferenceRoute | undefined | 'malformed' {
  const query = url.indexOf('?');
  let path = query < 0 ? url : url.slice(0, query);
  // One trailing slash is allowed.
  if (path.endsWith('/')) path = path.slice(0, -1);
  let parts: string[];
  try {
    parts = path.slice('/v2/'.length).split('/').map(decodeURIComponent);
  } catch {
    return 'malformed';
  }
  const [area, ...rest] = parts;
  switch (area) {
    case '':
      return rest.length === 0 ? { kind: 'server' } : undefined;
    case 'health':
      if (rest.length !== 1) return undefined;
      return rest[0] === 'live'
        ? { kind: 'live' }
        : rest[0] === 'ready'
          ? { kind: 'serverReady' }
          : undefined;
    case 'models':
      return modelRoute(rest);
    case 'repository':
      return repositoryRoute(rest);
    default:
      return undefined;
  }
}

function modelRoute(parts: readonly string[]): InferenceRoute | undefined {
  if (parts.length === 1 && parts[0] === STATISTICS) return { kind: 'allStatistics' };
  const [model, ...rest] = parts;
  if (model === undefined || model === '') return undefined;
  let version: string | undefined;
  if (rest[0] === 'versions') {
    version = rest[1];
    if (version === undefined || version === '') return undefined;
    rest.splice(0, 2);
  }
  if (rest.length === 0) return { kind: 'model', model, version };
  const [action] = rest;
  if (rest.length > 1 || !isAction(action)) return undefined;
  return { kind: ACTIONS[action], model, version };
}

function isAction(text: string): text is keyof typeof ACTIONS {
  return Object.hasOwn(ACTIONS, text);
}

function repositoryRoute(parts: readonly string[]): InferenceRoute | undefined {
  if (parts.length === 1 && parts[0] === 'index') return { kind: 'repositoryIndex' };
  const [models, model, action, ...more] = parts;
  if (models !== 'models' || model === '' || more.length > 0) return undefined;
  return action === 'load' || action === 'unload' ? { kind: action, model } : undefined;
}
