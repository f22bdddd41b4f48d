import { LoadError } from './loadError.js';
import { CsvReader } from './csvReader.js';
import { CsvRows } from './csvRows.js';
import { JsonLines, JsonRows } from './jsonRows.js';
import { K6_COLUMNS, K6Rows } from './k6Rows.js';
import { NearlySorted } from './nearlySorted.js';
import { TextSource } from './textSource.js';
import type { TraceRows } from './traceRows.js';

/** Formats of trace files. */
export const TRACE_FORMATS = ['csv', 'jsonl', 'k6-csv', 'k6-json', 'mooncake'] as const;
export type TraceFormat = (typeof TRACE_FORMATS)[number];

const READERS: Readonly<Record<TraceFormat, (source: TextSource) => TraceRows>> = {
  csv: (source) => new CsvRows(source),
  jsonl: (source) => new JsonRows(source),
  // Results of requests that overlap are written down in no certain order.
  'k6-csv': (source) => new NearlySorted(new K6Rows(source, 'csv')),
  'k6-json': (source) => new NearlySorted(new K6Rows(source, 'json')),
  mooncake: (source) => new JsonRows(source, 'ms'),
};

/** @throws LoadError when the file cannot be read, or begins as none of that format. */
export function openRows(path: string, format: TraceFormat): TraceRows {
  return withSource(path, (source) => READERS[format](source), false);
}

/** The format that a file begins as. @throws LoadError when it begins as none. */
export function formatOf(path: string): TraceFormat {
  return withSource(
    path,
    (source) => {
      const begin = (source.peek() ?? '').trimStart();
      if (begin.startsWith('[')) {
        throw source.problem(
          "a JSON array: write an object a line instead (jq -c '.[]' makes JSON lines of an array)",
        );
      }
      return begin.startsWith('{') ? jsonFormat(source) : csvFormat(source);
    },
    true,
  );
}

function jsonFormat(source: TextSource): TraceFormat {
  const first = new JsonLines(source).next() ?? {};
  if ((first.type === 'Metric' || first.type === 'Point') && 'metric' in first) return 'k6-json';
  const isMooncake = 'timestamp' in first && ('hash_ids' in first || 'input_length' in first);
  return isMooncake ? 'mooncake' : 'jsonl';
}

function csvFormat(source: TextSource): TraceFormat {
  const names = new CsvReader(source).next()?.map((name) => name.trim().toLowerCase()) ?? [];
  return K6_COLUMNS.every((name) => names.includes(name)) ? 'k6-csv' : 'csv';
}

function withSource<T>(path: string, use: (source: TextSource) => T, closes: boolean): T {
  const source = new TextSource(path);
  let isDone = false;
  try {
    const result = use(source);
    isDone = !closes;
    return result;
  } finally {
    if (!isDone) source.close();
  }
}

/** @throws LoadError naming the formats that there are. */
export function checkFormat(text: string): TraceFormat {
  const found = TRACE_FORMATS.find((format) => format === text);
  if (found === undefined) {
    throw new LoadError('--format', `'${text}' is none of ${TRACE_FORMATS.join(', ')}`);
  }
  return found;
}
