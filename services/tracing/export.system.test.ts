import { spawnSync } from 'node:child_process';
import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import { commandFile } from '../cli/index.js';
import { ServedProcess } from '../tests/servedProcess.js';
import { OtlpReceiver } from './tests/otlpReceiver.js';

const TRACE = '4bf92f3577b34da6a3ce929d0e0e4736';
const TRACEPARENT = `00-${TRACE}-00f067aa0ba902b7-01`;
/** Shorter than the SDK's 5 s, so that spans leave while it serves. */
const SOON = { OTEL_BSP_SCHEDULE_DELAY: '50' };

describe('windjammer serve --otlp-endpoint', () => {
  let receiver: OtlpReceiver;
  beforeEach(async () => {
    receiver = await OtlpReceiver.start();
  });
  afterEach(() => receiver.close());

  async function predictOnce(server: ServedProcess): Promise<void> {
    const response = await fetch(`${server.query}/noop/predict`, {
      method: 'POST',
      headers: { 'content-type': 'application/json', traceparent: TRACEPARENT },
      body: JSON.stringify({ input: [1, 2, 3] }),
    });
    expect(await response.json()).toMatchObject({ default: false });
  }

  it('sends the spans of its requests to a real receiver, and what is left when it drains', async () => {
    const server = await ServedProcess.start(['--ephemeral', '--otlp-endpoint', receiver.url], {
      OTEL_EXPORTER_OTLP_PROTOCOL: 'http/json',
      OTEL_SERVICE_NAME: 'digits-frontend',
      // Nothing would leave before the end.
      OTEL_BSP_SCHEDULE_DELAY: '600000',
    });
    await predictOnce(server);
    expect(receiver.bodies).toEqual([]);
    expect(await server.end('SIGTERM')).toBe(0);
    expect(receiver.bodies.map(({ path }) => path)).toEqual(['/v1/traces']);
    expect(receiver.resource()).toMatchObject({ 'service.name': 'digits-frontend' });
    const spans = receiver.spans();
    const names = spans.map(({ name }) => name);
    for (const name of [
      'POST /{application}/predict',
      'query noop',
      'select ',
      'evaluate noop',
      'batch noop',
    ]) {
      expect(names.filter((found) => found.startsWith(name))).toHaveLength(1);
    }
    expect(new Set(spans.map(({ traceId }) => traceId))).toEqual(new Set([TRACE]));
    const byId = new Map(spans.map((span) => [span.spanId, span]));
    for (const { name, parentSpanId = '', startTimeUnixNano, endTimeUnixNano } of spans) {
      const parent = byId.get(parentSpanId);
      if (parent === undefined) {
        expect([name, parentSpanId]).toEqual(['POST /{application}/predict', '00f067aa0ba902b7']);
      } else {
        expect(BigInt(startTimeUnixNano)).toBeGreaterThanOrEqual(BigInt(parent.startTimeUnixNano));
      }
      expect(BigInt(endTimeUnixNano)).toBeGreaterThanOrEqual(BigInt(startTimeUnixNano));
    }
    const batch = spans.find(({ name }) => name === 'batch noop');
    const model = spans.find(({ name }) => name === 'evaluate noop');
    expect(batch?.links?.map(({ spanId }) => spanId)).toEqual([model?.spanId]);
  });

  it('speaks protobuf unless told otherwise, and follows the environment without the option', async () => {
    const server = await ServedProcess.start(['--ephemeral'], {
      ...SOON,
      OTEL_EXPORTER_OTLP_ENDPOINT: receiver.url,
    });
    await predictOnce(server);
    await expect.poll(() => receiver.bodies.length, { timeout: 20_000 }).toBeGreaterThan(0);
    expect(await server.end('SIGTERM')).toBe(0);
    const [{ contentType, path }] = receiver.bodies;
    expect([path, contentType]).toEqual(['/v1/traces', 'application/x-protobuf']);
    const bytes = Buffer.concat(receiver.bodies.map((body) => body.bytes));
    expect(bytes.includes(Buffer.from(TRACE, 'hex'))).toBe(true);
    expect(bytes.includes('batch noop')).toBe(true);
  });

  it('serves on when nobody receives, says so once, and stops in time', async () => {
    const { url } = receiver;
    await receiver.close();
    const server = await ServedProcess.start(['--ephemeral', '--otlp-endpoint', url], {
      ...SOON,
      OTEL_EXPORTER_OTLP_TIMEOUT: '500',
    });
    for (let i = 0; i < 5; i++) await predictOnce(server);
    await expect.poll(() => server.errors, { timeout: 20_000 }).toContain('OpenTelemetry');
    await predictOnce(server);
    expect(await server.end('SIGTERM')).toBe(0);
    expect(server.errors.match(/"msg":"OpenTelemetry"/g)).toHaveLength(1);
    receiver = await OtlpReceiver.start();
  });

  it('is not held up at its end by a receiver that never answers', async () => {
    receiver.isSilent = true;
    const server = await ServedProcess.start(['--ephemeral', '--otlp-endpoint', receiver.url], {
      OTEL_EXPORTER_OTLP_TIMEOUT: '300',
    });
    await predictOnce(server);
    const ended = server.end('SIGINT');
    await expect.poll(() => receiver.bodies.length, { timeout: 20_000 }).toBe(1);
    expect(await ended).toBe(0);
    expect(server.errors).toContain('spans were not exported before the end');
  });

  it('refuses an endpoint that is none, in one line', () => {
    const entry = commandFile();
    const { status, stderr } = spawnSync(
      process.execPath,
      [entry, 'serve', '--ephemeral', '--otlp-endpoint', 'localhost:4318'],
      { encoding: 'utf8' },
    );
    expect(status).toBe(1);
    expect(stderr.trim()).toMatch(/--otlp-endpoint must be an http or https URL, not 'localhost:4318'$/);
  });
});
