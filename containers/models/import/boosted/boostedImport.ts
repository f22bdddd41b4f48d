import { ModelError } from '../../modelError.js';
import { addDense } from '../denseLayer.js';
import { addConversion } from '../layers/stridedLayers.js';
import { addMath } from '../layers/mathLayers.js';
import { sourceOf } from '../layers/sources.js';
import { addTreeVotes, brokenTree, type TreeEnsemble } from '../layers/treeVotes.js';
import { ModelDraft, pointerTo, type ImportInputType, type Tensor } from '../modelDraft.js';
import { finishModel, type ImportedModel, type ImportedModelDescription } from '../modelFolder.js';
import { addSoftmax } from '../rowLayers.js';
import { readLightGbm } from './lightGbm.js';
import { readXgboost } from './xgboost.js';

export interface BoostedImportOptions {
  readonly name: string;
  readonly inputType: ImportInputType;
  readonly maxBatchSize: number;
  /** Of the classes, in order: 0, 1, 2, … unless given. */
  readonly labels?: readonly string[];
}

/** What becomes of the trees' sums. */
export type Link = 'identity' | 'isPositive' | 'exponential' | 'logistic' | 'twoClasses' | 'classes';

/** A boosted ensemble as its library wrote it. */
export interface BoostedModel {
  readonly description: string;
  readonly features: number;
  readonly ensemble: TreeEnsemble;
  readonly link: Link;
  /** Sums are multiplied by it before a logistic function. */
  readonly steepness: number;
}

const READERS = { xgboost: readXgboost, lightgbm: readLightGbm } as const;
export type BoostedLibrary = keyof typeof READERS;

/**
 * Makes a kernel model of the JSON of XGBoost (`save_model("m.json")`) or LightGBM (`dump_model()`), in double precision.
 * @throws ModelError `importInvalid` or `importUnsupported` naming the field.
 */
export function importBoosted(
  library: BoostedLibrary,
  text: string,
  file: string,
  options: BoostedImportOptions,
): ImportedModel {
  let json: unknown;
  try {
    json = JSON.parse(text);
  } catch (error) {
    throw new ModelError(
      'importInvalid',
      file,
      undefined,
      `not JSON: ${(error as Error).message}; write the model as JSON`,
    );
  }
  const model = READERS[library](json, file);
  const { features, ensemble } = model;
  const broken = brokenTree(ensemble, features);
  if (broken !== undefined)
    throw new ModelError('importInvalid', file, 'trees', `${broken}; save the model again`);
  const { inputType } = options;
  const draft = new ModelDraft(inputType, [features]);
  draft.takesMissing = inputType === 'doubles' || inputType === 'floats';
  const { input } = draft;
  const x =
    input.element === 'f64'
      ? input
      : addConversion(
          draft,
          { pointer: pointerTo(input), stride: input.width, element: input.element },
          features,
          'f64',
        );
  const sums = addTreeVotes(draft, sourceOf(x), features, ensemble);
  return finishModel(draft, {
    name: options.name,
    description: model.description,
    maxBatchSize: options.maxBatchSize,
    answer: answerOf(linked(draft, sums, model), model.link, file, options.labels),
  });
}

function linked(draft: ModelDraft, sums: Tensor, { link, steepness }: BoostedModel): Tensor {
  const map = (op: 'logistic' | 'exponential' | 'affine' | 'sign' | 'relu', x: Tensor, a = 0): Tensor =>
    addMath(draft, sourceOf(x), x.width, { op, a });
  const steep = steepness === 1 ? sums : map('affine', sums, steepness);
  switch (link) {
    case 'identity':
      return sums;
    case 'isPositive':
      return map('relu', map('sign', sums));
    case 'exponential':
      return map('exponential', sums);
    case 'logistic':
      return map('logistic', steep);
    case 'twoClasses':
      return addDense(draft, map('logistic', steep), { weights: [-1, 1], biases: [1, 0] });
    case 'classes':
      return addSoftmax(draft, sums, sums.width);
  }
}

function answerOf(
  tensor: Tensor,
  link: Link,
  file: string,
  given: readonly string[] | undefined,
): ImportedModelDescription['answer'] {
  if (link !== 'twoClasses' && link !== 'classes') return { kind: 'values', output: { tensor } };
  const labels = given ?? Array.from({ length: tensor.width }, (_, index) => String(index));
  if (labels.length !== tensor.width) {
    throw new ModelError(
      'importInvalid',
      file,
      'labels',
      `${labels.length} labels for ${tensor.width} classes`,
    );
  }
  return { kind: 'argmax', output: { tensor }, labels, scores: { tensor } };
}
