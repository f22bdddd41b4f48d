import { diag, DiagLogLevel } from '@opentelemetry/api';
import { OTLPTraceExporter as JsonExporter } from '@opentelemetry/exporter-trace-otlp-http';
import { OTLPTraceExporter as ProtobufExporter } from '@opentelemetry/exporter-trace-otlp-proto';
import {
  defaultResource,
  detectResources,
  envDetector,
  resourceFromAttributes,
  type Resource,
} from '@opentelemetry/resources';
import { BasicTracerProvider, BatchSpanProcessor } from '@opentelemetry/sdk-trace-base';
import { randomUUID } from 'node:crypto';
import { ExportComplaints, type Complain } from './exportComplaints.js';
import type { TracingSettings } from './settings.js';
import { Tracing } from './tracing.js';

/** A batch's span links to every request in it; the SDK's own limit is 128. */
const LINKS = 4096;
/** How long a receiver that does not answer may hold up a shutdown. */
const SHUTDOWN_MS = 5_000;

/**
 * OpenTelemetry's SDK with its OTLP exporter. Sampler (OTEL_TRACES_SAMPLER), batches (OTEL_BSP_*), headers, timeout and
 * compression (OTEL_EXPORTER_OTLP_*), limits of spans and resource attributes are as its environment variables say.
 */
export function startTraceExport({ protocol, url }: TracingSettings, complain: Complain): Tracing {
  const complaints = new ExportComplaints(complain, Date.now);
  diag.setLogger(complaints, { logLevel: DiagLogLevel.WARN, suppressOverrideMessage: true });
  const options = url === undefined ? {} : { url };
  const exporter = protocol === 'http/json' ? new JsonExporter(options) : new ProtobufExporter(options);
  const limited = process.env.OTEL_SPAN_LINK_COUNT_LIMIT !== undefined;
  const provider = new BasicTracerProvider({
    resource: resource(),
    spanProcessors: [new BatchSpanProcessor(exporter)],
    ...(limited ? {} : { spanLimits: { linkCountLimit: LINKS } }),
  });
  return new Tracing(provider, async () => {
    let timer: NodeJS.Timeout | undefined;
    const late = new Promise<void>((resolve) => {
      timer = setTimeout(() => {
        complain('spans were not exported before the end', { waitedMs: SHUTDOWN_MS });
        resolve();
      }, SHUTDOWN_MS);
    });
    const flushed = provider.shutdown().catch((error: unknown) => {
      complain('spans were not exported before the end', { error });
    });
    await Promise.race([flushed, late]);
    clearTimeout(timer);
    diag.disable();
  });
}

/** OTEL_SERVICE_NAME and OTEL_RESOURCE_ATTRIBUTES come before what is known here. */
function resource(): Resource {
  return defaultResource()
    .merge(resourceFromAttributes({ 'service.name': 'windjammer', 'service.instance.id': randomUUID() }))
    .merge(detectResources({ detectors: [envDetector] }));
}
