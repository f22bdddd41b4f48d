import { loadManifest, outputLength, type NamedTensor } from '../../../containers/models/index.js';
import type { InputForm } from '../../../containers/protocol/index.js';
import {
  commonInputForm,
  type ApplicationRecord,
  type ModelRecord,
  type RegistryView,
} from '../../registry/index.js';
import type { OutputDatatype } from './datatypes.js';

/** Where an output's values come from. */
export type OutputSource =
  /** The model's output text, one a row. */
  | 'output'
  /** The model's output, a JSON array a row. */
  | 'values'
  /** One of several outputs: under its name in a JSON object a row. */
  | 'tensors'
  | 'scores'
  /** Of an application's answer. */
  | 'confidence';

export interface ServableOutput {
  readonly name: string;
  readonly datatype: OutputDatatype;
  /** Elements a row; undefined: one, without a dimension of its own. */
  readonly elements: number | undefined;
  /** Of a row, where it is more than one dimension of elements. */
  readonly shape?: readonly number[];
  readonly source: OutputSource;
  /** Of each element, where it stands for a class. */
  readonly labels?: readonly string[];
}

interface ServableParts {
  /** As the protocol calls it. */
  readonly name: string;
  readonly input: {
    readonly name: string;
    readonly form: InputForm;
    /** What a row is put together of, where that is not one tensor of that name. */
    readonly tensors?: readonly NamedTensor[];
  };
  readonly outputs: readonly ServableOutput[];
}

/** One model version, asked alone. */
export interface ModelServable extends ServableParts {
  readonly kind: 'model';
  readonly record: ModelRecord;
}

/** An application, whose policy chooses among its linked models. */
export interface ApplicationServable extends ServableParts {
  readonly kind: 'application';
  readonly record: ApplicationRecord;
  /** The version of a linked model that the path names. */
  readonly version: string | undefined;
}

export type Servable = ModelServable | ApplicationServable;

/** Before the name of an application that a model has too. Names have no colon. */
export const APPLICATION_PREFIX = 'application:';

/** Names of the protocol's paths → what the registry has under them. */
export class Servables {
  /** A record that is replaced is another object; what its manifest says goes with it. */
  private readonly described = new WeakMap<ModelRecord, ModelServable>();

  constructor(private readonly registry: RegistryView) {}

  /** A model of that name, at the version or the current one; or else an application. */
  find(name: string, version: string | undefined): Servable | undefined {
    const current = this.registry.currentVersion(name);
    if (current !== undefined) {
      const record = this.registry.model(name, version ?? current);
      return record === undefined ? undefined : this.model(record);
    }
    const application = this.registry.application(
      name.startsWith(APPLICATION_PREFIX) ? name.slice(APPLICATION_PREFIX.length) : name,
    );
    return application === undefined ? undefined : this.applicationServable(name, application, version);
  }

  /** The versions of a model; none when there is no model of that name. */
  versions(name: string): string[] {
    return this.registry.models().flatMap((model) => (model.name === name ? [model.version] : []));
  }

  private model(record: ModelRecord): ModelServable {
    let servable = this.described.get(record);
    const form = this.registry.inputForm(record);
    // A replica may have said more of it since.
    if (servable === undefined || servable.input.form.length !== form.length) {
      this.described.set(record, (servable = describeModel(record, form)));
    }
    return servable;
  }

  private applicationServable(
    name: string,
    record: ApplicationRecord,
    version: string | undefined,
  ): ApplicationServable {
    return {
      kind: 'application',
      name,
      record,
      version,
      // A version that the client names may take another input than the current one: the engine checks that.
      input: {
        name: 'input',
        form: commonInputForm(
          record.inputType,
          version === undefined
            ? this.registry.linkedModels(record.name).map((model) => this.registry.inputForm(model))
            : [],
        ),
      },
      outputs: APPLICATION_OUTPUTS,
    };
  }
}

