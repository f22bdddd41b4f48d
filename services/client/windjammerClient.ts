import type { RefusedError } from './clientErrors.js';
import type {
  CallOptions,
  ClientInput,
  Feedback,
  FeedbackResult,
  Prediction,
  PredictOptions,
} from './clientTypes.js';
import type { ConnectionOptions } from './connectionOptions.js';
import { DEFAULT_TIMEOUT_MS, HttpCalls } from './httpCalls.js';
import {
  feedbackFields,
  jsonInput,
  predictFields,
  predictHeaders,
  readFeedbackResult,
  readFields,
  readPrediction,
  readRefusal,
} from './jsonBodies.js';
import { JobsClient } from './jobsClient.js';
import { ManagementClient } from './managementClient.js';

export const DEFAULT_QUERY_URL = 'http://127.0.0.1:1337';
export const DEFAULT_MANAGEMENT_URL = 'http://127.0.0.1:1338';

export interface WindjammerClientOptions extends ConnectionOptions {
  readonly queryUrl?: string | undefined;
  readonly managementUrl?: string | undefined;
  /** Of a call without a limit of its own; 30 s by default. */
  readonly timeoutMs?: number | undefined;
}

/** A client of one server over HTTP. Calls reject with a ClientError: RefusedError, UnreachableError, TimeoutError. */
export class WindjammerClient {
  readonly management: ManagementClient;
  readonly jobs: JobsClient;
  private readonly queries: HttpCalls;

  constructor(options: WindjammerClientOptions = {}) {
    const timeoutMs = options.timeoutMs ?? DEFAULT_TIMEOUT_MS;
    this.queries = new HttpCalls(options.queryUrl ?? DEFAULT_QUERY_URL, timeoutMs, options);
    this.jobs = new JobsClient(this.queries);
    this.management = new ManagementClient(
      new HttpCalls(options.managementUrl ?? DEFAULT_MANAGEMENT_URL, timeoutMs, options),
    );
  }

  async predict(application: string, input: ClientInput, options: PredictOptions = {}): Promise<Prediction> {
    const body = { input: jsonInput(input), ...predictFields(options) };
    return readPrediction(await this.ask(application, body, options));
  }

  /** One entry for each input, in order: a prediction, or why there is none. */
  async predictBatch(
    application: string,
    inputs: readonly ClientInput[],
    options: PredictOptions = {},
  ): Promise<(Prediction | RefusedError)[]> {
    const body = { input_batch: inputs.map(jsonInput), ...predictFields(options) };
    const answer = readFields(await this.ask(application, body, options));
    const entries = Array.isArray(answer.batch_predictions) ? answer.batch_predictions : [];
    return entries.map((entry: unknown) => readRefusal(entry, 200) ?? readPrediction(entry));
  }

  async feedback(
    application: string,
    feedback: Feedback,
    options: CallOptions = {},
  ): Promise<FeedbackResult> {
    const body = feedbackFields(feedback);
    return readFeedbackResult(await this.queries.post(path(application, 'update'), body, options));
  }

  private async ask(application: string, body: unknown, options: PredictOptions): Promise<unknown> {
    return this.queries.post(path(application, 'predict'), body, options, predictHeaders(options));
  }
}

function path(application: string, verb: 'predict' | 'update'): string {
  return `/${encodeURIComponent(application)}/${verb}`;
}
