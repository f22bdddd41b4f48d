import type { LaunchClass } from '../../containers/protocol/index.js';
import { asServiceError, errorJson, ServiceError, type ErrorCode } from '../errors/index.js';
import type { Answer, DefaultReason, PredictionService, Query, QueryRefusal } from '../prediction/index.js';
import type { RegistryView } from '../registry/index.js';
import { predictionJson, strictRefusal } from './answers.js';
import { encodeInput } from './inputs.js';
import { readPredictRequest } from './requests.js';
import { RouteTable } from './routeTable.js';
import { LOWEST_PRIORITY } from './schemas.js';

/** What became of a line: JSON of its prediction, or of its error. */
export interface LineOutcome {
  readonly json: string;
  readonly error?: ErrorCode;
  /**
   * Whether the same line may go well later: `timely`, since models were too slow for it; `surely`, since there is no room for it, or
   * nobody to answer it, at present.
   */
  readonly passes: false | 'timely' | 'surely';
}

/** Lines of one application that are without an answer, and that were asked so far. */
export interface LineLoad {
  inFlight: number;
  taken: number;
}

export interface LineQueriesOptions {
  readonly registry: RegistryView;
  readonly service: PredictionService;
  /** Must differ from those of every other source of queries. */
  readonly queryIdPrefix: string;
  readonly onDefect: (error: ServiceError) => void;
}

/**
 * Queries that come as lines of JSON: an input, or a request with `input`, as for `POST /{application}/predict`. They are strict
 * (a line gets its models' answer or an error), of the lowest priority and best effort unless they say otherwise.
 */
export class LineQueries {
  private readonly routes: RouteTable;
  private asked = 0;
  private readonly loads = new Map<string, LineLoad>();

  constructor(private readonly options: LineQueriesOptions) {
    this.routes = new RouteTable(options.registry);
  }

  /** Calls back once, perhaps at once. @returns what cancels it: then nobody is called */
  ask(
    application: string,
    line: string,
    launchClass: LaunchClass,
    done: (outcome: LineOutcome) => void,
  ): () => void {
    try {
      const query = this.query(application, line, launchClass);
      if (query instanceof ServiceError) done(failed(query));
      else return this.predict(query, done);
    } catch (thrown) {
      const error = asServiceError(thrown);
      if (error.code === 'internal') this.options.onDefect(error);
      done(failed(error));
    }
    return () => undefined;
  }

  /** Of its own queries. */
  load(application: string): LineLoad {
    let load = this.loads.get(application);
    if (load === undefined) this.loads.set(application, (load = { inFlight: 0, taken: 0 }));
    return load;
  }

  close(): void {
    this.routes.close();
  }

  private predict(query: Query, done: (outcome: LineOutcome) => void): () => void {
    const { service } = this.options;
    const load = this.load(query.application);
    load.inFlight += 1;
    load.taken += 1;
    let isOver = false;
    const end = (): void => {
      if (!isOver) load.inFlight -= 1;
      isOver = true;
    };
    const sink = new LineSink((outcome) => {
      end();
      done(outcome);
    });
    service.predict(query, sink);
    return () => {
      if (isOver) return;
      service.cancel(query.id);
      end();
    };
  }

  private query(name: string, line: string, launchClass: LaunchClass): Query | ServiceError {
    const route = this.routes.find(name);
    if (route === undefined) {
      return new ServiceError('unknown_application', `no application has the name ${JSON.stringify(name)}`);
    }
    const request = readPredictRequest(requestOf(line));
    if (request.inputBatch !== undefined) {
      return new ServiceError('invalid_value', 'a line asks for one prediction: give input', 'input_batch');
    }
    const form = request.version === undefined ? route.input : route.inputOfAnyVersion;
    const input = encodeInput(form, request.input, 'input');
    if (input instanceof ServiceError) return input;
    const { context, features, version, priority = LOWEST_PRIORITY } = request;
    return {
      id: `${this.options.queryIdPrefix}-${(this.asked++).toString(36)}`,
      application: route.application.name,
      input,
      context,
      features,
      version,
      priority,
      launchClass: request.launchClass ?? launchClass,
      source: this,
    };
  }
}

const PASSING: Readonly<Record<DefaultReason, LineOutcome['passes']>> = {
  no_linked_model: 'surely',
  no_replica: 'surely',
  overload: 'surely',
  deadline: 'timely',
  model_error: false,
  low_confidence: false,
};

class LineSink {
  constructor(private readonly done: (outcome: LineOutcome) => void) {}

  onAnswer(_query: Query, answer: Answer): void {
    const { isDefault, defaultReason } = answer;
    if (!isDefault || defaultReason === undefined) {
      this.done({ json: predictionJson(answer), passes: false });
      return;
    }
    const { code, message } = strictRefusal(answer, defaultReason);
    const passes = PASSING[defaultReason];
    this.done({ json: errorJson(code, message), error: code, passes });
  }

  onRefusal(_query: Query, { code, message, field }: QueryRefusal): void {
    this.done({
      json: errorJson(code, message, field),
      error: code,
      passes: code === 'shutting_down' && 'surely',
    });
  }
}

function failed({ code, message, field }: ServiceError): LineOutcome {
  return { json: errorJson(code, message, field), error: code, passes: false };
}

/** @throws ServiceError `not_json`, `missing_field` */
function requestOf(line: string): unknown {
  let value: unknown;
  try {
    value = JSON.parse(line);
  } catch (cause) {
    throw new ServiceError('not_json', `the line is no JSON: ${(cause as Error).message}`, undefined, {
      cause,
    });
  }
  const isRequest = typeof value === 'object' && value !== null && !Array.isArray(value);
  return isRequest ? value : { input: value };
}
