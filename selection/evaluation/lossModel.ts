import { addOuter, packedLength, scaledIdentity, solveLower } from '../linear/cholesky.js';
import { MOST_FEATURES } from '../features.js';
import type { Arm, Features } from '../policy.js';
import type { LoggedFeedback } from './loggedFeedback.js';

/** Parts of a log, of which each is predicted by what was learned of the others. */
const FOLDS = 5;
const RIDGE = 1;

/** The loss to expect of an arm for a line of the log, in [0, 1]. */
export type ExpectedLoss = (line: number, arm: number) => number;

/**
 * A ridge regression of each arm's loss on the query's features, cross-fitted (Chernozhukov et al. 2018): what it says of a line is
 * learned from other parts of the log, so that estimates that are corrected by that line keep their intervals. Without features it
 * is each arm's mean.
 * @param clusters of each line: lines of one are in the same part
 */
export function crossFittedLosses(
  log: readonly LoggedFeedback[],
  arms: readonly Arm[],
  clusters: readonly number[],
): ExpectedLoss {
  const scale = featureScale(log);
  const rows = scale.size + 1;
  const vector = new Float64Array(rows);
  const fits = Array.from({ length: FOLDS }, () => arms.map(() => new Ridge(rows)));
  const places = new Map(arms.map((arm, at) => [arm, at]));
  for (const [line, { features, losses }] of log.entries()) {
    for (const [arm, loss] of Object.entries(losses)) {
      const at = places.get(arm);
      if (at === undefined) continue;
      for (let fold = 0; fold < FOLDS; fold++) {
        if (clusters[line] % FOLDS === fold) continue;
        regressor(features, scale, vector);
        fits[fold][at].add(vector, loss);
      }
    }
  }
  const weights = fits.map((fold) => fold.map((fit) => fit.solution()));
  return (line, arm) => {
    regressor(log[line].features, scale, vector);
    const own = weights[clusters[line] % FOLDS][arm];
    let loss = 0.5;
    for (let row = 0; row < rows; row++) loss += own[row] * vector[row];
    return Math.min(1, Math.max(0, loss));
  };
}

/** The names that most lines have, with 1 over their root mean square: ridge takes all of them for equally likely to matter. */
function featureScale(log: readonly LoggedFeedback[]): ReadonlyMap<string, number> {
  const found = new Map<string, { lines: number; squares: number }>();
  for (const { features = {} } of log) {
    for (const [name, value] of Object.entries(features)) {
      const one = found.get(name) ?? { lines: 0, squares: 0 };
      one.lines += 1;
      one.squares += value * value;
      found.set(name, one);
    }
  }
  const most = [...found].sort(([, a], [, b]) => b.lines - a.lines).slice(0, MOST_FEATURES);
  return new Map(
    most.map(([name, { squares }]) => [name, squares > 0 ? Math.sqrt(log.length / squares) : 0]),
  );
}

function regressor(features: Features = {}, scale: ReadonlyMap<string, number>, vector: Float64Array): void {
  vector[0] = 1;
  let row = 1;
  for (const [name, factor] of scale) {
    vector[row++] = (Object.hasOwn(features, name) ? features[name] : 0) * factor;
  }
}

/** Of losses less one half, which is what is said of an arm that nobody has judged. */
class Ridge {
  private readonly factor: number[];
  private readonly target: number[];
  private readonly scratch: Float64Array;

  constructor(private readonly rows: number) {
    this.factor = scaledIdentity(rows, Math.sqrt(RIDGE));
    this.target = new Array<number>(rows).fill(0);
    this.scratch = new Float64Array(rows);
  }

  add(vector: Float64Array, loss: number): void {
    for (let row = 0; row < this.rows; row++) this.target[row] += (loss - 0.5) * vector[row];
    this.scratch.set(vector);
    addOuter(this.factor, this.scratch, this.rows);
  }

  solution(): Float64Array {
    const { rows, factor } = this;
    const solved = new Float64Array(rows);
    solveLower(factor, this.target, rows, solved);
    for (let row = rows - 1; row >= 0; row--) {
      let rest = solved[row];
      for (let below = row + 1; below < rows; below++)
        rest -= factor[packedLength(below) + row] * solved[below];
      solved[row] = rest / factor[packedLength(row) + row];
    }
    return solved;
  }
}
