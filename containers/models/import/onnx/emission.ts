import { addConversion, addCopyInto } from '../layers/stridedLayers.js';
import { constantSource, sourceOf, type RealElement, type Source } from '../layers/sources.js';
import { pointerTo, type ModelDraft, type Tensor } from '../modelDraft.js';
import { emitFusable, operandsOf } from './fusableOps.js';
import {
  elementsOfShape,
  type Emission,
  type GraphOp,
  type GraphValue,
  type Operand,
} from './graphValues.js';
import type { TranslatedGraph } from './graphTranslation.js';
import { PART_TYPE } from './encodedParts.js';
import { elementOfType } from './tensorValues.js';

/** Puts a translated graph into a draft. */
export class GraphEmission implements Emission {
  private readonly inputs: Tensor[];
  private readonly made = new Map<GraphOp, readonly Tensor[]>();
  private readonly partTensors = new Map<number, Tensor>();
  private readonly starts: readonly number[];
  private readonly constants = new Map<unknown, Map<RealElement, Source>>();

  constructor(
    readonly draft: ModelDraft,
    graph: TranslatedGraph,
  ) {
    this.starts = graph.inputs.encoded.starts;
    this.inputs = unpacked(draft, graph);
    const needed = neededOps(graph);
    for (const op of graph.ops) {
      if (needed.has(op)) this.made.set(op, op.kind === 'general' ? op.emit(this) : [emitFusable(this, op)]);
    }
  }

  readonly tensor = ({ source, output }: GraphValue): Tensor => {
    const tensor =
      source.kind === 'input'
        ? this.inputs[source.place]
        : source.kind === 'part'
          ? this.part(source.place)
          : this.made.get(source)?.[output];
    if (tensor === undefined) throw new Error('an op is read before it is there');
    return tensor;
  };

  /** A number that the host has made of a string. */
  private part(place: number): Tensor {
    const known =
      this.partTensors.get(place) ?? copied(this.draft, this.starts[place], 1, `part${place + 1}`, PART_TYPE);
    this.partTensors.set(place, known);
    return known;
  }

  readonly source = (operand: Operand, element?: RealElement): Source => {
    if ('value' in operand) {
      const source = sourceOf(this.tensor(operand.value));
      if (element === undefined || element === source.element) return source;
      const width = elementsOfShape(operand.value.shape);
      return sourceOf(addConversion(this.draft, source, width, element));
    }
    const { constant } = operand;
    const kind = element ?? elementOfType(constant.dataType);
    const known = this.constants.get(constant.values) ?? new Map<RealElement, Source>();
    this.constants.set(constant.values, known);
    const source = known.get(kind) ?? constantSource(this.draft, 'constant', constant.values, kind);
    known.set(kind, source);
    return source;
  };
}

/** Each input of the graph by itself, out of the one vector that a query is. */
function unpacked(draft: ModelDraft, { inputs }: TranslatedGraph): Tensor[] {
  const { input } = draft;
  const { encoded } = inputs;
  let start = 0;
  return inputs.values.map(({ shape, dataType, columns }, place) => {
    const width = elementsOfShape(shape);
    const element = elementOfType(dataType);
    const isEncoded = encoded.parts.length > 0;
    // Strings are read as what the host makes of them.
    if (columns !== undefined) return input;
    if (inputs.values.length === 1 && element === input.element && !isEncoded) return input;
    const from = isEncoded ? encoded.starts[inputs.firstParts[place]] : start;
    start += width;
    return copied(draft, from, width, `input${place + 1}`, dataType);
  });
}

function copied(draft: ModelDraft, start: number, width: number, name: string, dataType: number): Tensor {
  const { input } = draft;
  const tensor = draft.tensor(name, elementOfType(dataType), width);
  const from = { pointer: pointerTo(input), stride: input.width, element: input.element };
  addCopyInto(draft, from, tensor, [width], { start, strides: [1] }, { start: 0, strides: [1] });
  return tensor;
}

/** Ops that outputs are made of. */
function neededOps({ outputs }: TranslatedGraph): ReadonlySet<GraphOp> {
  const needed = new Set<GraphOp>();
  const open = outputs.map(({ value }) => value);
  for (let value = open.pop(); value !== undefined; value = open.pop()) {
    const { source } = value;
    if (source.kind === 'input' || source.kind === 'part' || needed.has(source)) continue;
    needed.add(source);
    const operands = source.kind === 'general' ? source.operands : operandsOf(source);
    for (const operand of operands) if ('value' in operand) open.push(operand.value);
  }
  return needed;
}
