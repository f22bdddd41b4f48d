import { createHash } from 'node:crypto';
import type { Expression } from '../analysis/expressions/expression.js';
import { operandsOf } from '../analysis/expressions/expression.js';
import { BitVectors } from './bitVectors.js';
import { groupsOf } from './groups.js';
import type { SolverQuery } from './query.js';
import { Refinement } from './refinement.js';

/** Bounds that leave an address anywhere within more bytes say next to nothing. */
const MOST_USEFUL = 2n ** 31n;

/** Expressions of more parts are no questions for a solver. */
const MOST_PARTS = 1_500;
/** Of the value that is asked for. */
const MOST_VALUE_BITS = 60;

/**
 * The question what the least and greatest value of an expression is where conditions hold. Conditions that have nothing to do
 * with it are left out. Undefined when it is too large a question.
 */
export function rangeQuery(value: Expression, conditions: readonly Expression[]): SolverQuery | undefined {
  const related = relatedTo(value, conditions);
  if (related === undefined) return undefined;
  const refinement = new Refinement(related);
  const vectors = new BitVectors(refinement, groupsOf([value, ...related], refinement));
  const refined = vectors.refined(value);
  const bits = vectors.width(refined);
  if (bits === undefined || bits > MOST_VALUE_BITS) return undefined;
  for (const condition of related) vectors.assert(vectors.truth(vectors.refined(condition)));
  const term = vectors.value(refined, bits);
  const text = [...vectors.lines, `(declare-fun x () (_ BitVec ${bits}))`, `(assert (= x ${term}))`].join(
    '\n',
  );
  const far = 2n ** BigInt(bits - 1);
  return {
    key: createHash('sha256').update(text).digest('hex'),
    text,
    bits,
    useful: MOST_USEFUL,
    least: Number.isSafeInteger(refined.lo) ? BigInt(refined.lo) : -far,
    most: Number.isSafeInteger(refined.hi) ? BigInt(refined.hi) : far - 1n,
  };
}

/** Conditions that share a variable with a value, or with another such condition. */
function relatedTo(value: Expression, conditions: readonly Expression[]): readonly Expression[] | undefined {
  const parts = new Set<Expression>();
  const leaves = new Set<string>();
  add(value, parts, leaves);
  const related: Expression[] = [];
  let open = conditions.map((condition) => ({ condition, own: leavesOf(condition) }));
  for (let before = -1; before !== related.length;) {
    before = related.length;
    open = open.filter(({ condition, own }) => {
      if (![...own].some((leaf) => leaves.has(leaf))) return true;
      related.push(condition);
      add(condition, parts, leaves);
      return false;
    });
    if (parts.size > MOST_PARTS) return undefined;
  }
  // In the order of the path, whichever of them was found first.
  return conditions.filter((condition) => related.includes(condition));
}

function leavesOf(expression: Expression): ReadonlySet<string> {
  const leaves = new Set<string>();
  add(expression, new Set(), leaves);
  return leaves;
}

/** Adds the parts of an expression, and the names of its leaves. */
function add(expression: Expression, parts: Set<Expression>, leaves: Set<string>): void {
  const work = [expression];
  for (let part = work.pop(); part !== undefined; part = work.pop()) {
    if (parts.has(part)) continue;
    parts.add(part);
    const inner = operandsOf(part);
    if (part.op === 'argument') leaves.add(`argument ${part.offset}`);
    else if (inner.length === 0 && part.op !== 'constant') leaves.add(`${part.id}`);
    work.push(...inner);
  }
}
