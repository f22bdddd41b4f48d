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
import { reasonOf } from '../../simulator/text/index.js';
import { ExportComplaints, type Complain } from './exportComplaints.js';
import type { TracingSettings } from './settings.js';
import { Tracing } from './tracing.js';

/** A batch's span links to every request in it; the SDK's own limit is 128. */
const LINKS = 4096;
/** How long a receiver may take, tries after the first among it, and so hold up a shutdown. */
const TIMEOUT_MS = 5_000;

/**
 * OpenTelemetry's SDK with its OTLP exporter. Sampler (OTEL_TRACES_SAMPLER), batches (OTEL_BSP_*), headers, timeout and
 * compression (OTEL_EXPORTER_OTLP_*), limits of spans and resource attributes are as its environment variables say.
 */
export function startTraceExport({ protocol, url }: TracingSettings, complain: Complain): Tracing {
  const complaints = new ExportComplaints(complain, Date.now);
  diag.setLogger(complaints, { logLevel: DiagLogLevel.WARN, suppressOverrideMessage: true });
  const { OTEL_EXPORTER_OTLP_TRACES_TIMEOUT, OTEL_EXPORTER_OTLP_TIMEOUT } = process.env;
  const timed = OTEL_EXPORTER_OTLP_TRACES_TIMEOUT !== undefined || OTEL_EXPORTER_OTLP_TIMEOUT !== undefined;
  const options = {
    ...(url === undefined ? {} : { url }),
    ...(timed ? {} : { timeoutMillis: TIMEOUT_MS }),
  };
  const exporter = protocol === 'http/json' ? new JsonExporter(options) : new ProtobufExporter(options);
  const limited = process.env.OTEL_SPAN_LINK_COUNT_LIMIT !== undefined;
  const provider = new BasicTracerProvider({
    resource: resource(),
    spanProcessors: [new BatchSpanProcessor(exporter)],
    ...(limited ? {} : { spanLimits: { linkCountLimit: LINKS } }),
  });
  return new Tracing(provider, async () => {
    try {
      await provider.shutdown();
    } catch (error) {
      const reason = reasonOf(error);
      complain('spans were not exported before the end', { reason });
    }
    diag.disable();
  });
}

/** OTEL_SERVICE_NAME and OTEL_RESOURCE_ATTRIBUTES come before what is known here. */
function resource(): Resource {
  return defaultResource()
    .merge(resourceFromAttributes({ 'service.name': 'windjammer', 'service.instance.id': randomUUID() }))
    .merge(detectResources({ detectors: [envDetector] }));
}
