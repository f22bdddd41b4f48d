import { KeyedDraw } from '../../../selection/index.js';
import type { FaultKind, FaultTotals, RecoveryScheme } from '../../../simulator/faults/index.js';
import { ModelRun } from './modelRun.js';
import type { StudiedModel } from './studiedModel.js';

export interface FaultStudy {
  readonly scheme: RecoveryScheme;
  readonly kind: FaultKind;
  readonly faults: number;
  /** Passes after which all of the model's memory was, byte by byte, what it is without faults. */
  readonly identical: number;
  readonly totals: FaultTotals;
}

/** So many passes, in each of which a fault strikes a launch drawn by lot, in a block and at a point of it drawn by lot. */
export function faultStudy(
  model: StudiedModel,
  scheme: RecoveryScheme,
  kind: FaultKind,
  faults: number,
  seed: number,
): FaultStudy {
  const whole = new ModelRun(model, {});
  whole.pass();
  const expected = whole.memory();
  whole.close();
  const next = new KeyedDraw(seed).of(`${model.name} ${scheme}`);
  const launches = model.launches.length;
  // Each pass before had one run more than it has launches.
  const at = Array.from({ length: faults }, (_, pass) => ({
    launch: pass * (launches + 1) + Math.floor(launches * next()),
  }));
  const run = new ModelRun(model, { recovery: scheme, faults: { seed, kind, at } });
  let identical = 0;
  for (let pass = 0; pass < faults; pass++) {
    run.pass();
    if (Buffer.compare(run.memory(), expected) === 0) identical++;
  }
  const totals = run.node.reading(0).faults;
  run.close();
  if (totals === undefined) throw new Error('the run counted no faults');
  return { scheme, kind, faults, identical, totals };
}
