import { execFileSync, spawnSync } from 'node:child_process';
import { mkdirSync, mkdtempSync, readFileSync, readdirSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { VirtualClock } from '../../simulator/time/index.js';
import { packageRoot } from '../../simulator/files/index.js';
import { installDebianPackage } from '../../simulator/files/tests/debianPackage.js';
import { importSklearn, loadKernelModel, writeModelFolder } from '../models/index.js';
import { tryModel } from './trial/index.js';
import { VirtualNode } from './virtualNode.js';
import { FrontendDouble } from './tests/frontendDouble.js';

/** Debian's, which python3-sklearn belongs to: another python3 may come first on the path. */
const PYTHON = '/usr/bin/python3';
const BATCH_SIZE = 64;

interface Predictions {
  readonly inputs: readonly (readonly number[])[];
  readonly models: readonly { readonly name: string; readonly labels: readonly string[] }[];
}

function installSklearn(): void {
  const isThere = () => spawnSync(PYTHON, ['-c', 'import sklearn']).status === 0;
  installDebianPackage('python3-sklearn', isThere);
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

  it('of other kinds, as graphs, agree with scikit-learn on the golden answers', () => {
    const graphs = join(folder, 'graphs');
    mkdirSync(graphs);
    execFileSync(PYTHON, [join(packageRoot(), 'containers/models/import/tests/fitGraphs.py'), graphs]);
    const names = readdirSync(graphs).sort();
    expect(names.length).toBeGreaterThan(50);
    for (const name of names) {
      const file = join(graphs, name);
      const model = importSklearn(readFileSync(file, 'utf8'), file, {
        inputType: 'doubles',
        maxBatchSize: 8,
      });
      const { golden, problem } = tryModel(writeModelFolder(model, join(folder, `graph-${name}`)).folder);
      expect({ name, problem, failures: golden?.failures }).toEqual({
        name,
        problem: undefined,
        failures: [],
      });
      expect(golden?.cases, name).toBeGreaterThan(5);
    }
  }, 300_000);

  it('of texts, and of rows with strings, agree with scikit-learn on the golden answers', () => {
    const texts = join(folder, 'texts');
    mkdirSync(texts);
    execFileSync(PYTHON, [join(packageRoot(), 'containers/models/import/tests/fitTexts.py'), texts]);
    const names = readdirSync(texts).sort();
    expect(names.length).toBeGreaterThan(30);
    for (const name of names) {
      const file = join(texts, name);
      const model = importSklearn(readFileSync(file, 'utf8'), file, {
        inputType: 'doubles',
        maxBatchSize: 8,
      });
      expect(model.manifest.inputs[0].type, name).toBe('strings');
      const { golden, problem } = tryModel(writeModelFolder(model, join(folder, `text-${name}`)).folder);
      expect({ name, problem, failures: golden?.failures }).toEqual({
        name,
        problem: undefined,
        failures: [],
      });
      expect(golden?.cases, name).toBeGreaterThan(15);
    }
    // One column is imputed; in the other scikit-learn refuses what is missing.
    const { encoding } = JSON.parse(readFileSync(join(texts, 'tableGaps.json'), 'utf8')) as {
      readonly encoding: { readonly parts: readonly { readonly kind: string }[] };
    };
    expect(encoding.parts.filter(({ kind }) => kind === 'number')).toEqual([
      { kind: 'number', column: 2, missing: true },
      { kind: 'number', column: 3 },
    ]);
  }, 300_000);

  it('agree from inputs in single precision, which hold these pixels exactly', () => {
    for (const { name, labels } of predictions.models.filter(({ name }) =>
      /^(svcRbf|randomForest|mlpRelu)$/.test(name),
    )) {
      const path = imported(name, 'floats');
      expect(loadKernelModel(path).manifest.inputs[0].type).toBe('floats');
      expect(labelsOf(path, 'floats'), name).toEqual(labels);
    }
  });

  it('that cannot be exported are told in one line, and never by a traceback', () => {
    const script = join(packageRoot(), 'containers/models/import/sklearnExport.py');
    const code = `
import sys, pickle, numpy as np
from sklearn.ensemble import AdaBoostClassifier, VotingClassifier
from sklearn.linear_model import LogisticRegression
from sklearn.naive_bayes import BernoulliNB
from sklearn.pipeline import Pipeline
from sklearn.preprocessing import PowerTransformer
from sklearn.svm import SVC
x, y = np.arange(40.0).reshape(20, 2), np.arange(20) % 2
nan = LogisticRegression().fit(x, y)
nan.coef_[0, 1] = np.nan
broken = SVC().fit(x, y)
del broken._gamma
models = {"boosting": AdaBoostClassifier().fit(x, y), "nan": nan, "broken": broken, "unfitted": SVC(),
          "empty": Pipeline([("p", "passthrough")]), "list": [1], "good": SVC().fit(x, y),
          "step": Pipeline([("p", PowerTransformer()), ("b", BernoulliNB())]).fit(x, y), "single": BernoulliNB().fit(x, 0 * y),
          "vote": VotingClassifier([("s", SVC(probability=True))], voting="soft").fit(x, y)}
for name, model in models.items():
    pickle.dump(model, open(sys.argv[1] + "/" + name + ".pickle", "wb"))
open(sys.argv[1] + "/garbage.pickle", "w").write("garbage")
open(sys.argv[1] + "/nothing.pickle", "w")
np.save(sys.argv[1] + "/gaps.npy", np.where(x > 30, np.nan, x))
np.save(sys.argv[1] + "/narrow.npy", x[:, :1])
`;
    execFileSync(PYTHON, ['-W', 'ignore', '-c', code, folder]);
    const failures = [
      ['boosting', '', /AdaBoostClassifier cannot be exported, only ARDRegression, /],
      [
        'nan',
        '',
        /the parameter model\.coefficients\[0\]\[1\] of LogisticRegression is nan: fit the model again/,
      ],
      ['broken', '', /SVC of scikit-learn 1\.\S+ cannot be exported \(AttributeError: /],
      ['unfitted', '', /SVC is not fitted: call fit first/],
      ['empty', '', /the pipeline has no step but 'passthrough'/],
      ['list', '', /list cannot be exported/],
      [
        'step',
        '',
        /PowerTransformer cannot be a step, only .*; it can be served as it is, as a Python module/,
      ],
      ['single', '', /BernoulliNB knows the class 0 alone: fit it on two or more/],
      [
        'vote',
        '',
        /probabilities of SVC cannot be exported: put CalibratedClassifierCV\(SVC\(\)\) in its place/,
      ],
      ['garbage', '', /garbage\.pickle cannot be loaded \(/],
      ['nothing', '', /nothing\.pickle cannot be loaded \(/],
      ['absent', '', /No such file or directory/],
      ['good', 'gaps.npy', /golden_inputs\[15\]\[1\] is nan: the model takes no missing values/],
      ['good', 'narrow.npy', /golden inputs have the shape \(20, 1\), the model takes rows of 2 values/],
      ['good', 'garbage.pickle', /garbage\.pickle cannot be loaded \(.*numpy\.save must have written it/],
    ] as const;
    const calls = failures.map(([name, golden]) => [
      join(folder, `${name}.pickle`),
      '--out',
      join(folder, 'x.json'),
      ...(golden === '' ? [] : ['--golden', join(folder, golden)]),
    ]);
    // In one process: each that starts takes seconds to load scikit-learn.
    const all = `
import contextlib, io, json, runpy, sys
told = []
script, calls = sys.argv[1], json.loads(sys.argv[2])
for call in calls:
    sys.argv, said, status = [script, *call], io.StringIO(), 0
    with contextlib.redirect_stderr(said):
        try:
            runpy.run_path(script, run_name="__main__")
        except SystemExit as end:
            status = end.code
            if isinstance(status, str):
                said.write(status + "\\n")
                status = 1
    told.append({"stderr": said.getvalue(), "status": status})
print(json.dumps(told))
`;
    const ended = JSON.parse(
      execFileSync(PYTHON, ['-W', 'ignore', '-c', all, script, JSON.stringify(calls)], { encoding: 'utf8' }),
    ) as { readonly stderr: string; readonly status: number }[];
    for (const [index, [name, , message]] of failures.entries()) {
      expect(ended[index].stderr, name).toMatch(/^sklearnExport: .*\n$/);
      expect(ended[index].stderr).toMatch(message);
      expect(ended[index].status).toBe(1);
    }
    const alone = spawnSync(PYTHON, ['-W', 'ignore', script, ...calls[0]], { encoding: 'utf8' });
    expect([alone.status, alone.stderr]).toEqual([1, ended[0].stderr]);
  });
});
