import type { IncomingMessage, ServerResponse } from 'node:http';
import { Router, type Request, type RequestHandler, type Response } from 'express';
import { LAUNCH_CLASSES, launchClassNamed, type LaunchClass } from '../../containers/protocol/index.js';
import { Denial, type AccessKey, type Gate } from '../access/index.js';
import { asServiceError, describeValue, passesSoon, ServiceError } from '../errors/index.js';
import { sendError, sendJson } from '../http/index.js';
import type { RegistryView } from '../registry/index.js';
import type { JobLedger, JobProgress } from './job.js';
import { jobChunks } from './jobChunks.js';
import { JobError } from './jobError.js';

export interface JobRoutesOptions {
  readonly ledger: JobLedger;
  readonly registry: RegistryView;
  /** Undefined: anybody may ask. */
  readonly gate: Gate | undefined;
  readonly onDefect: (error: ServiceError) => void;
}

/** What an input of a job is called. */
export const JOB_TYPES = ['application/x-ndjson', 'application/jsonl', 'application/json-lines'] as const;

const FOLLOW_EVERY_MS = 100;

/** `/jobs`: predictions of many lines, as work that waits for room. */
export function jobRoutes(options: JobRoutesOptions): RequestHandler {
  const routes = new JobRoutes(options);
  const router = Router({ caseSensitive: true });
  const on = (work: (request: Request, response: Response) => Promise<void>): RequestHandler => {
    return (request, response) => {
      work(request, response).catch((thrown: unknown) => routes.refuse(request, response, thrown));
    };
  };
  router
    .route('/')
    .get(on((request, response) => routes.list(request, response)))
    .post(on((request, response) => routes.create(request, response)))
    .all((request, response) => notAllowed(request, response, 'GET, HEAD, POST'));
  router
    .route('/:id')
    .get(on((request, response) => routes.show(request, response)))
    .delete(on((request, response) => routes.remove(request, response)))
    .all((request, response) => notAllowed(request, response, 'GET, HEAD, DELETE'));
  router
    .route('/:id/results')
    .get(on((request, response) => routes.results(request, response)))
    .all((request, response) => notAllowed(request, response, 'GET, HEAD'));
  router
    .route('/:id/cancel')
    .post(on((request, response) => routes.cancel(request, response)))
    .all((request, response) => notAllowed(request, response, 'POST'));
  return router;
}

/** As a client is shown it. */
export function jobJson({ description, state, answered, failed }: JobProgress) {
  const { id, application, launchClass, lines, inputBytes, createdMs } = description;
  return {
    job_id: id,
    application,
    launch_class: launchClass,
    state,
    lines,
    answered,
    failed,
    input_bytes: inputBytes,
    created: new Date(createdMs).toISOString(),
  };
}

class JobRoutes {
  constructor(private readonly options: JobRoutesOptions) {}

  async create(request: Request, response: Response): Promise<void> {
    const application = this.application(request);
    this.admit(request, application);
    const launchClass = classOf(request);
    checkType(request);
    const { ledger } = this.options;
    const description = await ledger.create({ application, launchClass }, jobChunks(request));
    sendJson(
      response,
      202,
      JSON.stringify(jobJson({ description, state: 'running', answered: 0, failed: 0 })),
      ['location', `/jobs/${description.id}`],
    );
  }

  async list(request: Request, response: Response): Promise<void> {
    const key = this.admit(request);
    const jobs = await this.options.ledger.list();
    const shown = jobs.filter(
      ({ description }) => key?.covers('application', description.application) !== false,
    );
    // Whose they are is not known: they are shown to keys that see everything.
    const unreadable = key?.isLimited === true ? [] : this.options.ledger.unreadable();
    const broken =
      unreadable.length === 0
        ? {}
        : { unreadable: unreadable.map(({ id, reason }) => ({ job_id: id, reason })) };
    sendJson(response, 200, JSON.stringify({ jobs: shown.map(jobJson), ...broken }));
  }

  async show(request: Request, response: Response): Promise<void> {
    sendJson(response, 200, JSON.stringify(jobJson(await this.job(request))));
  }

  async cancel(request: Request, response: Response): Promise<void> {
    const { description } = await this.job(request);
    await this.options.ledger.cancel(description.id);
    await this.show(request, response);
  }

  async remove(request: Request, response: Response): Promise<void> {
    if (await this.removeUnreadable(request, response)) return;
    const progress = await this.job(request);
    await this.options.ledger.remove(progress.description.id);
    const state = progress.state === 'running' ? 'cancelled' : progress.state;
    sendJson(response, 200, JSON.stringify(jobJson({ ...progress, state })));
  }

  private async removeUnreadable(request: Request, response: Response): Promise<boolean> {
    const key = this.admit(request);
    const { ledger } = this.options;
    const found = ledger.unreadable().find(({ id }) => id === request.params['id']);
    if (found === undefined || key?.isLimited === true) return false;
    await ledger.remove(found.id);
    sendJson(response, 200, JSON.stringify({ job_id: found.id, reason: found.reason }));
    return true;
  }

