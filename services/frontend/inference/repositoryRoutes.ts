import type { IncomingMessage, ServerResponse } from 'node:http';
import type { AccessKey } from '../../access/index.js';
import { asServiceError, describeValue, ServiceError } from '../../errors/index.js';
import { sendJson, type BodyLimits } from '../../http/index.js';
import type { ModelRecord } from '../../registry/index.js';
import { originAllowed } from '../websocket/origin.js';
import { readInferenceBody } from './inferenceBody.js';
import { booleanParameter, readObject, readParameters } from './inferParameters.js';

/** Which models run, and who starts and stops them. */
export interface ModelRepository {
  /** How far a version is from serving; the reason is '' of one that is ready. */
  state(name: string, version: string): { readonly state: string; readonly reason: string };
  /** Not unloaded. */
  isLoaded(name: string, version: string): boolean;
  /** Resolves once the model is up. Rejections are ServiceErrors. @param key of whoever asks, where one is asked for */
  load(name: string, key?: AccessKey): Promise<void>;
  unload(name: string, key?: AccessKey): Promise<void>;
}

export interface RepositoryRoutesOptions {
  readonly repository: ModelRepository | undefined;
  /** Clients may load and unload. */
  readonly isControlled: boolean;
  /** Origins of web pages that may do so, beside the server's own; `*`: any. */
  readonly allowedOrigins: readonly string[];
  readonly bodyLimits: BodyLimits;
  models(): readonly ModelRecord[];
  isReady(name: string, version: string): boolean;
  refuse(response: ServerResponse, error: ServiceError): void;
}

/** The model repository extension: which versions there are, and loading and unloading of models. */
export class RepositoryRoutes {
  constructor(private readonly options: RepositoryRoutesOptions) {}

  index(request: IncomingMessage, response: ServerResponse): void {
    this.read(request, response, (body) => {
      const { ready } = readObject(body, 'the body');
      if (ready !== undefined && typeof ready !== 'boolean') {
        throw new ServiceError(
          'wrong_type',
          `ready must be a boolean, ${describeValue(ready)} came`,
          'ready',
        );
      }
      const { options } = this;
      const index = options.models().map(({ name, version }) => {
        if (options.isReady(name, version)) return { name, version, state: 'READY', reason: '' };
        const { state, reason } = options.repository?.state(name, version) ?? NOTHING_UP;
        // A replica that is up is not taken into use yet.
        return state === 'READY'
          ? { name, version, state: 'LOADING', reason: 'a replica is taken into use' }
          : { name, version, state, reason };
      });
      sendJson(
        response,
        200,
        JSON.stringify(ready === true ? index.filter(({ state }) => state === 'READY') : index),
      );
    });
  }

  /** @param verb what to do with the model `name`. */
  change(
    verb: 'load' | 'unload',
    name: string,
    request: IncomingMessage,
    response: ServerResponse,
    key: AccessKey | undefined,
  ): void {
    const { repository, isControlled, allowedOrigins } = this.options;
    if (repository === undefined || !isControlled) {
      const message = `${verb} is not allowed here: start the server with --v2-repository-control, or scale the model on the management interface`;
      request.resume();
      this.options.refuse(response, new ServiceError('not_supported', message));
      return;
    }
    const { origin, host } = request.headers;
    if (!originAllowed(origin, host, allowedOrigins)) {
      const message = `pages of ${describeValue(origin)} may not ${verb} models: --allow-origin names those that may`;
      request.resume();
      this.options.refuse(response, new ServiceError('origin_not_allowed', message, 'Origin'));
      return;
    }
    this.read(request, response, (body) => {
      checkChange(verb, body);
      const done = verb === 'load' ? repository.load(name, key) : repository.unload(name, key);
      done.then(
        () => sendJson(response, 200, '{}'),
        (thrown: unknown) => this.options.refuse(response, asServiceError(thrown)),
      );
    });
  }

  private read(request: IncomingMessage, response: ServerResponse, onBody: (body: unknown) => void): void {
    readInferenceBody(
      request,
      this.options.bodyLimits,
      {
        onBody: (body, binary) => {
          try {
            binary.end();
            onBody(body);
          } catch (thrown) {
            this.options.refuse(response, asServiceError(thrown));
          }
        },
        onBodyError: (error) => this.options.refuse(response, error),
      },
      {},
    );
  }
}

const NOTHING_UP = { state: 'UNAVAILABLE', reason: 'no replica is up' } as const;

/** Other parameters are ignored, as the protocol has it. No model has others that depend on it. */
function checkChange(verb: 'load' | 'unload', body: unknown): void {
  const { parameters: given } = readObject(body, 'the body');
  const parameters = readParameters(given, 'parameters', 'repository');
  if (verb === 'unload') {
    booleanParameter(parameters, 'unload_dependents', 'parameters');
    return;
  }
  for (const parameter of Object.keys(parameters ?? {})) {
    if (parameter !== 'config' && !parameter.startsWith('file:')) continue;
    const field = `parameters.${parameter.slice(0, 64)}`;
    const message = `${field}: models run as they are registered; register another version on the management interface`;
    throw new ServiceError('not_supported', message, field);
  }
}
