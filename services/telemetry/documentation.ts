import { Registry } from '../registry/index.js';
import { MemoryStore } from '../store/index.js';
import { METRIC_QUERIES } from './queries.js';
import { Telemetry, type DescribedMetric } from './telemetry.js';

const NOTHING: readonly never[] = [];

/** What a server's telemetry has, in alphabetical order. */
export function describedMetrics(): readonly DescribedMetric[] {
  const telemetry = new Telemetry(new Registry(new MemoryStore()));
  telemetry.attach(
    {
      cacheStats: () => {
        throw new Error('nobody scrapes it');
      },
      lookups: () => NOTHING,
      replicas: () => NOTHING,
      selectionShares: () => undefined,
      inFlight: () => 0,
    },
    { replicas: () => NOTHING, wanted: () => NOTHING, nodes: () => NOTHING },
  );
  telemetry.watchWebSockets(() => 0);
  const closed = () => ({ open: 0, refused: 0 });
  telemetry.watchConnections({ query: closed, management: closed, denials: () => NOTHING });
  const described = [...telemetry.described()].sort((a, b) => (a.name < b.name ? -1 : 1));
  telemetry.close();
  return described;
}

/** `docs/metrics.md`, whole. */
export function metricDocumentation(): string {
  const rows = describedMetrics().map(({ name, type, unit, labels, help }) => {
    const named = labels.map((label) => `\`${label}\``).join(', ');
    return `| \`${name}\` | ${type} | ${unit} | ${named} | ${help} |`;
  });
  const queries = METRIC_QUERIES.map(({ question, promql }) => `${question}:\n\n    ${promql}\n`);
  return `# Metrics

Generated from \`services/telemetry\` by \`node dist/services/telemetry/writeDocumentation.js\`; a test holds the two together.

\`GET /metrics\` on the query interface has all of these in Prometheus' text format, and the \`process_\` and \`nodejs_\` metrics of
the process. A histogram has the series \`_bucket\` (with the label \`le\`), \`_sum\` and \`_count\`.

Every query ends in exactly one outcome of \`windjammer_queries_total\`, every lookup in the cache in exactly one result of
\`windjammer_cache_lookups_total\`, and every miss in exactly one outcome of \`windjammer_evaluations_total\`. REST, WebSocket and
Open Inference Protocol count alike. Labels take values of what is registered: series appear with the first event, go when
the application or the model version is deleted, and begin at zero when the name is registered anew. Names that clients
invent make no series. Containers that name themselves get \`replica\` series up to 256 a version; the rest share \`other\`.

| metric | type | unit | labels | meaning |
| ------ | ---- | ---- | ------ | ------- |
${rows.join('\n')}

## Questions and their PromQL

A test runs each against a Prometheus that scrapes a server.

${queries.join('\n')}
A scrape configuration:

    scrape_configs:
      - job_name: windjammer
        static_configs:
          - targets: ['127.0.0.1:1337']

Where keys are required, the scraper needs one with the scope \`metrics\` (\`authorization: {credentials: KEY}\`). What happens to one
request is in its [trace](tracing.md).
`;
}
