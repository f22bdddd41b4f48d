import type { CommandChecks } from './commandChecks.js';
import { GRAPH_OPS, type GraphCommand } from './commands.js';
import type { ContextState, DriverState, GraphExecState, GraphNodeState } from './driverState.js';
import { Refusal } from './refusal.js';

const GRAPH_OP_NAMES: ReadonlySet<string> = new Set(GRAPH_OPS);

export function isGraphCommand(command: { readonly op: string }): command is GraphCommand {
  return GRAPH_OP_NAMES.has(command.op);
}

/** Graphs and what was instantiated of them. */
export class GraphTable {
  constructor(
    private readonly state: DriverState,
    private readonly checks: CommandChecks,
  ) {}

  create(context: ContextState, nodes: GraphNodeState[] = []): number {
    const handle = this.state.nextHandle++;
    context.graphs.set(handle, nodes);
    return handle;
  }

  addNode(context: ContextState, graph: number, after: readonly number[], command: GraphCommand): number {
    const nodes = this.requireGraph(context, graph);
    for (const node of after) {
      if (Number.isInteger(node) && node >= 0 && node < nodes.length) continue;
      throw new Refusal(
        'invalidValue',
        `after: graph ${graph} has no node ${node}; it has ${nodes.length}, numbered from 0`,
      );
    }
    this.checkNode(command, context);
    nodes.push({ command, after: [...new Set(after)] });
    return nodes.length - 1;
  }

  destroy(context: ContextState, graph: number): void {
    this.requireGraph(context, graph);
    context.graphs.delete(graph);
  }

  /** What the graph becomes later does not change the instance. */
  instantiate(context: ContextState, graph: number): number {
    const nodes = this.requireGraph(context, graph);
    const handle = this.state.nextHandle++;
    context.graphExecs.set(handle, { nodes: [...nodes], lastLaunch: 0, uploaded: false });
    return handle;
  }

  updateNode(context: ContextState, exec: number, index: number, command: GraphCommand): void {
    const instance = this.requireExec(context, exec);
    const node = Number.isInteger(index) ? instance.nodes[index] : undefined;
    if (node === undefined) {
      throw new Refusal(
        'invalidValue',
        `index: graph instance ${exec} has no node ${index}; it has ${instance.nodes.length}, numbered from 0`,
      );
    }
    if (command.op !== node.command.op) {
      throw new Refusal(
        'graphExecUpdateFailure',
        `node: node ${index} is a '${node.command.op}' and cannot become a '${command.op}'`,
      );
    }
    this.checkNode(command, context);
    const nodes = [...instance.nodes];
    nodes[index] = { command, after: node.after };
    instance.nodes = nodes;
  }

  destroyExec(context: ContextState, exec: number): void {
    this.requireExec(context, exec);
    context.graphExecs.delete(exec);
  }

  requireExec(context: ContextState, exec: number): GraphExecState {
    const instance = context.graphExecs.get(exec);
    if (instance === undefined) {
      throw new Refusal('invalidHandle', `exec: context ${context.id} has no graph instance ${exec}`);
    }
    return instance;
  }

  private requireGraph(context: ContextState, graph: number): GraphNodeState[] {
    const nodes = context.graphs.get(graph);
    if (nodes === undefined) {
      throw new Refusal('invalidHandle', `graph: context ${context.id} has no graph ${graph}`);
    }
    return nodes;
  }

  private checkNode(command: GraphCommand, context: ContextState): void {
    if (!isGraphCommand(command)) {
      throw new Refusal(
        'invalidValue',
        `node: '${(command as { op: string }).op}' cannot be a node; there are: ${[...GRAPH_OPS].join(', ')}`,
      );
    }
    this.checks.check({ ticket: 0, context: context.id, stream: 0, ...command }, context);
  }
}
