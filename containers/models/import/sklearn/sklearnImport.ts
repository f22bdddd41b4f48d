import { ModelDraft, countOf, pointerTo, type ImportInputType, type Tensor } from '../modelDraft.js';
import { finishModel, type ImportedModel } from '../modelFolder.js';
import { ModelError } from '../../modelError.js';
import type { SklearnExport } from './exportSchema.js';
import { importSklearnGraph } from './graphImport.js';
import { addLinear, addPerceptron, type ClassTensors } from './linearLayers.js';
import { ExportCheck, readExport } from './readExport.js';
import { addSupportVectors } from './supportVectorLayers.js';
import { addTrees } from './treeLayers.js';

export interface SklearnImportOptions {
  /** The model's name; what the export says otherwise. */
  readonly name?: string;
  /** What the model takes. It computes in double precision whatever comes in. */
  readonly inputType: ImportInputType;
  readonly maxBatchSize: number;
}

/**
 * Makes a kernel model of what sklearnExport.py wrote. It computes in double precision, as scikit-learn does.
 * @throws ModelError `importInvalid` or `importUnsupported` naming the field.
 */
export function importSklearn(text: string, file: string, options: SklearnImportOptions): ImportedModel {
  const graph = graphExport(text);
  if (graph !== undefined) return importSklearnGraph(graph, file, options);
  const source = readExport(text, file);
  const check = new ExportCheck(file);
  const draft = new ModelDraft(options.inputType, [source.features]);
  const x = addSteps(draft, widened(draft), source, check);
  const { decisions, scores } = addModel(draft, x, source, check);
  checkGolden(source, draft.takesMissing, file, check);
  return finishModel(draft, {
    name: options.name ?? source.name,
    description: `${source.estimator} of scikit-learn ${source.sklearnVersion}`,
    maxBatchSize: options.maxBatchSize,
    answer: {
      kind: 'argmax',
      output: { tensor: decisions },
      labels: source.classes,
      scores: { tensor: scores },
    },
    ...(source.golden.length === 0 ? {} : { golden: { tolerance: 1e-5, cases: source.golden } }),
  });
}

/** An export of version 2; undefined: another file, or none. */
function graphExport(text: string): unknown {
  try {
    const json = JSON.parse(text) as { readonly format?: unknown; readonly formatVersion?: unknown } | null;
    return json?.format === 'windjammer-sklearn' && json.formatVersion === 2 ? json : undefined;
  } catch {
    return undefined;
  }
}

function addModel(
  draft: ModelDraft,
  x: Tensor,
  { model, classes }: SklearnExport,
  check: ExportCheck,
): ClassTensors {
  switch (model.kind) {
    case 'linear':
      return addLinear(draft, x, model, classes.length, check);
    case 'supportVectors':
      return addSupportVectors(draft, x, model, classes.length, check);
    case 'trees':
      return addTrees(draft, x, model, classes.length, check);
    case 'perceptron':
      return addPerceptron(draft, x, model, classes.length, check);
  }
}

function widened(draft: ModelDraft): Tensor {
  const { input } = draft;
  if (input.element === 'f64') return input;
  const wide = draft.tensor('wideInput', 'f64', input.width);
  draft.launchElements({
    module: 'elementwise',
    kernel: `widen_${input.element}`,
    width: input.width,
    instructionsEach: 20,
    arguments: [pointerTo(input), pointerTo(wide), countOf(input.width)],
  });
  return wide;
}

/** Scalers that come before the estimator in a pipeline. */
function addSteps(draft: ModelDraft, input: Tensor, { steps }: SklearnExport, check: ExportCheck): Tensor {
  let x = input;
  steps.forEach((step, index) => {
    const [first, second] =
      step.kind === 'standardize'
        ? (['shift', 'divisor'] as const).map((key) => ({ key, values: step[key] }))
        : (['factor', 'offset'] as const).map((key) => ({ key, values: step[key] }));
    for (const { key, values } of [first, second]) {
      check.length(values, x.width, `steps[${index}].${key}`);
    }
    const zero = step.kind === 'standardize' ? step.divisor.indexOf(0) : -1;
    if (zero >= 0) check.fail(`steps[${index}].divisor[${zero}]`, 'is 0');
    const name = draft.layerName('scaled');
    const y = draft.tensor(name, 'f64', x.width);
    draft.launchElements({
      module: 'elementwise',
      kernel: `${step.kind}_f64`,
      width: x.width,
      instructionsEach: 40,
      arguments: [
        pointerTo(x),
        draft.weight(`${name}_${first.key}`, Float64Array.from(first.values)),
        draft.weight(`${name}_${second.key}`, Float64Array.from(second.values)),
        pointerTo(y),
        countOf(x.width),
        { i32: x.width },
      ],
    });
    x = y;
  });
  return x;
}

function checkGolden(
  { golden, classes, features }: SklearnExport,
  takesMissing: boolean,
  file: string,
  check: ExportCheck,
): void {
  golden.forEach(({ input, label, scores }, index) => {
    check.length(input, features, `golden[${index}].input`);
    check.length(scores, classes.length, `golden[${index}].scores`);
    const missing = takesMissing ? -1 : input.findIndex(Number.isNaN);
    if (missing >= 0) {
      throw new ModelError(
        'importInvalid',
        file,
        `golden[${index}].input[${missing}]`,
        'is null, and the model takes no missing values: leave that golden input out',
      );
    }
    if (classes.includes(label)) return;
    throw new ModelError('importInvalid', file, `golden[${index}].label`, `there is no class '${label}'`);
  });
}
