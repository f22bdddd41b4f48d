import type { Conditions } from '../expressions/conditions.js';
import type { Expression } from '../expressions/expression.js';

/** Conditions that all hold where this place is reached, the later one's on top of the earlier ones'. */
export class Path {
  readonly depth: number;

  private constructor(
    readonly parent: Path | undefined,
    readonly condition: Expression,
  ) {
    this.depth = parent === undefined ? 0 : parent.depth + 1;
  }

  static start(conditions: Conditions): Path {
    return new Path(undefined, conditions.yes);
  }

  /** The path with a further condition; conjunctions become one step a part. */
  with(condition: Expression): Path {
    if (condition.op === 'constant' && condition.value === 1) return this;
    if (condition.op !== 'and') return new Path(this, condition);
    return condition.terms.reduce<Path>((path, term) => path.with(term), this);
  }

  /** The conditions behind `above`, which this path extends, in order. */
  since(above?: Path): Expression[] {
    if (this === above) return [];
    const found = [this.condition];
    for (let path = this.parent; path !== undefined && path !== above; path = path.parent) {
      found.push(path.condition);
    }
    return found.reverse();
  }
}

/** The longest path that all of them extend. */
export function commonPath(paths: readonly Path[]): Path | undefined {
  const [first] = paths;
  return paths.reduce<Path | undefined>((a, b) => common(a, b), first);
}

function common(a: Path | undefined, b: Path | undefined): Path | undefined {
  let [x, y] = [a, b];
  while (x !== undefined && y !== undefined && x !== y) {
    if (x.depth > y.depth) x = x.parent;
    else if (y.depth > x.depth) y = y.parent;
    else [x, y] = [x.parent, y.parent];
  }
  return x === y ? x : undefined;
}
