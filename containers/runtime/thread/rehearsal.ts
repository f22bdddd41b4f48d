import { GpuNode, type NodePreparation } from '../../../simulator/cluster/index.js';
import {
  CompileError,
  WasmExecutor,
  type CodeForm,
  type PreparedKernel,
  type WantedCode,
} from '../../../simulator/executor/index.js';
import { VirtualClock } from '../../../simulator/time/index.js';
import type { KernelModel } from '../../models/index.js';
import { BusyMeter } from '../busyMeter.js';
import { loadRegistered } from '../sourceContent.js';
import { NodeContainers } from '../nodeContainers.js';
import type { KernelModelStart } from '../nodeHost.js';

const LINE = 0;

/** What a model's start has come to. */
export interface Rehearsed {
  readonly model: KernelModel;
  /** Why it cannot start; undefined when it can. */
  readonly downReason: string | undefined;
}

/**
 * A GPU of its own, in virtual time, on which models are started before they start on a node: what the start works out
 * is then there to be taken over, and a model that cannot start has held up nobody.
 */
export class RehearsalNode {
  private readonly clock = new VirtualClock();
  private readonly node: GpuNode;
  private readonly containers: NodeContainers;
  private executor: WasmExecutor | undefined;
  /** Code for lane after lane suits blocks of any shape, also of one that no rehearsed batch has. */
  private readonly alsoIn: CodeForm[] = [{ groups: 0 }];

  constructor(gpu: string, fuelPerBlock: number) {
    this.node = new GpuNode(this.clock, {
      name: 'rehearsal',
      gpus: [gpu],
      fuelPerBlock,
      // Models' kernels are launched again and again.
      executor: (memory) =>
        (this.executor = new WasmExecutor(memory, { vectorAfter: 0, alsoIn: this.alsoIn })),
    });
    const { clock, node } = this;
    this.containers = new NodeContainers({ clock, driver: node, gpuCount: 1, meter: new BusyMeter() });
  }

  /**
   * Starts a model, up to its last batch of zeros, and takes it off again.
   * @param isObserved whether launches may be killed or struck by faults, and their stores have to be kept
   * @throws ModelError when it cannot be loaded.
   */
  rehearse(request: KernelModelStart, isObserved = false): Rehearsed {
    if (isObserved && this.alsoIn.every(({ observed }) => observed !== true))
      this.alsoIn.push({ observed: true });
    const model = loadRegistered(request);
    let downReason: string | undefined;
    const onFrame = (frame: { readonly kind: string; readonly reason?: string }): void => {
      if (frame.kind === 'down') downReason = frame.reason ?? '';
    };
    this.containers.start(LINE, { ...request, gpu: 0 }, { onFrame }, model);
    this.clock.run();
    this.containers.stop(LINE);
    this.clock.run();
    return { model, downReason };
  }

  /** Code of a kernel of one of its models; undefined when it cannot be made, or the model was here too long ago. */
  codeOf(wanted: WantedCode): PreparedKernel | undefined {
    try {
      return this.executor?.prepare(wanted);
    } catch (error) {
      // Whoever asked goes on in the code that there is.
      if (error instanceof CompileError || error instanceof RangeError) return undefined;
      throw error;
    }
  }

  preparation(): NodePreparation {
    return this.node.preparation();
  }

  takeOver(preparation: NodePreparation): void {
    this.node.takeOver(preparation);
  }
}
