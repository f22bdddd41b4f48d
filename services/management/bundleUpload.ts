import type { IncomingMessage } from 'node:http';
import type { BundleDesk } from '../bundles/index.js';
import { describeValue, ServiceError } from '../errors/index.js';
import { ProgressMark, wantBody, type OpenApiOperation } from '../http/index.js';
import { bundleAnswer, bundleSchema } from './schemas.js';
import { validate } from './validation.js';

export const BUNDLE_PATH = '/admin/add_bundle';
export const BUNDLE_TYPE = 'application/octet-stream';

/** A body of which hardly anything comes for so long is given up. */
const SILENCE_MS = 30_000;

export const BUNDLE: OpenApiOperation = {
  method: 'post',
  path: BUNDLE_PATH,
  summary:
    'Files of a model, for add_model to name by their hash. Those that no version names are removed after an hour',
  scope: 'admin',
  parameters: [
    {
      name: 'content_hash',
      in: 'query',
      description: bundleSchema.shape.content_hash.description ?? '',
      schema: bundleSchema.shape.content_hash,
    },
  ],
  requestTypes: {
    [BUNDLE_TYPE]:
      'A line of JSON, {"files": [{"name": "…", "size": …}, …]}, and the bytes of all files behind it. Names are paths below one folder; the first file is the manifest or the module of the model',
  },
  answer: bundleAnswer,
  errors: [
    'missing_field',
    'invalid_value',
    'unsupported_media_type',
    'request_timeout',
    'body_too_large',
    'invalid_bundle',
    'too_many_uploads',
    'storage_full',
    'store_failed',
  ],
};

/** Whether a request brings a bundle, which may take longer than any other. */
export function bringsBundle({ url = '' }: IncomingMessage): boolean {
  return url === BUNDLE_PATH || url.startsWith(`${BUNDLE_PATH}?`);
}

/**
 * Takes the bundle that a request brings.
 * @param query of its URL
 * @throws ServiceError (as a rejection) those of `BUNDLE`
 */
export async function takeBundle(
  request: IncomingMessage,
  query: unknown,
  bundles: Pick<BundleDesk, 'receive'>,
): Promise<object> {
  const { content_hash: hash } = validate(bundleSchema, query);
  const { headers } = request;
  const type = headers['content-type']?.split(';', 1)[0].trim().toLowerCase();
  const coding = headers['content-encoding'] ?? 'identity';
  if (type !== BUNDLE_TYPE || coding !== 'identity') {
    const [field, given] = type === BUNDLE_TYPE ? ['Content-Encoding', coding] : ['Content-Type', type];
    const message = `a bundle comes as ${BUNDLE_TYPE} without Content-Encoding, ${describeValue(given)} came`;
    throw new ServiceError('unsupported_media_type', message, field);
  }
  const length = headers['content-length'];
  wantBody(request);
  await bundles.receive(hash, gettingOn(request), length === undefined ? undefined : Number(length));
  return { content_hash: hash, is_there: true };
}

/** The body, given up where it does not get on. */
async function* gettingOn(request: IncomingMessage): AsyncGenerator<Uint8Array> {
  const mark = new ProgressMark();
  // Not `for await`: that destroys the request, and with it the connection that the answer goes over.
  const source = request.iterator({ destroyOnReturn: false }) as AsyncIterator<Uint8Array>;
  const { socket } = request;
  let onClose: () => void = () => undefined;
  // Nobody tells a request whose connection broke off once something was answered to that.
  const gone = new Promise<never>((_, reject) => {
    onClose = () => reject(new Error('the client left amid its bundle'));
    socket.once('close', onClose);
  });
  gone.catch(() => undefined);
  try {
    for (;;) {
      const next = await within(source.next(), gone, mark.heardMs + SILENCE_MS - performance.now());
      if (next.done === true) return;
      mark.on(next.value.length);
      yield next.value;
      // Time that the disk takes is none of the client's.
      mark.heardMs = Math.max(mark.heardMs, performance.now() - SILENCE_MS / 2);
    }
  } finally {
    socket.off('close', onClose);
    // Not awaited: it waits for what has not come.
    void source.return?.().catch(() => undefined);
  }
}

/** @throws ServiceError `request_timeout` */
async function within<T>(next: Promise<T>, gone: Promise<never>, ms: number): Promise<T> {
  let timer: NodeJS.Timeout | undefined;
  const late = new Promise<never>((_, reject) => {
    const message = 'hardly anything of the bundle came for 30 seconds';
    timer = setTimeout(() => reject(new ServiceError('request_timeout', message)), Math.max(0, ms));
  });
  // What fails behind the time is nobody's.
  next.catch(() => undefined);
  try {
    return await Promise.race([next, gone, late]);
  } finally {
    clearTimeout(timer);
  }
}
