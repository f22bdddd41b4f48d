import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { importOnnx, loadDigits, writeModelFolder } from '../../containers/models/index.js';
import {
  imageNetworkSpec,
  imageWeightBytes,
  onnxFile,
  trainImageNetwork,
  withImageWeights,
  type ImageNetwork,
  type ImagePlan,
  type ModelSpec,
} from '../../containers/models/testing/index.js';
import { packageRoot } from '../../simulator/files/index.js';
import { TABLE_2, type NamedDesign } from './networkDesigns.js';

const FOLDER = 'docs/experiments/kindsOfModels/networks';
const LARGEST_BATCH = 64;

const PLAN: Omit<ImagePlan, 'seed'> = {
  epochs: 10,
  batchSize: 16,
  rate: 0.01,
  momentum: 0.9,
  weightDecay: 1e-4,
  shiftPixels: 1,
};

/** A network of table 2 as it was trained: `npm run experiment kindsOfModels -- --train NAME` trains it anew. */
export function trainedNetwork(name: string): ImageNetwork {
  return withImageWeights(designNamed(name).design, readFileSync(weightPath(name)));
}

/** Its weights on the digits to train with, two to four minutes. */
export function trainedWeights(name: string, seed: number): Uint8Array {
  const { training } = loadDigits();
  return imageWeightBytes(trainImageNetwork(training, designNamed(name).design, { ...PLAN, seed }));
}

export function weightPath(name: string): string {
  return join(packageRoot(), FOLDER, `${name}.bin`);
}

/** Makes a kernel model of a network, by way of ONNX. @returns its folder */
export function writeNetwork(name: string, network: ImageNetwork, folder: string): string {
  return writeGraph(name, imageNetworkSpec(network), folder);
}

/** Makes one kernel model of several networks, that gives the means of their probabilities. @returns its folder */
export function writeCommittee(name: string, networks: readonly ImageNetwork[], folder: string): string {
  const specs = networks.map(imageNetworkSpec);
  const own = (member: number, value: string): string => (value === 'x' ? value : `member${member}/${value}`);
  const nodes = specs.flatMap(({ nodes: members }, member) =>
    members.map((node) => ({
      ...node,
      inputs: node.inputs.map((input) => own(member, input)),
      output: own(member, node.output),
    })),
  );
  const initializers = specs.flatMap((spec, member) =>
    Object.entries(spec.initializers ?? {}).map(([key, tensor]) => [own(member, key), tensor] as const),
  );
  const mean = { op: 'Mean', inputs: specs.map((_, member) => own(member, 'y')), output: 'y' };
  const whole = { ...specs[0], nodes: [...nodes, mean], initializers: Object.fromEntries(initializers) };
  return writeGraph(name, whole, folder);
}

function writeGraph(name: string, spec: ModelSpec, folder: string): string {
  const options = { name, maxBatchSize: LARGEST_BATCH };
  return writeModelFolder(importOnnx(onnxFile(spec), `${name}.onnx`, options), join(folder, name)).folder;
}

function designNamed(name: string): NamedDesign {
  const found = TABLE_2.find((one) => one.name === name);
  if (found === undefined)
    throw new RangeError(`there is no network '${name}', only ${TABLE_2.map((one) => one.name).join(', ')}`);
  return found;
}
