import type { LoadError } from './loadError.js';
import { CsvReader } from './csvReader.js';
import { JsonLines, jsonTime } from './jsonRows.js';
import type { TextSource } from './textSource.js';
import { clip, type TraceRow, type TraceRows } from './traceRows.js';

/** Columns of k6's CSV that are needed, and by which it is known. */
export const K6_COLUMNS = ['metric_name', 'timestamp', 'metric_value'] as const;

/** k6 writes each of these for every HTTP request: the one that comes first in a file counts its requests. */
const HTTP_METRICS: readonly string[] = ['http_reqs', 'http_req_duration'];
/** And this one for every call over gRPC. */
const GRPC_METRIC = 'grpc_req_duration';

interface Point {
  readonly metric: string;
  readonly time: unknown;
  readonly value: unknown;
}

/**
 * What k6 has measured, as CSV or JSON lines: many rows a request, of which one is its arrival. Its time is when the
 * request had been answered.
 */
export class K6Rows implements TraceRows {
  readonly timeName: string;
  readonly unit = undefined;
  private readonly points: () => Point | undefined;
  private readonly passedOver = new Set<string>();
  private counted: string | undefined;

  constructor(
    private readonly source: TextSource,
    form: 'csv' | 'json',
  ) {
    this.timeName = form === 'csv' ? 'timestamp' : 'data.time';
    this.points = form === 'csv' ? csvPoints(source) : jsonPoints(source);
  }

  get whenEmpty(): string {
    const are = [...this.passedOver].join(', ') || 'none';
    return `there is no request in it: none of the metrics ${HTTP_METRICS.join(', ')}, ${GRPC_METRIC}, only ${are}`;
  }

  next(): TraceRow | undefined {
    for (;;) {
      const point = this.points();
      if (point === undefined) return undefined;
      if (!this.isArrival(point)) {
        if (this.passedOver.size < 20) this.passedOver.add(clip(point.metric));
        continue;
      }
      if (point.metric === 'http_reqs' && Number(point.value) !== 1) {
        throw this.problem(
          `http_reqs is ${clip(String(point.value))}: it must be 1, one row a request, as k6 writes it`,
        );
      }
      return {
        ...jsonTime(this.source, this.timeName, point.time, undefined),
        where: `${this.source.path}:${this.source.line}`,
      };
    }
  }

  progress(): number | undefined {
    return this.source.progress();
  }

  problem(text: string): LoadError {
    return this.source.problem(text);
  }

  close(): void {
    this.source.close();
  }

  private isArrival({ metric }: Point): boolean {
    if (metric === GRPC_METRIC) return true;
    if (!HTTP_METRICS.includes(metric)) return false;
    this.counted ??= metric;
    return metric === this.counted;
  }
}

function csvPoints(source: TextSource): () => Point | undefined {
  const reader = new CsvReader(source);
  const names = reader.next()?.map((name) => name.trim().toLowerCase()) ?? [];
  const [metric, time, value] = K6_COLUMNS.map((name) => {
    const at = names.indexOf(name);
    if (at < 0) throw source.problem(`k6's CSV has a column ${name}, and this first line has none`);
    return at;
  });
  return () => {
    const record = reader.next();
    if (record === undefined) return undefined;
    if (record.length !== names.length) {
      throw source.problem(`${record.length} fields, and the header has ${names.length}`);
    }
    return { metric: record[metric].trim(), time: record[time], value: record[value].trim() };
  };
}

function jsonPoints(source: TextSource): () => Point | undefined {
  const lines = new JsonLines(source);
  return () => {
    for (;;) {
      const record = lines.next();
      if (record === undefined) return undefined;
      const { type, metric, data } = record;
      if (type === 'Metric') continue;
      if (type !== 'Point' || typeof metric !== 'string' || typeof data !== 'object' || data === null) {
        throw source.problem(
          'k6 writes {"type":"Metric"…} and {"type":"Point","metric":…,"data":{…}}, and this is neither',
        );
      }
      const { time, value } = data as Readonly<Record<string, unknown>>;
      return { metric, time, value };
    }
  };
}
