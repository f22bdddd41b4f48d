import { randomInt } from 'node:crypto';
import type { AddressInfo } from 'node:net';
import { ClipperServer, DEFAULT_CLIPPER_LIMITS } from '../containers/runtime/index.js';
import type { Clock } from '../simulator/time/index.js';
import { DialledContainers } from './deployment/index.js';
import type { Complaint } from './errors/index.js';
import { listenError, type ConnectionCounts } from './http/index.js';
import { isExternal, type Registry } from './registry/index.js';

/** Where containers that were built for Clipper dial in. */
export interface ClipperOption {
  readonly host: string;
  /** 0: the system picks one. */
  readonly port: number;
  /** That serve at once; 256 by default. */
  readonly maxContainers?: number | undefined;
  /** Of one message of a container: the answers to a batch; 64 MiB by default. */
  readonly maxMessageBytes?: number | undefined;
}

const DEFAULT_CONTAINERS = 256;
/** Others may wait beside those that serve. */
const CONNECTIONS_PER_CONTAINER = 4;
const FEWEST_CONNECTIONS = 64;

/** The port for containers, and who of them serves. */
export class DialIn {
  readonly starter: DialledContainers;
  private readonly server: ClipperServer;

  constructor(
    private readonly option: ClipperOption,
    registry: Registry,
    clock: Clock,
    private readonly complain: Complaint,
  ) {
    const { maxContainers = DEFAULT_CONTAINERS, maxMessageBytes } = option;
    this.server = new ClipperServer({
      nowNs: () => clock.nowNs(),
      firstMessageId: randomInt(2 ** 31),
      limits: {
        ...(maxMessageBytes === undefined
          ? {}
          : {
              messageBytes: maxMessageBytes,
              bufferedBytes: Math.max(DEFAULT_CLIPPER_LIMITS.bufferedBytes, maxMessageBytes),
            }),
        connections: Math.max(FEWEST_CONNECTIONS, CONNECTIONS_PER_CONTAINER * maxContainers),
      },
      complain,
    });
    this.starter = new DialledContainers({
      dialIn: this.server,
      registry,
      most: maxContainers,
      complain,
      nowMs: () => performance.now(),
    });
  }

  /** @throws ListenError (as a rejection) */
  async listen(): Promise<AddressInfo> {
    const { host, port } = this.option;
    try {
      const address = await this.server.listen(host, port);
      if (!isLoopback(address.address)) {
        const message =
          'containers can dial in from other machines: whoever reaches the port can answer for a model';
        this.complain(message, {
          host: address.address,
          port: address.port,
          fix: 'keep others out by a firewall, or use 127.0.0.1',
        });
      }
      return address;
    } catch (error) {
      throw listenError(error as NodeJS.ErrnoException, host, port);
    }
  }

  connections(): ConnectionCounts {
    return this.server.connections();
  }

  async close(): Promise<void> {
    this.starter.close();
    await this.server.close();
  }
}

function isLoopback(address: string): boolean {
  return address === '::1' || address.startsWith('127.');
}

/** Models that can have no replica here are told of at the start: where containers dialled in before, they do not any more. */
export function tellOfUnreachable(registry: Registry, complain: Complaint): void {
  const models = registry
    .models()
    .filter(isExternal)
    .map(({ name, version }) => `${name}:${version}`);
  if (models.length === 0) return;
  const fix = 'start the server with --clipper-port, or delete them';
  complain('models whose containers dial in have none, since no port is open for them', {
    models: models.slice(0, 20),
    count: models.length,
    fix,
  });
}
