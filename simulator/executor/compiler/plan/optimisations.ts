/** What makes compiled kernels fast, each a name that can be left out, so that it can be seen what it brings. */
export const OPTIMISATIONS = [
  /** Lanes of a warp go through a region together, four to a v128. */
  'vector',
  /** More than one v128 to a register. */
  'wide',
  /** Registers that are the same in all lanes are one scalar. */
  'uniform',
  /** Registers that differ by a constant from lane to lane are one scalar. */
  'affine',
  /** Accesses of neighbouring lanes to neighbouring addresses are one access of a v128. */
  'contiguous',
  /** Lanes that part at a branch go on together under masks. */
  'masks',
  /** A condition of where lanes stand is answered by the first lane and the last. */
  'edgeConditions',
  /** Loads at constant distances from one pointer are checked once. */
  'accessBundles',
  /** Loops under masks are written a second time for lanes that come to them all at once. */
  'steadyLoops',
  /** Warp operations are done in WebAssembly, on vectors. */
  'warpOperations',
  /** A block goes from barrier to barrier in WebAssembly. */
  'blockDriver',
  /** fma.f32 is one relaxed_madd where the machine fuses it. */
  'fusedMultiplyAdd',
  /** Large grids go over worker threads. */
  'threads',
] as const;

export type Optimisation = (typeof OPTIMISATIONS)[number];

export const NOTHING_LEFT_OUT: ReadonlySet<Optimisation> = new Set();

/** For the keys of caches: the same for the same set, whatever the order its names were added in. */
export function optimisationKey(without: ReadonlySet<Optimisation>): string {
  return OPTIMISATIONS.map((name, index) => (without.has(name) ? index.toString(36) : '')).join('');
}
