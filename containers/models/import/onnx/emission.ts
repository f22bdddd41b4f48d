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
import { elementOfType } from './tensorValues.js';

/** Puts a translated graph into a draft. */
export class GraphEmission implements Emission {
  private readonly inputs: Tensor[];
  private readonly made = new Map<GraphOp, readonly Tensor[]>();
  private readonly constants = new Map<unknown, Map<RealElement, Source>>();

  constructor(
    readonly draft: ModelDraft,
    graph: TranslatedGraph,
  ) {
    this.inputs = unpacked(draft, graph);
    const needed = neededOps(graph);
    for (const op of graph.ops) {
      if (needed.has(op)) this.made.set(op, op.kind === 'general' ? op.emit(this) : [emitFusable(this, op)]);
    }
  }

  readonly tensor = ({ source, output }: GraphValue): Tensor => {
    const tensor = source.kind === 'input' ? this.inputs[source.place] : this.made.get(source)?.[output];
    if (tensor === undefined) throw new Error('an op is read before it is there');
    return tensor;
  };

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
  let start = 0;
  return inputs.values.map(({ shape, dataType }, place) => {
    const width = elementsOfShape(shape);
    const element = elementOfType(dataType);
    if (inputs.values.length === 1 && element === input.element) return input;
    const tensor = draft.tensor(`input${place + 1}`, element, width);
    const from = { pointer: pointerTo(input), stride: input.width, element: input.element };
    addCopyInto(draft, from, tensor, [width], { start, strides: [1] }, { start: 0, strides: [1] });
    start += width;
    return tensor;
  });
}

/** Ops that outputs are made of. */
function neededOps({ outputs }: TranslatedGraph): ReadonlySet<GraphOp> {
  const needed = new Set<GraphOp>();
  const open = outputs.map(({ value }) => value);
  for (let value = open.pop(); value !== undefined; value = open.pop()) {
    const { source } = value;
    if (source.kind === 'input' || needed.has(source)) continue;
    needed.add(source);
    const operands = source.kind === 'general' ? source.operands : operandsOf(source);
    for (const operand of operands) if ('value' in operand) open.push(operand.value);
  }
  return needed;
}
