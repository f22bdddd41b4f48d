import type { MessagePort } from 'node:worker_threads';
import type { CodeMaker, WantedCode } from '../../../simulator/executor/index.js';
import type { LoadRequest } from './loaderMessages.js';

/** A GPU node's line to the loader's thread, on which it asks for kernels in other code than they started in. */
export class CodeLine implements CodeMaker {
  private isOpen = true;

  constructor(private readonly loader: Pick<MessagePort, 'postMessage'>) {}

  get isThere(): boolean {
    return this.isOpen;
  }

  ask(wanted: WantedCode): void {
    this.loader.postMessage({ kind: 'make', wanted } satisfies LoadRequest);
  }

  onGone(): void {
    this.isOpen = false;
  }
}
