import type { DriverFailure, DriverResult } from './commands.js';
import type {
  ContextState,
  DriverState,
  GraphExecState,
  GraphRunState,
  PendingCommand,
} from './driverState.js';

/** Launches of graphs under way: every node is a command of its own that the nodes before it hold up. */
export class GraphRuns {
  constructor(
    private readonly state: DriverState,
    private readonly startNode: (node: PendingCommand, context: ContextState) => void,
    private readonly onEnd: (run: PendingCommand, context: ContextState) => void,
  ) {}

  /** @returns whether the graph has nodes at all. */
  begin(
    pending: PendingCommand,
    context: ContextState,
    exec: GraphExecState,
    behind: GraphRunState,
  ): boolean {
    const { nodes } = exec;
    if (nodes.length === 0) return false;
    pending.phase = 'running';
    pending.run = behind;
    behind.left = nodes.length;
    const { ticket, context: contextId, stream } = pending.command;
    nodes.forEach(({ command, after }, index) => {
      const sequence = this.state.nextSequence++;
      behind.sequences.push(sequence);
      const node: PendingCommand = {
        sequence,
        command: { ticket, context: contextId, stream, ...command },
        sink: '',
        context: pending.context,
        phase: 'queued',
        blockers: after.length,
        request: undefined,
        run: undefined,
        node: { run: pending.sequence, index, isFirst: after.length === 0 },
      };
      this.state.pending.set(sequence, node);
      context.inFlight.add(sequence);
      for (const before of after) {
        const waiting = this.state.dependents.get(behind.sequences[before]);
        if (waiting === undefined) this.state.dependents.set(behind.sequences[before], [sequence]);
        else waiting.push(sequence);
      }
    });
    for (const sequence of [...behind.sequences]) {
      const node = this.state.pending.get(sequence);
      if (node?.blockers === 0 && node.phase === 'queued') this.startNode(node, context);
    }
    return true;
  }

  /** A node is over. Of a graph that failed, nodes that have not begun are dropped. */
  nodeEnded(
    node: PendingCommand,
    context: ContextState,
    result: DriverResult | undefined,
    failure: DriverFailure | undefined,
  ): void {
    const parent = this.state.pending.get(node.node?.run ?? -1);
    const run = parent?.run;
    if (parent === undefined || run === undefined) return;
    run.left -= 1;
    if (result !== undefined && Object.keys(result).length > 0) {
      run.results.push({ node: node.node?.index ?? 0, result });
    }
    if (failure !== undefined && run.failure === undefined) {
      run.failure = failure;
      for (const sequence of run.sequences) {
        if (this.state.pending.get(sequence)?.phase !== 'queued') continue;
        this.state.pending.delete(sequence);
        this.state.dependents.delete(sequence);
        context.inFlight.delete(sequence);
        run.left -= 1;
      }
    }
    if (run.left === 0) this.onEnd(parent, context);
  }
}