  /** Results in the order of the lines, as far as there are any without a gap; with `follow=true` until the job is over. */
  async results(request: Request, response: Response): Promise<void> {
    const { ledger } = this.options;
    const follow = followOf(request);
    const { description, state } = await this.job(request);
    const gone = new AbortController();
    response.on('close', () => gone.abort());
    response.writeHead(200, { 'content-type': 'application/x-ndjson', 'x-windjammer-job': state });
    try {
      for (let index = 0; index < description.chunks && !gone.signal.aborted; index++) {
        let text = await ledger.results(description.id, index);
        while (text === undefined && follow && !gone.signal.aborted) {
          const progress = await ledger.progress(description.id);
          if (progress?.state !== 'running') break;
          await new Promise((resolve) => setTimeout(resolve, FOLLOW_EVERY_MS));
          text = await ledger.results(description.id, index);
        }
        // It may have been kept just before the job was over.
        text ??= follow ? await ledger.results(description.id, index) : undefined;
        if (text === undefined) break;
        if (!response.write(text)) await drained(response, gone.signal);
      }
      response.end();
    } catch (error) {
      // The head is out: that something is missing shows by an answer that breaks off.
      if (!(error instanceof JobError)) this.options.onDefect(asServiceError(error));
      response.destroy();
    }
  }

  refuse(request: IncomingMessage, response: ServerResponse, thrown: unknown): void {
    if (response.headersSent || response.destroyed) {
      response.destroy();
      return;
    }
    if (thrown instanceof Denial) {
      sendError(response, thrown.code, thrown.message, thrown.field, thrown.headers);
    } else {
      const error = asServiceError(asTold(thrown));
      if (error.code === 'internal') this.options.onDefect(error);
      const headers = passesSoon(error.code) ? ['retry-after', '1'] : [];
      // What is still to come of a body is not read.
      const isOpen = !request.readableEnded && request.method === 'POST';
      sendError(response, error.code, error.message, error.field, [
        ...headers,
        ...(isOpen ? ['connection', 'close'] : []),
      ]);
    }
  }

  /** @throws Denial */
  private admit(request: IncomingMessage, application?: string): AccessKey | undefined {
    const { gate } = this.options;
    if (gate === undefined) return undefined;
    const key =
      application === undefined
        ? gate.admit(request, 'predict')
        : gate.keyFor(request, 'predict', 'application', application);
    // eslint-disable-next-line @typescript-eslint/only-throw-error -- a denial is an answer, told as it is
    if (key instanceof Denial) throw key;
    return key;
  }

  /** @throws ServiceError, Denial: one that the key may not see is not there for it */
  private async job(request: Request): Promise<JobProgress> {
    const key = this.admit(request);
    const { id } = request.params;
    const found = typeof id === 'string' ? await this.options.ledger.progress(id) : undefined;
    if (found !== undefined && key?.covers('application', found.description.application) !== false)
      return found;
    throw new ServiceError(
      'unknown_job',
      `there is no job ${JSON.stringify(id).slice(0, 80)}: GET /jobs lists all`,
      'id',
    );
  }

  private application(request: Request): string {
    const { application } = request.query;
    if (application === undefined) {
      throw new ServiceError(
        'missing_field',
        'application is required: POST /jobs?application=NAME',
        'application',
      );
    }
    if (typeof application !== 'string' || this.options.registry.application(application) === undefined) {
      throw new ServiceError(
        'unknown_application',
        `no application has the name ${JSON.stringify(application).slice(0, 80)}`,
        'application',
      );
    }
    return application;
  }
}

function classOf(request: Request): LaunchClass {
  const name = request.query['class'];
  if (name === undefined) return 'bestEffort';
  const found = typeof name === 'string' ? launchClassNamed(name) : undefined;
  if (found !== undefined) return found;
  throw new ServiceError(
    'invalid_value',
    `class must be one of ${LAUNCH_CLASSES.join(', ')}, ${describeValue(name)} came`,
    'class',
  );
}

function followOf(request: Request): boolean {
  const { follow } = request.query;
  if (follow === undefined || follow === 'false') return false;
  if (follow === 'true') return true;
  throw new ServiceError(
    'invalid_value',
    `follow must be true or false, ${describeValue(follow)} came`,
    'follow',
  );
}

function checkType({ headers }: IncomingMessage): void {
  const type = headers['content-type']?.split(';', 1)[0].trim().toLowerCase();
  if (!JOB_TYPES.some((known) => known === type)) {
    throw new ServiceError(
      'unsupported_media_type',
      `the Content-Type of a job's input is ${JOB_TYPES.join(' or ')}, a JSON value a line; ${describeValue(type)} came`,
      'Content-Type',
    );
  }
  const coding = headers['content-encoding'];
  if (coding === undefined || coding === 'identity') return;
  throw new ServiceError(
    'unsupported_media_type',
    `a job's input comes without Content-Encoding, ${describeValue(coding)} came`,
    'Content-Encoding',
  );
}

/** What a ledger says, as a client is told it. */
function asTold(thrown: unknown): unknown {
  if (!(thrown instanceof JobError)) return thrown;
  switch (thrown.code) {
    case 'unknown':
      return new ServiceError('unknown_job', thrown.message, 'id');
    case 'full':
      return new ServiceError('storage_full', thrown.message);
    case 'unusable':
      return new ServiceError('store_failed', thrown.message);
    case 'away':
      return new ServiceError('redis_away', thrown.message);
  }
}

function notAllowed(request: Request, response: Response, allow: string): void {
  const message = `${request.method} is not allowed here, use ${allow.replace('GET, HEAD', 'GET').replace(', ', ' or ')}`;
  sendError(response, 'method_not_allowed', message, undefined, ['allow', allow]);
}

function drained(response: ServerResponse, gone: AbortSignal): Promise<void> {
  return new Promise((resolve) => {
    const go = (): void => {
      response.off('drain', go);
      gone.removeEventListener('abort', go);
      resolve();
    };
    response.on('drain', go);
    gone.addEventListener('abort', go);
    if (gone.aborted) go();
  });
}
