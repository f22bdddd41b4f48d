import { once } from 'node:events';
import { connect, createServer, type AddressInfo, type Server, type Socket } from 'node:net';

/** A line to a server that can be cut: everything that it carries at that moment, on its way either way, is lost. */
export class CuttingProxy {
  private readonly clients = new Set<Socket>();
  private isBarred: (clientPort: number) => boolean = () => false;
  private mutes: ('request' | 'answer')[] = [];

  private constructor(
    private readonly server: Server,
    /** Of the server: a later one may listen elsewhere. */
    public port: number,
  ) {}

  static async start(port: number): Promise<CuttingProxy> {
    const server = createServer();
    const proxy = new CuttingProxy(server, port);
    server.on('connection', (socket) => proxy.carry(socket));
    server.listen(0, '127.0.0.1');
    await once(server, 'listening');
    return proxy;
  }

  /** `HOST:PORT`. */
  get address(): string {
    return `127.0.0.1:${(this.server.address() as AddressInfo).port}`;
  }

  get url(): string {
    return `redis://${this.address}`;
  }

  /** Ends all connections; new ones come through. */
  cut(): void {
    this.mutes = [];
    for (const socket of this.clients) socket.destroy();
  }

  /** Nobody comes through until `mend`. */
  down(): void {
    this.bar(() => true);
    this.mutes = [];
  }

  /** Clients on these ports of theirs do not come through until `mend`. */
  bar(isBarred: (clientPort: number) => boolean): void {
    this.isBarred = isBarred;
    for (const socket of this.clients) if (isBarred(socket.remotePort ?? 0)) socket.destroy();
  }

  mend(): void {
    this.isBarred = () => false;
  }

  /** From here on what is sent in a direction gets lost, until the line is cut: then it is whole again. */
  mute(direction: 'request' | 'answer'): void {
    this.mutes.push(direction);
  }

  async stop(): Promise<void> {
    this.cut();
    this.server.close();
    await once(this.server, 'close');
  }

  private carry(client: Socket): void {
    if (this.isBarred(client.remotePort ?? 0)) {
      client.destroy();
      return;
    }
    this.clients.add(client);
    client.on('close', () => this.clients.delete(client));
    const server = connect(this.port, '127.0.0.1');
    for (const [from, to, direction] of [
      [client, server, 'request'],
      [server, client, 'answer'],
    ] as const) {
      from.on('data', (data) => {
        if (!this.mutes.includes(direction)) to.write(data);
      });
      from.on('error', () => undefined);
      from.on('close', () => to.destroy());
    }
  }
}
