import { createRequire } from 'node:module';

/** npm's package of z3: an optional peer, which users install who want it. */
export const SOLVER_PACKAGE = 'z3-solver';

/** Name and version of a solver's package where it is installed, without loading it: what it proves is kept under that name. */
export function installedSolver(name = SOLVER_PACKAGE): string | undefined {
  try {
    const { version } = createRequire(import.meta.url)(`${name}/package.json`) as {
      readonly version: string;
    };
    return `${name} ${version}`;
  } catch {
    return undefined;
  }
}
