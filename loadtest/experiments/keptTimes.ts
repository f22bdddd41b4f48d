import { appendFileSync, existsSync, readFileSync } from 'node:fs';
import {
  comparison,
  type CalibratedLaunch,
  type MeasuredLaunch,
} from '../../simulator/laboratory/calibration/index.js';
import type { DeviceProfile } from '../../simulator/gpu/index.js';
import { withFigures } from './fittedFigures.js';
import type { Values } from './figureSearch.js';
import { ModelEvaluator } from './modelEvaluator.js';

/**
 * Times of measured launches under values of the fitted figures, kept in files, so that several processes may share the
 * work and one that is broken off goes on where it was.
 */
export class KeptTimes {
  private readonly known = new Map<string, number>();
  private readonly evaluators = new Map<MeasuredLaunch, ModelEvaluator>();

  /** @param paths files to read; new times go to the end of the first */
  constructor(
    private readonly card: DeviceProfile,
    private readonly launches: readonly MeasuredLaunch[],
    private readonly paths: readonly string[],
  ) {
    for (const path of paths) {
      if (!existsSync(path)) continue;
      for (const line of readFileSync(path, 'utf8').split('\n')) {
        if (line === '') continue;
        const { key, us } = JSON.parse(line) as { key: string; us: number };
        this.known.set(key, us);
      }
    }
  }

  /** Whether all launches are known under these values. */
  has(values: Values): boolean {
    return this.launches.every((launch) => this.known.has(keyOf(launch, values)));
  }

  /** @param kernel whose launches are asked for, if not all */
  evaluate(values: Values, kernel?: string): CalibratedLaunch[] {
    const asked = this.launches.filter(({ spec }) => kernel === undefined || spec.kernel === kernel);
    return asked.map((launch) => ({
      name: launch.name,
      kernel: launch.spec.kernel,
      ...comparison(launch.durationUs, this.timeOf(launch, values)),
    }));
  }

  /** Works out what is not known yet, launch by launch, so that no more than one's traces are in memory. */
  workOut(launches: readonly MeasuredLaunch[], all: (launch: MeasuredLaunch) => readonly Values[]): void {
    for (const launch of launches) {
      for (const values of all(launch)) this.timeOf(launch, values);
      this.evaluators.delete(launch);
    }
  }

  private timeOf(launch: MeasuredLaunch, values: Values): number {
    const key = keyOf(launch, values);
    let us = this.known.get(key);
    if (us === undefined) {
      let evaluator = this.evaluators.get(launch);
      if (evaluator === undefined) this.evaluators.set(launch, (evaluator = new ModelEvaluator([launch])));
      us = evaluator.evaluate(withFigures(this.card, values))[0].simulatedUs;
      this.known.set(key, us);
      const [path] = this.paths;
      if (path !== undefined) appendFileSync(path, `${JSON.stringify({ key, us })}\n`);
    }
    return us;
  }
}

function keyOf({ name }: MeasuredLaunch, values: Values): string {
  return `${name} ${JSON.stringify(values)}`;
}
