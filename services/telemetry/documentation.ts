import { METRICS, type MetricDescription } from '../metrics/index.js';
import { METRIC_QUERIES } from './queries.js';

export interface DescribedMetric extends MetricDescription {
  readonly name: string;
}

/** What a server's telemetry has, in alphabetical order. */
export function describedMetrics(): readonly DescribedMetric[] {
  return Object.entries(METRICS)
    .map(([name, description]) => ({ name, ...description }))
    .sort((a, b) => (a.name < b.name ? -1 : 1));
}

/** Of the names that are not ours. */
function isDcgm(name: string): boolean {
  return name.startsWith('DCGM_');
}

function namesOf(labels: readonly string[]): string {
  return labels.map((label) => `\`${label}\``).join(', ');
}

/** `docs/reference/metrics.md`, whole. */
export function metricDocumentation(): string {
  const metrics = describedMetrics();
  const rows = metrics
    .filter(({ name }) => !isDcgm(name))
    .map(({ name, type, unit, labels, help }) => {
      return `| \`${name}\` | ${type} | ${unit} | ${namesOf(labels)} | ${help} |`;
    });
  const dcgm = metrics.filter(({ name }) => isDcgm(name));
  const dcgmRows = dcgm.map(({ name, type, help }) => `| \`${name}\` | ${type} | ${help} |`);
  const queries = METRIC_QUERIES.map(({ question, promql }) => `${question}:\n\n    ${promql}\n`);
  return `# Metrics

Generated from \`services/telemetry\` by \`node dist/services/telemetry/writeDocumentation.js\`; a test holds the two together.

\`GET /metrics\` on the query interface has all of these in Prometheus' text format, and the \`process_\` and \`nodejs_\` metrics of
the process; or in OpenMetrics, [with traces behind latencies](tracing.md#from-a-latency-to-its-trace), where that is accepted. A histogram
has the series \`_bucket\` (with the label \`le\`), \`_sum\` and \`_count\`.

Every query ends in exactly one outcome of \`windjammer_queries_total\`, every lookup in the cache in exactly one result of
\`windjammer_cache_lookups_total\`, and every miss in exactly one outcome of \`windjammer_evaluations_total\`. REST, WebSocket and
Open Inference Protocol count alike. Labels take values of what is registered: series appear with the first event, go when
the application or the model version is deleted, and begin at zero when the name is registered anew. Names that clients
invent make no series. Containers that name themselves get \`replica\` series up to 256 a version; the rest share \`other\`.

| metric | type | unit | labels | meaning |
| ------ | ---- | ---- | ------ | ------- |
${rows.join('\n')}

## GPUs, under the names of NVIDIA's DCGM exporter

One series a simulated GPU, with the labels ${namesOf(dcgm[0]?.labels ?? [])}, so that dashboards made for DCGM show them: NVIDIA's own
([12239](https://grafana.com/grafana/dashboards/12239)) works as it is. Two of its panels stay empty, since temperatures are not simulated and tensor cores have no metric of their own. [deploy/grafana](../../deploy/grafana/README.md) has
dashboards for these and for the metrics above, [deploy/prometheus](../../deploy/prometheus/README.md) rules and alerts.

**All of it is simulated time.** Shares, rates and clocks are the simulated card's, over its last second. Where the host is slower than the card, the card waits for the host and is seen
idle: \`windjammer_gpu_node_dilation\`, host time over simulated time, says how far that goes, and above 1.2 nothing here says how busy a real card would be.
\`windjammer_gpu_node_busy_seconds_total\` is host time.

| metric | type | meaning |
| ------ | ---- | ------- |
${dcgmRows.join('\n')}

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
