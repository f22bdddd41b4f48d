import { LoadError } from './loadError.js';
import { CsvReader } from './csvReader.js';
import { Azure2019Rows, Azure2021Rows, COLUMNS_2019, COLUMNS_2021 } from './azureFunctions.js';
import type { ColumnNames } from './columnNames.js';
import { CountLines } from './countLines.js';
import { CsvRows } from './csvRows.js';
import { JsonLines, JsonRows } from './jsonRows.js';
import { K6_COLUMNS, K6Rows } from './k6Rows.js';
import { NearlySorted } from './nearlySorted.js';
import { TextSource } from './textSource.js';
import type { TraceRows } from './traceRows.js';
import type { Deal } from './traceSpec.js';

/** Formats of trace files. */
export const TRACE_FORMATS = [
  'csv',
  'jsonl',
  'k6-csv',
  'k6-json',
  'mooncake',
  'azure-2019',
  'azure-2021',
  'counts',
] as const;
export type TraceFormat = (typeof TRACE_FORMATS)[number];

/** How the rows of a file are read. */
export interface RowChoices {
  readonly columns: ColumnNames;
  readonly deal?: Deal | undefined;
}

const READERS: Readonly<Record<TraceFormat, (source: TextSource, choices: RowChoices) => TraceRows>> = {
  csv: (source, { columns }) => new CsvRows(source, columns),
  jsonl: (source, { columns }) => new JsonRows(source, columns),
  // Results of requests that overlap are written down in no certain order.
  'k6-csv': (source) => new NearlySorted(new K6Rows(source, 'csv')),
  'k6-json': (source) => new NearlySorted(new K6Rows(source, 'json')),
  mooncake: (source, { columns }) => new JsonRows(source, columns, 'ms'),
  'azure-2019': (source, { deal }) => new Azure2019Rows(source, deal),
  // Calls are written down by their end.
  'azure-2021': (source, { deal }) => new NearlySorted(new Azure2021Rows(source, deal)),
  counts: (source) => new CountLines(source),
};

/** @throws LoadError when the file cannot be read, or begins as none of that format. */
export function openRows(path: string, format: TraceFormat, choices: RowChoices): TraceRows {
  if (!choices.columns.isEmpty && !NAMED_COLUMNS.includes(format)) {
    throw new LoadError(
      '--column',
      `${format} has columns of its own: it is for ${NAMED_COLUMNS.join(', ')}`,
    );
  }
  return withSource(path, (source) => READERS[format](source, choices), false);
}

const NAMED_COLUMNS: readonly TraceFormat[] = ['csv', 'jsonl', 'mooncake'];

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
  const has = (columns: readonly string[]): boolean => columns.every((name) => names.includes(name));
  if (has(K6_COLUMNS)) return 'k6-csv';
  if (has([...COLUMNS_2019, '1'])) return 'azure-2019';
  if (has(COLUMNS_2021)) return 'azure-2021';
  return names.length === 1 && /^\d+$/.test(names[0]) ? 'counts' : 'csv';
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
