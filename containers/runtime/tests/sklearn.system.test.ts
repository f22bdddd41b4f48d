import { execFileSync, spawnSync } from 'node:child_process';
import { mkdtempSync, readFileSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { VirtualClock } from '../../../simulator/time/index.js';
import { importSklearn, loadKernelModel, packageRoot, writeModelFolder } from '../../models/index.js';
import { tryModel } from '../trial/index.js';
import { VirtualNode } from '../virtualNode.js';
import { FrontendDouble } from './frontendDouble.js';

/** Debian's, which python3-sklearn belongs to: another python3 may come first on the path. */
const PYTHON = '/usr/bin/python3';
const BATCH_SIZE = 64;

interface Predictions {
  readonly inputs: readonly (readonly number[])[];
  readonly models: readonly { readonly name: string; readonly labels: readonly string[] }[];
}

function installSklearn(): void {
  if (spawnSync(PYTHON, ['-c', 'import sklearn']).status === 0) return;
  const install = (): number | null =>
    spawnSync('apt-get', ['install', '-y', '--no-install-recommends', 'python3-sklearn'], {
      stdio: 'inherit',
    }).status;
  if (install() === 0) return;
  execFileSync('apt-get', ['update'], { stdio: 'inherit' });
  if (install() !== 0) throw new Error('python3-sklearn cannot be installed with apt-get');
}

describe('scikit-learn models on the simulated GPU', () => {
  let folder: string;
  let predictions: Predictions;

  beforeAll(() => {
    folder = mkdtempSync(join(tmpdir(), 'sklearn-'));
    installSklearn();
    execFileSync(PYTHON, [join(packageRoot(), 'containers/models/import/tests/fitModels.py'), folder]);
    predictions = JSON.parse(readFileSync(join(folder, 'predictions.json'), 'utf8')) as Predictions;
  }, 600_000);

  afterAll(() => rmSync(folder, { recursive: true }));

  function imported(name: string, inputType: 'doubles' | 'floats'): string {
    const file = join(folder, `${name}.json`);
    const model = importSklearn(readFileSync(file, 'utf8'), file, { inputType, maxBatchSize: BATCH_SIZE });
    return writeModelFolder(model, join(folder, `${name}-${inputType}`)).folder;
  }

  function labelsOf(path: string, inputType: 'doubles' | 'floats'): string[] {
    const clock = new VirtualClock();
    const node = new VirtualNode({ clock });
    const frontend = new FrontendDouble(
      node.start({ model: 'm', version: '1', replica: '0', inputType, path }),
    );
    clock.run();
    const labels: string[] = [];
    for (let first = 0; first < predictions.inputs.length; first += BATCH_SIZE) {
      const batch = frontend.ask(
        predictions.inputs
          .slice(first, first + BATCH_SIZE)
          .map(
            (input) =>
              new Uint8Array((inputType === 'doubles' ? Float64Array : Float32Array).from(input).buffer),
          ),
      );
      clock.run();
      labels.push(...frontend.outcomes(batch));
    }
    node.close(() => undefined);
    return labels;
  }

  it('agree with scikit-learn on every label, and on the golden scores', () => {
    expect(predictions.models.length).toBeGreaterThan(30);
    for (const { name, labels } of predictions.models) {
      const path = imported(name, 'doubles');
      expect(labelsOf(path, 'doubles'), name).toEqual(labels);
      const { golden, problem, batches, threadInstructionsLimit } = tryModel(path);
      expect({ name, problem, failures: golden?.failures }).toEqual({
        name,
        problem: undefined,
        failures: [],
      });
      const costs = batches.map(({ threadInstructionsPerQuery }) => threadInstructionsPerQuery);
      expect(Math.max(...costs), name).toBeLessThan(1_000_000);
      // The manifest's bound means something.
      expect(threadInstructionsLimit / costs[0], name).toBeLessThan(10);
    }
  });

  it('agree from inputs in single precision, which hold these pixels exactly', () => {
    for (const { name, labels } of predictions.models.filter(({ name }) =>
      /^(svcRbf|randomForest|mlpRelu)$/.test(name),
    )) {
      const path = imported(name, 'floats');
      expect(loadKernelModel(path).manifest.inputs[0].type).toBe('floats');
      expect(labelsOf(path, 'floats'), name).toEqual(labels);
    }
  });
});
