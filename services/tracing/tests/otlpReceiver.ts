import { once } from 'node:events';
import { createServer, type Server } from 'node:http';
import type { AddressInfo } from 'node:net';

/** A span as OTLP's JSON has it. */
export interface ReceivedSpan {
  readonly traceId: string;
  readonly spanId: string;
  readonly parentSpanId?: string;
  readonly name: string;
  readonly kind: number;
  readonly startTimeUnixNano: string;
  readonly endTimeUnixNano: string;
  readonly links?: readonly { readonly spanId: string }[];
}

interface ExportBody {
  readonly resourceSpans: readonly {
    readonly resource: { readonly attributes: readonly { key: string; value: { stringValue?: string } }[] };
    readonly scopeSpans: readonly { readonly spans: readonly ReceivedSpan[] }[];
  }[];
}

/** A receiver of OTLP over HTTP, as a collector is one. */
export class OtlpReceiver {
  readonly bodies: { readonly path: string; readonly contentType: string; readonly bytes: Buffer }[] = [];
  /** It takes everything and answers nothing. */
  isSilent = false;
  private readonly server: Server;

  private constructor() {
    this.server = createServer((request, response) => {
      const chunks: Buffer[] = [];
      request.on('data', (chunk: Buffer) => chunks.push(chunk));
      request.on('end', () => {
        const { url = '', headers } = request;
        const contentType = headers['content-type'] ?? '';
        this.bodies.push({ path: url, contentType, bytes: Buffer.concat(chunks) });
        if (this.isSilent) return;
        response.setHeader('content-type', contentType);
        response.end(contentType === 'application/json' ? '{}' : '');
      });
    });
  }

  static async start(): Promise<OtlpReceiver> {
    const receiver = new OtlpReceiver();
    receiver.server.listen(0, '127.0.0.1');
    await once(receiver.server, 'listening');
    return receiver;
  }

  get url(): string {
    return `http://127.0.0.1:${(this.server.address() as AddressInfo).port}`;
  }

  /** Of bodies in JSON. */
  spans(): readonly ReceivedSpan[] {
    return this.json().flatMap(({ scopeSpans }) => scopeSpans.flatMap(({ spans }) => spans));
  }

  /** Of the first body's resource. */
  resource(): Readonly<Record<string, string | undefined>> {
    const [first] = this.json();
    return Object.fromEntries(first.resource.attributes.map(({ key, value }) => [key, value.stringValue]));
  }

  async close(): Promise<void> {
    this.server.close();
    this.server.closeAllConnections();
    await once(this.server, 'close');
  }

  private json(): ExportBody['resourceSpans'] {
    return this.bodies
      .filter(({ contentType }) => contentType === 'application/json')
      .flatMap(({ bytes }) => (JSON.parse(bytes.toString()) as ExportBody).resourceSpans);
  }
}
