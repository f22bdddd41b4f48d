import type {
  AddApplicationFields,
  AddKeyFields,
  AddModelFields,
  ApplicationAnswer,
  BundleAnswer,
  CanaryAnswer,
  ClusterAnswer,
  ContainerAnswer,
  EventsAnswer,
  EventsFields,
  ExportAnswer,
  GpuAnswer,
  KeyAnswer,
  ModelAnswer,
  NewKeyAnswer,
  QueueAnswer,
  QueueEntryAnswer,
  ScaleFields,
  SetApplicationFields,
  StateAnswer,
  TimelineFields,
} from '../management/index.js';
import type { QueueJobState } from '../feedbackQueue/index.js';
import { isDone, isEvents, isRecord, isRecordList, isTextList, type AnswerShape } from './answerShapes.js';
import { UnexpectedAnswerError } from './clientErrors.js';
import type { CallOptions } from './clientTypes.js';
import type { HttpCalls } from './httpCalls.js';
import { finite } from './jsonBodies.js';
import type { Pieces } from './transport.js';

const isGpuList = isRecordList('node', 'index', 'name', 'utilization', 'memory', 'power', 'pcie', 'contexts');

/** Clipper's administration, verb by verb. Every call rejects with a ClientError. Changes are durable once they resolve. */
export class ManagementClient {
  constructor(private readonly calls: HttpCalls) {}

  addApplication(fields: AddApplicationFields, options?: CallOptions): Promise<string> {
    return this.ask('add_app', isDone, fields, options);
  }

  /** What is left out stays, and so does what was learned. */
  setApplication(fields: SetApplicationFields, options?: CallOptions): Promise<string> {
    return this.ask('set_app', isDone, fields, options);
  }

  deleteApplication(name: string, options?: CallOptions): Promise<string> {
    return this.ask('delete_app', isDone, { name }, options);
  }

  application(name: string, options?: CallOptions): Promise<ApplicationAnswer> {
    return this.ask('get_application', isRecord('name'), { name }, options);
  }

  applications(options?: CallOptions): Promise<readonly ApplicationAnswer[]> {
    return this.ask('get_all_applications', isRecordList('name'), { verbose: true }, options);
  }

  /** Registers a version; it becomes the current one. */
  addModel(fields: AddModelFields, options?: CallOptions): Promise<string> {
    return this.ask('add_model', isDone, fields, options);
  }

  /** Whether the server has the files of a model, by the hash of their content. */
  async hasBundle(contentHash: string, options?: CallOptions): Promise<boolean> {
    const fields = { content_hash: contentHash };
    const answer: BundleAnswer = await this.ask('get_bundle', isRecord('content_hash'), fields, options);
    return answer.is_there;
  }

  /**
   * Sends the files of a model, for `addModel` to name by `content_hash`.
   * @param body a line of JSON that lists the files, and their bytes behind it: docs/reference/rest.md. Give `timeoutMs` as long as
   * sending it takes
   */
  async addBundle(contentHash: string, body: Pieces, options?: CallOptions): Promise<void> {
    const query = new URLSearchParams({ content_hash: contentHash });
    const path = `/admin/add_bundle?${query.toString()}`;
    const type = 'application/octet-stream';
    const answer = await this.calls.call({ method: 'POST', path, body, type }, options);
    if (!isRecord('content_hash')(answer)) throw notManagement('add_bundle');
  }

  deleteModel(name: string, version: string, options?: CallOptions): Promise<string> {
    return this.ask('delete_versioned_model', isDone, { model_name: name, model_version: version }, options);
  }

  /** Rolls back or forward. */
  setModelVersion(name: string, version: string, options?: CallOptions): Promise<string> {
    return this.ask('set_model_version', isDone, { model_name: name, model_version: version }, options);
  }

