export type Comparison =
  | 'eq'
  | 'ne'
  | 'lt'
  | 'le'
  | 'gt'
  | 'ge'
  | 'lo'
  | 'ls'
  | 'hi'
  | 'hs'
  | 'equ'
  | 'neu'
  | 'ltu'
  | 'leu'
  | 'gtu'
  | 'geu'
  | 'num'
  | 'nan';

/** Whether `a` compares so with `b`. The plain forms are false with a NaN, the u-forms true. */
export function compare<T extends number | bigint>(how: Comparison, a: T, b: T): boolean {
  const unordered = a !== a || b !== b;
  switch (how) {
    case 'eq':
      return a === b;
    case 'ne':
      return a !== b && !unordered;
    case 'lt':
    case 'lo':
      return a < b;
    case 'le':
    case 'ls':
      return a <= b;
    case 'gt':
    case 'hi':
      return a > b;
    case 'ge':
    case 'hs':
      return a >= b;
    case 'equ':
      return unordered || a === b;
    case 'neu':
      return a !== b;
    case 'ltu':
      return unordered || a < b;
    case 'leu':
      return unordered || a <= b;
    case 'gtu':
      return unordered || a > b;
    case 'geu':
      return unordered || a >= b;
    case 'num':
      return !unordered;
    case 'nan':
      return unordered;
  }
}
