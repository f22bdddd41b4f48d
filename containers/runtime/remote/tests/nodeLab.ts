import { vi, expect } from 'vitest';
import type { Socket } from 'node:net';
import type { ContainerFrame } from '../../../protocol/index.js';
import type { ContainerStart } from '../../modelContainer.js';
import { FrontendDouble } from '../../tests/frontendDouble.js';
import { NodeServer, type NodeServerOptions } from '../nodeServer.js';
import { RemoteNode, type RemoteNodeOptions } from '../remoteNode.js';
import { PuppetRuntime, type Puppet } from './puppetRuntime.js';

export const MODEL: ContainerStart = {
  model: 'm',
  version: '1',
  replica: '0',
  inputType: 'bytes',
  contentHash: 'abc',
  container: { kind: 'constant', output: '' },
};
/** What nodes and frontends are told. */
export const LOST = 'a frontend was refused or lost';
export const OUT = 'a GPU node is out of use';

export const isHello = ({ kind }: ContainerFrame): boolean => kind === 'hello';
export const isDown = ({ kind }: ContainerFrame): boolean => kind === 'down';
export const isResult = ({ kind }: ContainerFrame): boolean => kind === 'result';
export const input = (...bytes: number[]): Uint8Array[] => [Uint8Array.from(bytes)];

export interface Notice {
  readonly message: string;
  readonly details: Readonly<Record<string, unknown>>;
}

/** Nodes that run puppets, and frontends that dial them. */
export class NodeLab {
  readonly runtime = new PuppetRuntime();
  readonly atNode: Notice[] = [];
  readonly atFrontends: Notice[] = [];
  /** In reverse order at the end. */
  readonly ends: (() => Promise<void>)[] = [];

  constructor() {
    this.runtime.onStart = (puppet) => puppet.hello();
  }

  async end(): Promise<void> {
    for (const end of this.ends.splice(0).reverse()) await end();
  }

  async listening(
    options: Partial<NodeServerOptions> = {},
  ): Promise<{ readonly server: NodeServer; readonly port: number }> {
    const server = new NodeServer({
      name: 'n1',
      gpus: ['h200'],
      runtime: this.runtime,
      complain: (message, details) => this.atNode.push({ message, details }),
      ...options,
    });
    const { port } = await server.listen('127.0.0.1', 0);
    this.ends.push(() => new Promise<void>((resolve) => server.close(resolve)));
    return { server, port };
  }

  async connected(port: number, options: Partial<RemoteNodeOptions> = {}): Promise<RemoteNode> {
    const node = new RemoteNode({
      address: { host: '127.0.0.1', port, isSecure: false },
      onNotice: (message, details) => this.atFrontends.push({ message, details }),
      ...options,
    });
    this.ends.push(() => new Promise<void>((resolve) => node.close(resolve)));
    await new Promise<void>((resolve) => node.settled(resolve));
    return node;
  }

  async started(node: RemoteNode, request = MODEL): Promise<FrontendDouble> {
    const frontend = new FrontendDouble(node.startContainer(request));
    await frontend.seen(isHello);
    return frontend;
  }

  codes(notices: readonly Notice[], message: string): unknown[] {
    return notices.filter((notice) => notice.message === message).map(({ details }) => details.code);
  }

  /** The puppet has got so many batches. */
  async asked(puppet: Puppet, batches: number): Promise<number[]> {
    await vi.waitFor(() => expect(puppet.batches().length).toBeGreaterThanOrEqual(batches), 10_000);
    return puppet.batches();
  }
}

/** Cuts a frontend's connection as a network would. */
export function breakOff(node: RemoteNode): void {
  (node as unknown as { socket: Socket }).socket.destroy();
}