  /**
   * Tries a registered version beside the current one, with a share of the queries that grows.
   * @param canary parameters of policy `canary`
   */
  startCanary(
    name: string,
    version: string,
    canary: Readonly<Record<string, unknown>> = {},
    options?: CallOptions,
  ): Promise<string> {
    return this.ask('start_canary', isDone, { model_name: name, model_version: version, canary }, options);
  }

  /** The version that is tried becomes the current one. */
  promoteCanary(name: string, options?: CallOptions): Promise<string> {
    return this.ask('promote_canary', isDone, { model_name: name }, options);
  }

  abortCanary(name: string, options?: CallOptions): Promise<string> {
    return this.ask('abort_canary', isDone, { model_name: name }, options);
  }

  /** The version of a model that is tried, or was last. */
  canary(name: string, options?: CallOptions): Promise<CanaryAnswer> {
    return this.ask('get_canary', isRecord('model_name', 'phase'), { model_name: name }, options);
  }

  canaries(options?: CallOptions): Promise<readonly CanaryAnswer[]> {
    return this.ask('get_all_canaries', isRecordList('model_name', 'phase'), {}, options);
  }

  /** Says how many replicas of a version run, or between which numbers the load decides. */
  setReplicas(fields: ScaleFields, options?: CallOptions): Promise<string> {
    return this.ask('set_num_replicas', isDone, fields, options);
  }

  model(name: string, version: string, options?: CallOptions): Promise<ModelAnswer> {
    return this.ask(
      'get_model',
      isRecord('model_name', 'model_version'),
      { model_name: name, model_version: version },
      options,
    );
  }

  models(options?: CallOptions): Promise<readonly ModelAnswer[]> {
    return this.ask(
      'get_all_models',
      isRecordList('model_name', 'model_version'),
      { verbose: true },
      options,
    );
  }

  /** Links all of them or, on an error, none. */
  addLinks(application: string, models: readonly string[], options?: CallOptions): Promise<string> {
    return this.ask('add_model_links', isDone, { app_name: application, model_names: models }, options);
  }

  deleteLinks(application: string, models: readonly string[], options?: CallOptions): Promise<string> {
    return this.ask('delete_model_links', isDone, { app_name: application, model_names: models }, options);
  }

  /** Names in order of linking. */
  linkedModels(application: string, options?: CallOptions): Promise<readonly string[]> {
    return this.ask('get_linked_models', isTextList, { app_name: application }, options);
  }

  containers(options?: CallOptions): Promise<readonly ContainerAnswer[]> {
    return this.ask(
      'get_all_containers',
      isRecordList('model_name', 'model_version'),
      { verbose: true },
      options,
    );
  }

  /** What an application has learned, for itself or for one selection context. */
  state(application: string, context?: string, options?: CallOptions): Promise<StateAnswer> {
    return this.ask('get_state', isRecord(), { app_name: application, uid: context }, options);
  }

  /** The state as it is kept, and earlier versions. */
  exportState(application: string, context?: string, options?: CallOptions): Promise<ExportAnswer> {
    return this.ask(
      'export_state',
      isRecord('version', 'past'),
      { app_name: application, uid: context },
      options,
    );
  }

  /** Forgets what was learned; earlier versions stay. */
  resetState(application: string, context?: string, options?: CallOptions): Promise<string> {
    return this.ask('reset_state', isDone, { app_name: application, uid: context }, options);
  }

  /** @param version one that `exportState` lists; the last one unless given */
  rollBackState(
    application: string,
    context?: string,
    version?: number,
    options?: CallOptions,
  ): Promise<string> {
    return this.ask('rollback_state', isDone, { app_name: application, uid: context, version }, options);
  }

  /** It learns nothing until it is unpinned. */
  pinState(application: string, context?: string, options?: CallOptions): Promise<string> {
    return this.ask('pin_state', isDone, { app_name: application, uid: context }, options);
  }

  unpinState(application: string, context?: string, options?: CallOptions): Promise<string> {
    return this.ask('unpin_state', isDone, { app_name: application, uid: context }, options);
  }

