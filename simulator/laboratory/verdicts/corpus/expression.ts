/** Sizes of one instance by name. */
export type Sizes = Readonly<Record<string, number>>;

/** A number, or sums and differences of products of sizes and numbers: `rows*cols+1`. `n/b` is rounded up. */
export type Expression = string | number;

/** @throws RangeError for a name that is no size, or text that is no expression. */
export function evaluate(expression: Expression, sizes: Sizes): number {
  if (typeof expression === 'number') return expression;
  let [total, at] = [0, 0];
  const terms = /([+-]?)([^+-]+)/y;
  while (at < expression.length) {
    terms.lastIndex = at;
    const match = terms.exec(expression);
    if (match === null) throw new RangeError(`'${expression}' is no expression`);
    const product = evaluateProduct(match[2] ?? '', sizes, expression);
    total += match[1] === '-' ? -product : product;
    at = terms.lastIndex;
  }
  return total;
}

function evaluateProduct(text: string, sizes: Sizes, whole: string): number {
  const parts = text.split(/([*/])/);
  let result = valueOf(parts[0] ?? '', sizes, whole);
  for (let index = 1; index < parts.length; index += 2) {
    const value = valueOf(parts[index + 1] ?? '', sizes, whole);
    result = parts[index] === '*' ? result * value : Math.ceil(result / value);
  }
  return result;
}

function valueOf(name: string, sizes: Sizes, whole: string): number {
  const value = /^\d+$/.test(name) ? Number(name) : sizes[name];
  if (value === undefined) throw new RangeError(`'${whole}' names ${name}, which is no size`);
  return value;
}
