import { setFlagsFromString } from 'node:v8';

/**
 * V8 optimises a WebAssembly function in the background once it has used up a budget, of about a unit for each byte of code
 * that runs. A module takes the budget of its functions from the flag when it is made.
 */
const FLAG = '--wasm-tiering-budget';
/** What V8 has without the flag, by the versions that are known: there is no way to ask. */
const DEFAULT_BUDGETS: Readonly<Record<string, number>> = { '11': 1_800_000 };
/** A few calls of a small function: what is called once is not worth it. */
const HOT_BUDGET = 20_000;

/** A module of which it is known that it will run long: each function is optimised as soon as it has been called a little. */
export function hotModule(bytes: Uint8Array): WebAssembly.Module {
  const usual = DEFAULT_BUDGETS[process.versions.v8.split('.')[0] ?? ''];
  if (usual === undefined || isChosen()) return new WebAssembly.Module(bytes);
  setFlagsFromString(`${FLAG}=${HOT_BUDGET}`);
  try {
    return new WebAssembly.Module(bytes);
  } finally {
    setFlagsFromString(`${FLAG}=${usual}`);
  }
}

/** Whether whoever started the process has set the budget. */
function isChosen(): boolean {
  return [...process.execArgv, process.env['NODE_OPTIONS'] ?? ''].some((each) =>
    each.replaceAll('_', '-').includes(FLAG),
  );
}
