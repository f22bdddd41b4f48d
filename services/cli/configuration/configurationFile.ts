import { isMap, isScalar, LineCounter, parseDocument, type Document, type Pair } from 'yaml';
import { readTextFile, START_FILE } from '../../../simulator/files/index.js';
import { reasonOf } from '../../../simulator/text/index.js';
import { ConfigurationError } from './configurationError.js';

/** A key of a file and what stands there. */
export interface Entry {
  readonly key: string;
  readonly datum: unknown;
  /** `FILE:LINE`. */
  readonly place: string;
}

export interface FileSection {
  readonly place: string;
  /** Undefined where it is no map of keys and values. */
  readonly entries: readonly Entry[] | undefined;
}

/** Its sections by name, each with its entries in the order of the file. */
export type ConfigurationFile = ReadonlyMap<string, FileSection>;

/**
 * Reads a file of YAML: sections of keys and values.
 * @throws ConfigurationError naming the file and the line
 */
export function readConfigurationFile(path: string): ConfigurationFile {
  let text: string;
  try {
    text = readTextFile(path, START_FILE);
  } catch (error) {
    const reason = reasonOf(error);
    throw new ConfigurationError([reason.startsWith(path) ? reason : `${path}: ${reason}`]);
  }
  return sectionsOf(path, text);
}

function sectionsOf(path: string, text: string): ConfigurationFile {
  const lines = new LineCounter();
  const document = parseDocument(text, { lineCounter: lines, prettyErrors: false });
  const placeAt = (offset: number) => `${path}:${lines.linePos(offset).line}`;
  if (document.errors.length > 0) {
    throw new ConfigurationError(
      document.errors.map(({ message, pos }) => `${placeAt(pos[0])}: this is no YAML: ${message}`),
    );
  }
  const pairs = pairsOf(document.contents);
  if (pairs === undefined) {
    throw new ConfigurationError([
      `${path}:1: expected sections of keys and values, as serve: and below it port: 1337`,
    ]);
  }
  return new Map(
    pairs.map(({ key, value }) => [
      nameOf(key),
      {
        place: placeAt(startOf(key)),
        entries: pairsOf(value)?.map((pair) => ({
          key: nameOf(pair.key),
          datum: datumOf(pair.value, document),
          place: placeAt(startOf(pair.key)),
        })),
      },
    ]),
  );
}

/** Nothing is a map without entries. */
function pairsOf(node: unknown): readonly Pair[] | undefined {
  if (isMap(node)) return node.items;
  return node === null || (isScalar(node) && node.value === null) ? [] : undefined;
}

function nameOf(key: unknown): string {
  return isScalar(key) ? String(key.value) : '';
}

function startOf(key: unknown): number {
  return isScalar(key) ? (key.range?.[0] ?? 0) : 0;
}

function datumOf(value: unknown, document: Document): unknown {
  const node = value as { toJS?: (document: Document, options: { maxAliasCount: number }) => unknown } | null;
  return node?.toJS?.(document, { maxAliasCount: 100 }) ?? null;
}
