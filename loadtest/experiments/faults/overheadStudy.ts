import type { CostDocument } from '../../../simulator/gpu/index.js';
import type { RecoveryScheme, SavePlace } from '../../../simulator/faults/index.js';
import { ModelRun } from './modelRun.js';
import type { StudiedModel } from './studiedModel.js';

export interface SchemeOverhead {
  readonly scheme: RecoveryScheme;
  readonly saveTo: SavePlace;
  /** Of one pass without faults. */
  readonly passUs: number;
  /** Over the pass where nothing recovers. */
  readonly overhead: number;
  readonly savedLaunches: number;
  readonly savedBytes: number;
  /** Launches of the pass that were proved idempotent, where somebody asked. */
  readonly idempotent: number | undefined;
}

export type RecoveryChoice = Pick<SchemeOverhead, 'scheme' | 'saveTo'>;

/** What schemes of recovery cost a model while nothing fails: its second pass, in simulated time. */
export function faultlessOverheads(
  model: StudiedModel,
  choices: readonly RecoveryChoice[],
): { readonly passUs: number; readonly schemes: readonly SchemeOverhead[] } {
  const costs = recordedCosts(model);
  const [none, ...schemes] = [{ scheme: 'none', saveTo: 'device' } as const, ...choices].map(
    ({ scheme, saveTo }) => {
      const run = new ModelRun(model, { recovery: scheme, saveTo, fidelity: 'timing', costs: [costs] });
      run.pass();
      const before = run.node.reading(0).faults;
      const provedBefore = run.node.verdictMetrics()?.idempotent ?? 0;
      const passUs = run.pass() / 1000;
      const after = run.node.reading(0).faults;
      const proved = run.node.verdictMetrics()?.idempotent;
      run.close();
      return {
        scheme,
        saveTo,
        passUs,
        savedLaunches: (after?.savedLaunches ?? 0) - (before?.savedLaunches ?? 0),
        savedBytes: (after?.savedBytes ?? 0) - (before?.savedBytes ?? 0),
        idempotent: proved === undefined ? undefined : proved - provedBefore,
      };
    },
  );
  return {
    passUs: none.passUs,
    schemes: schemes.map((each) => ({ ...each, overhead: each.passUs / none.passUs - 1 })),
  };
}

/** What the model's launches cost, from a pass that is executed. */
function recordedCosts(model: StudiedModel): CostDocument {
  const run = new ModelRun(model, {});
  run.node.recordCosts();
  run.pass();
  const costs = run.node.recordedCosts();
  run.close();
  return costs;
}
