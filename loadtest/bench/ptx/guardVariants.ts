/** What fast code does besides the kernel's own work, each by a name. */
export const GUARDS = ['none', 'counters', 'fuel', 'bounds', 'nan', 'all'] as const;
export type Guard = (typeof GUARDS)[number];

type Method = (this: unknown, ...args: unknown[]) => unknown;
type Prototype = Record<string, Method>;

/** The compiler's modules, from this file: only here, and only to measure, is anything changed in them. */
const COMPILER = '../../../simulator/executor/compiler';

/**
 * Takes a guard out of the vector code that this process compiles from now on. No option of the product does that: the
 * methods of the compiler that emit it are replaced.
 */
export async function takeOut(guard: Guard): Promise<void> {
  const is = (name: Guard): boolean => guard === name || guard === 'all';
  // What lanes do in chunks is judged by the counters: without them every kernel would go on in other code.
  replace(await prototypeOf('../runtime/codeTiers.js', 'CodeTiers'), 'countUse', () => undefined);
  if (is('counters')) {
    const counters = await prototypeOf('chunks/chunkCounters.js', 'ChunkCounters');
    replace(counters, 'pass', () => undefined);
    replace(counters, 'countBytes', () => undefined);
  }
  if (is('fuel'))
    replace(await prototypeOf('chunks/chunkNodes.js', 'ChunkNodes'), 'emitBackEdge', () => undefined);
  if (is('nan'))
    replace(
      await prototypeOf('vector/operands/vectorOperands.js', 'VectorOperands'),
      'canonical',
      () => undefined,
    );
  if (is('bounds')) {
    const addresses = await prototypeOf('vector/memory/chunkAddresses.js', 'ChunkAddresses');
    for (const name of ['pushStrided', 'pushVarying']) unchecked(addresses, name);
  }
}

/** The segment must still be found once: what is left of the check is whether it is known. */
function unchecked(addresses: Prototype, name: string): void {
  const checked = addresses[name];
  if (checked === undefined) throw new Error(`the compiler has no ${name} any more`);
  addresses[name] = function (...args) {
    checked.apply(this, args);
    const { f, around } = this as Addresses;
    const { group } = args[0] as Access;
    f.op('drop');
    if (group === undefined) f.i32(0);
    else f.get(around.caches.cacheLocals(group).limit).op('i64Eqz');
  };
}

interface Access {
  readonly group?: object;
}

/** What is used of the compiler's builder of code. */
interface Code {
  op(name: 'drop' | 'i64Eqz'): Code;
  i32(value: number): Code;
  get(local: number): Code;
}

interface Addresses {
  readonly f: Code;
  readonly around: { readonly caches: { cacheLocals(group: object): { readonly limit: number } } };
}

function replace(prototype: Prototype, name: string, by: Method): void {
  if (prototype[name] === undefined) throw new Error(`the compiler has no ${name} any more`);
  prototype[name] = by;
}

async function prototypeOf(file: string, name: string): Promise<Prototype> {
  const module = (await import(new URL(`${COMPILER}/${file}`, import.meta.url).href)) as Record<
    string,
    { readonly prototype: Prototype } | undefined
  >;
  const found = module[name];
  if (found === undefined) throw new Error(`${file} has no ${name} any more`);
  return found.prototype;
}
