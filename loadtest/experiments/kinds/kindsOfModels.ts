import { execFileSync, spawnSync } from 'node:child_process';
import { copyFileSync, mkdirSync, readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { importSklearn, loadDigits, writeModelFolder } from '../../../containers/models/index.js';
import type { ImageNetwork } from '../../../containers/models/testing/index.js';
import { packageRoot } from '../../../simulator/files/index.js';
import { trainedNetwork, writeNetwork } from '../trainedNetworks.js';

/** That runs the model in Python. */
export const PYTHON = 'python3';
/** Debian's, which its python3-sklearn belongs to. */
const SKLEARN_PYTHON = '/usr/bin/python3';
const OWN_FILES = 'loadtest/experiments/kinds';

/** A model of the application, and how it comes to the server. */
export interface KindOfModel {
  readonly name: string;
  /** In words, for tables. */
  readonly way: string;
  /** Of `add_model`. */
  readonly container: Readonly<Record<string, string>>;
}

/** Makes each model of table 2 in its way, and a forest of scikit-learn where that is installed. @param folder for their files */
export function makeKinds(folder: string, seed: number): readonly KindOfModel[] {
  if (!canImport(PYTHON, 'numpy'))
    throw new Error(`'${PYTHON}' cannot import numpy, which a model needs: pip install numpy`);
  const kernels = ['vgg', 'resnet', 'inception'].map((name): KindOfModel => {
    const path = writeNetwork(name, trainedNetwork(name), folder);
    return kernelKind(name, 'ONNX import, kernels on the simulated GPU', path);
  });
  return [
    ...kernels,
    pythonKind('googlenet', trainedNetwork('googlenet'), folder),
    programKind('caffenet', trainedNetwork('caffenet'), folder),
    ...(canImport(SKLEARN_PYTHON, 'sklearn') ? [forestKind(folder, seed)] : []),
  ];
}

function kernelKind(name: string, way: string, path: string): KindOfModel {
  return { name, way, container: { container_name: 'windjammer/kernel-model', model_data_path: path } };
}

/** In Python with numpy, in a process of its own. */
export function pythonKind(name: string, network: ImageNetwork, folder: string): KindOfModel {
  const own = folderWith(name, network, folder);
  const module = join(own, 'network.py');
  copyFileSync(join(packageRoot(), OWN_FILES, 'network.py'), module);
  return {
    name,
    way: 'Python container, numpy',
    container: { container_name: 'windjammer/python', model_data_path: module, python: PYTHON },
  };
}

/** A program that reads and writes lines. */
export function programKind(name: string, network: ImageNetwork, folder: string): KindOfModel {
  const program = join(packageRoot(), 'dist/loadtest/experiments/kinds/networkProgram.js');
  const command = `exec "${process.execPath}" "${program}" network.json`;
  return {
    name,
    way: 'exec container, a program',
    container: {
      container_name: 'windjammer/exec',
      model_data_path: folderWith(name, network, folder),
      command,
    },
  };
}

function folderWith(name: string, { design, weights }: ImageNetwork, folder: string): string {
  const own = join(folder, name);
  mkdirSync(own);
  const listed = weights.map((layer) =>
    layer === null ? null : { weights: [...layer.weights], biases: [...layer.biases] },
  );
  writeFileSync(join(own, 'network.json'), JSON.stringify({ design, weights: listed }));
  return own;
}

/** @returns whether that Python is there and has the package */
export function canImport(python: string, name: string): boolean {
  return spawnSync(python, ['-c', `import ${name}`]).status === 0;
}

function forestKind(folder: string, seed: number): KindOfModel {
  const { training } = loadDigits();
  const [pixels, labels, out] = ['pixels.bin', 'labels.bin', 'forest.json'].map((file) => join(folder, file));
  writeFileSync(pixels, training.pixels);
  writeFileSync(labels, training.labels);
  const root = packageRoot();
  const script = join(root, OWN_FILES, 'forest.py');
  const exports = join(root, 'containers/models/import');
  execFileSync(SKLEARN_PYTHON, [script, exports, pixels, labels, `${seed}`, out]);
  const model = importSklearn(readFileSync(out, 'utf8'), out, { inputType: 'floats', maxBatchSize: 64 });
  const path = writeModelFolder(model, join(folder, 'forest')).folder;
  return kernelKind('forest', 'scikit-learn import, kernels on the simulated GPU', path);
}