/** Whatever its models say, now and after the next link: their outputs as text. */
const APPLICATION_OUTPUTS: readonly ServableOutput[] = [
  { name: 'label', datatype: 'BYTES', elements: undefined, source: 'output' },
  { name: 'confidence', datatype: 'FP32', elements: undefined, source: 'confidence' },
];

function describeModel(record: ModelRecord, form: InputForm): ModelServable {
  const { name, container } = record;
  let inputName = 'input';
  let tensors: readonly NamedTensor[] | undefined;
  // What a container of user code answers is its own affair: text.
  let outputs: readonly ServableOutput[] = [labelOutput([])];
  if (container.kind === 'kernelModel') {
    const manifest = loadManifest(container.path);
    [{ name: inputName, tensors }] = manifest.inputs;
    outputs = manifestOutputs(manifest);
  } else if (container.kind === 'constant') outputs = [labelOutput([container.output])];
  const input = { name: inputName, form, ...(tensors === undefined ? {} : { tensors }) };
  return { kind: 'model', name, record, input, outputs };
}

type Manifest = ReturnType<typeof loadManifest>;

function manifestOutputs(manifest: Manifest): readonly ServableOutput[] {
  const { answer } = manifest;
  if (answer.kind === 'tensors')
    return answer.outputs.map((output) => numbersOutput(manifest, output, 'tensors'));
  if (answer.kind === 'values') return [numbersOutput(manifest, answer.output, 'values')];
  const named = namedTensor(manifest, answer.output);
  const label =
    answer.kind === 'label' && answer.labels === undefined
      ? { ...labelOutput([]), datatype: 'INT64' as const }
      : labelOutput(answer.labels ?? []);
  const own = answer.kind === 'label' && named !== undefined ? { ...label, name: named.name } : label;
  if (answer.scores === undefined) return [own];
  const scores = numbersOutput(manifest, answer.scores, 'scores');
  const scoresName = namedTensor(manifest, answer.scores)?.name ?? 'scores';
  const labels = answer.labels;
  // A graph's own output may be called as the label is: the label was added to it.
  const renamed = own.name === scoresName ? { ...own, name: `${own.name}_label` } : own;
  return [
    renamed,
    { ...scores, name: scoresName, datatype: 'FP32', ...(labels === undefined ? {} : { labels }) },
  ];
}

function namedTensor(manifest: Manifest, name: string): NamedTensor | undefined {
  return manifest.outputs.find((output) => output.name === name)?.tensor;
}

/** An output of numbers, in the shape and of the datatype that the graph had, where there was one. */
function numbersOutput(manifest: Manifest, name: string, source: OutputSource): ServableOutput {
  const element = manifest.outputs.find((output) => output.name === name)?.element;
  const named = namedTensor(manifest, name);
  const own = element === 'i32' ? 'INT32' : element === 'f64' ? 'FP64' : 'FP32';
  const datatype = named === undefined || named.datatype === 'BYTES' ? own : named.datatype;
  return {
    name: named?.name ?? name,
    datatype: datatype === 'FP16' ? 'FP32' : datatype,
    elements: outputLength(manifest, name),
    ...(named === undefined ? {} : { shape: named.shape }),
    source,
  };
}

const WHOLE = /^(?:0|-?[1-9]\d{0,18})$/;
const DECIMAL = /^-?(?:0|[1-9]\d{0,14})(?:\.\d{1,15})?$/;

function isInt64(label: string): boolean {
  return WHOLE.test(label) && BigInt.asIntN(64, BigInt(label)) === BigInt(label);
}

/** The label's datatype follows from every label that there can be, never from the answer at hand. */
function labelOutput(labels: readonly string[]): ServableOutput {
  let datatype: OutputDatatype = 'BYTES';
  if (labels.length > 0 && labels.every(isInt64)) datatype = 'INT64';
  else if (labels.length > 0 && labels.every((label) => DECIMAL.test(label))) datatype = 'FP64';
  return { name: 'label', datatype, elements: undefined, source: 'output' };
}
