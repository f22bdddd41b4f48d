import { LoadError } from './loadError.js';
import { OTHER_COLUMNS, TIME_COLUMNS } from './traceRows.js';

const OURS: readonly string[] = [...Object.keys(TIME_COLUMNS), ...OTHER_COLUMNS];
const isTime = (name: string): boolean => Object.hasOwn(TIME_COLUMNS, name);

/** What a file calls the product's columns, where that is another name. */
export class ColumnNames {
  private readonly ours: ReadonlyMap<string, string>;

  /** @param given `NAME=COLUMN`, of `--column`. @throws LoadError naming the names that there are */
  constructor(given: readonly string[] = []) {
    const ours = new Map<string, string>();
    for (const text of given) {
      const at = text.indexOf('=');
      const [name, column] = [
        text.slice(0, Math.max(0, at)),
        text
          .slice(at + 1)
          .trim()
          .toLowerCase(),
      ];
      if (!OURS.includes(name) || column === '') {
        throw new LoadError('--column', `'${text}' is no NAME=COLUMN, with a NAME of ${OURS.join(', ')}`);
      }
      if (ours.has(column)) throw new LoadError('--column', `'${column}' is given two names`);
      ours.set(column, name);
    }
    this.ours = ours;
  }

  get isEmpty(): boolean {
    return this.ours.size === 0;
  }

  /**
   * A file's own names, in lower case, as the product knows them. What stands for something else by that is passed over.
   * @param problem of the file's first line
   * @throws LoadError when a column is not there
   */
  renamed(names: readonly string[], problem: (text: string) => LoadError): string[] {
    if (this.isEmpty) return [...names];
    for (const column of this.ours.keys()) {
      if (!names.includes(column)) throw problem(`there is no column '${column}', which --column names`);
    }
    const given = new Set(this.ours.values());
    const haveTime = [...given].some(isTime);
    return names.map((name) => {
      const ours = this.ours.get(name);
      if (ours !== undefined) return ours;
      return given.has(name) || (haveTime && isTime(name)) ? `(${name})` : name;
    });
  }
}
