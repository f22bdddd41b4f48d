import { parse } from 'es-module-lexer/js';

/** Paths, URLs and names of its package's own (`#name`) in a module's text; no packages. */
export interface Mentions {
  /** By `import` and `export … from`. */
  readonly imported: readonly string[];
  /** By `require`. */
  readonly required: readonly string[];
  /** In quotes, from the module's folder: for a `require` by another name, a worker, a file that is read. */
  readonly named: readonly string[];
  /** Files may be written: what is named may be what they leave. */
  readonly writes: boolean;
}

const QUOTED = /(['"`])([^'"`\n$]+)\1/.source;
const FOLDER = /(?:__dirname|import\.meta\.dirname)/.source;
const REQUIRED = new RegExp(`\\brequire\\s*\\(\\s*${QUOTED}`, 'g');
const RELATIVE = /(['"`])(\.{1,2}\/[^'"`\n$]+)\1/g;
const OF_URL = new RegExp(`\\bnew\\s+URL\\s*\\(\\s*${QUOTED}\\s*,\\s*import\\.meta\\.url`, 'g');
/** `join(__dirname, 'data', 'weights.bin')`, `__dirname + '/weights.bin'`. */
const OF_FOLDER = new RegExp(`${FOLDER}((?:\\s*[,+]\\s*['"\`][^'"\`\\n$]+['"\`])+)`, 'g');
const IN_TEMPLATE = new RegExp(`\\$\\{${FOLDER}\\}/+([^'"\`\\n$]+)`, 'g');
const WRITES =
  /\b(?:writeFile|appendFile|createWriteStream|copyFile|truncate|rename|unlink|open)(?:Sync)?\s*\(/;

export function mentionsOf(text: string): Mentions {
  const groups = (pattern: RegExp, group: number): string[] =>
    [...text.matchAll(pattern)].map((match) => match[group]);
  const besideFolder = groups(OF_FOLDER, 1).map((list) =>
    [...list.matchAll(new RegExp(QUOTED, 'g'))].map((match) => match[2]).join('/'),
  );
  const beside = [...groups(OF_URL, 2), ...besideFolder, ...groups(IN_TEMPLATE, 1)];
  return {
    imported: importsOf(text).filter(isPath),
    required: groups(REQUIRED, 2).filter(isPath),
    named: [
      ...groups(RELATIVE, 2),
      ...beside.filter((name) => !/^\w+:/.test(name)).map((name) => `./${name.replace(/^\/+/, '')}`),
    ],
    writes: WRITES.test(text),
  };
}

function importsOf(text: string): string[] {
  try {
    return parse(text)[0].flatMap(({ specifier }) => specifier ?? []);
  } catch {
    // CommonJS, or not JavaScript at all: its process will say so.
    return [];
  }
}

/** And no package's name. */
function isPath(specifier: string): boolean {
  return /^(?:\.{1,2}\/|\/|#|file:)/.test(specifier);
}
