import { Agent, request } from 'node:http';
import type { AddressInfo } from 'node:net';
import type { InputType } from '../../../containers/protocol/index.js';
import { Registry } from '../../registry/index.js';
import { MemoryStore } from '../../store/index.js';
import { QueryFrontend, type QueryFrontendOptions } from '../index.js';
import { FakePredictionService } from './fakePredictionService.js';

export interface HttpAnswer {
  readonly status: number;
  readonly headers: Readonly<Record<string, string | string[] | undefined>>;
  readonly text: string;
  /** The body as it came. */
  readonly bytes: Buffer;
  /** The parsed body. */
  readonly json: unknown;
  /** The connection that carried it. */
  readonly localPort: number | undefined;
}

export interface SendOptions {
  readonly method?: string | undefined;
  readonly body?: string | Buffer | undefined;
  readonly headers?: Readonly<Record<string, string>> | undefined;
  /** null: none is named; a body is declared to be JSON unless something else is said. */
  readonly contentType?: string | null;
}

/** A frontend with applications of every input type, a fake engine, and one keep-alive connection to it. */
export class FrontendHarness {
  readonly agent = new Agent({ keepAlive: true, maxSockets: 1 });

  private constructor(
    readonly frontend: QueryFrontend,
    readonly address: AddressInfo,
    readonly service: FakePredictionService,
    readonly registry: Registry,
    /** What the observer heard, as application:code. */
    readonly refused: string[],
  ) {}

  static async start(options: Partial<QueryFrontendOptions> = {}): Promise<FrontendHarness> {
    const service = new FakePredictionService();
    const registry = new Registry(new MemoryStore());
    const refused: string[] = [];
    const frontend = new QueryFrontend({
      registry,
      service,
      metrics: (format) => Promise.resolve({ contentType: format, bytes: Buffer.from('metric 1\n') }),
      queryIdPrefix: 'test',
      observer: { onRefused: (application, code) => refused.push(`${application ?? '-'}:${code}`) },
      ...options,
    });
    for (const type of ['doubles', 'floats', 'integers', 'bytes', 'strings'] as const) {
      await addApplication(registry, type, type);
    }
    const address = await frontend.listen({ host: '127.0.0.1', port: 0 });
    frontend.markReady();
    return new FrontendHarness(frontend, address, service, registry, refused);
  }

  send(path: string, options: SendOptions = {}): Promise<HttpAnswer> {
    const { method = 'POST', body, headers = {} } = options;
    const { contentType = body === undefined ? null : 'application/json' } = options;
    return new Promise((resolve, reject) => {
      const outgoing = request(
        {
          host: '127.0.0.1',
          port: this.address.port,
          path,
          method,
          agent: this.agent,
          headers: { ...(contentType === null ? {} : { 'content-type': contentType }), ...headers },
        },
        (response) => {
          const localPort = response.socket.localPort;
          const chunks: Buffer[] = [];
          response.on('data', (chunk: Buffer) => chunks.push(chunk));
          response.on('error', reject);
          response.on('end', () => {
            const bytes = Buffer.concat(chunks);
            const text = bytes.toString('utf8');
            const isJson = response.headers['content-type']?.startsWith('application/json') ?? false;
            resolve({
              status: response.statusCode ?? 0,
              headers: response.headers,
              text,
              bytes,
              json: isJson && text !== '' ? (JSON.parse(text) as unknown) : undefined,
              localPort,
            });
          });
        },
      );
      outgoing.on('error', reject);
      outgoing.end(body);
    });
  }

  predict(
    application: string,
    body: unknown,
    headers?: Readonly<Record<string, string>>,
  ): Promise<HttpAnswer> {
    return this.send(`/${application}/predict`, { body: JSON.stringify(body), headers });
  }

  async close(): Promise<void> {
    this.agent.destroy();
    this.service.release();
    await this.frontend.drain(0, 100);
  }
}

export async function addApplication(registry: Registry, name: string, inputType: InputType): Promise<void> {
  await registry.addApplication({
    name,
    inputType,
    defaultOutput: '"default"',
    latencyObjectiveUs: 100_000,
    policy: { name: 'static', parameters: {} },
  });
}