  /** Feedback that is accepted and not learned yet, and what has failed. @param limit 100 unless given */
  queue(states?: readonly QueueJobState[], limit?: number, options?: CallOptions): Promise<QueueAnswer> {
    return this.ask('list_feedback', isRecord('counts', 'feedback'), { states, limit }, options);
  }

  /** One of them, with all that is queued of it. */
  queuedFeedback(id: string, options?: CallOptions): Promise<QueueEntryAnswer> {
    return this.ask('show_feedback', isRecord('id', 'state'), { id }, options);
  }

  /** Tries again what has failed. @param id undefined: all of it */
  retryFeedback(id?: string, options?: CallOptions): Promise<string> {
    return this.ask('retry_feedback', isDone, id === undefined ? { all: true } : { id }, options);
  }

  /** Gives up what has failed. @param id undefined: all of it */
  dropFeedback(id?: string, options?: CallOptions): Promise<string> {
    return this.ask('drop_feedback', isDone, id === undefined ? { all: true } : { id }, options);
  }

  /**
   * What was changed, and what happened by itself: the last ones; with `after` those that follow, for which `wait_seconds` waits.
   * Give `timeoutMs` some seconds more than that.
   */
  events(fields: EventsFields = {}, options?: CallOptions): Promise<EventsAnswer> {
    return this.ask('list_events', isEvents, fields, options);
  }

  /** What every simulated GPU does. */
  gpus(options?: CallOptions): Promise<readonly GpuAnswer[]> {
    return this.ask('get_gpus', isGpuList, {}, options);
  }

  /** Takes as long as is asked for. The answer is a trace in Chrome's trace event format. */
  recordGpuTimeline(fields: TimelineFields, options?: CallOptions): Promise<unknown> {
    return this.ask('record_gpu_timeline', isRecord('traceEvents', 'droppedEvents'), fields, options);
  }

  /** The key is in this answer and nowhere else. */
  addKey(fields: AddKeyFields, options?: CallOptions): Promise<NewKeyAnswer> {
    return this.ask('add_key', isRecord('key'), fields, options);
  }

  /** Oldest first, without secrets. */
  keys(options?: CallOptions): Promise<readonly KeyAnswer[]> {
    return this.ask('get_all_keys', isRecordList('id'), {}, options);
  }

  /** Makes what this frontend knows the truth, after the shared store has lost changes. */
  repairStore(options?: CallOptions): Promise<string> {
    return this.ask('repair_store', isDone, {}, options);
  }

  /** Frontends and nodes of a cluster, as this frontend sees them. */
  clusterStatus(options?: CallOptions): Promise<ClusterAnswer> {
    return this.ask('cluster_status', isRecord('frontends', 'nodes'), {}, options);
  }

  /** Places no replicas on a node, and those that it has on others; or may again. */
  drainNode(node: string, isDrained = true, options?: CallOptions): Promise<string> {
    return this.ask(isDrained ? 'drain_node' : 'undrain_node', isDone, { node }, options);
  }

  /** All that the server keeps, as it comes: lines of JSON, the last of which has a checksum. @param silenceMs after which the server is given up */
  backup(signal?: AbortSignal, silenceMs?: number): AsyncGenerator<Uint8Array> {
    return this.calls.stream('/admin/backup', { type: 'application/x-ndjson', silenceMs, signal });
  }

  /** Requests with the key are refused at once. */
  deleteKey(id: string, options?: CallOptions): Promise<string> {
    return this.ask('delete_key', isDone, { id }, options);
  }

  private async ask<T>(
    verb: string,
    isAnswer: AnswerShape,
    body: unknown,
    options: CallOptions = {},
  ): Promise<T> {
    const answer = await this.calls.post(`/admin/${verb}`, finite(body), options);
    if (isAnswer(answer)) return answer as T;
    throw notManagement(verb);
  }
}

function notManagement(verb: string): UnexpectedAnswerError {
  return new UnexpectedAnswerError(
    `what answers ${verb} is no management interface of Windjammer; is the address right?`,
  );
}
