import { once } from 'node:events';
import { connect, createServer, type AddressInfo, type Server, type Socket } from 'node:net';

/** A line to a server that can be cut: everything that it carries at that moment, on its way either way, is lost. */
export class CuttingProxy {
  private readonly sockets = new Set<Socket>();
  private isDown = false;
  private mutes: ('request' | 'answer')[] = [];

  private constructor(
    private readonly server: Server,
    private readonly port: number,
  ) {}

  static async start(port: number): Promise<CuttingProxy> {
    const server = createServer();
    const proxy = new CuttingProxy(server, port);
    server.on('connection', (socket) => proxy.carry(socket));
    server.listen(0, '127.0.0.1');
    await once(server, 'listening');
    return proxy;
  }

  get url(): string {
    return `redis://127.0.0.1:${(this.server.address() as AddressInfo).port}`;
  }

  /** Ends all connections; new ones come through. */
  cut(): void {
    this.mutes = [];
    for (const socket of this.sockets) socket.destroy();
  }

  /** Nobody comes through until `mend`. */
  down(): void {
    this.isDown = true;
    this.cut();
  }

  mend(): void {
    this.isDown = false;
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
    if (this.isDown) {
      client.destroy();
      return;
    }
    const server = connect(this.port, '127.0.0.1');
    for (const [from, to, direction] of [
      [client, server, 'request'],
      [server, client, 'answer'],
    ] as const) {
      this.sockets.add(from);
      from.on('data', (data) => {
        if (!this.mutes.includes(direction)) to.write(data);
      });
      from.on('error', () => undefined);
      from.on('close', () => {
        this.sockets.delete(from);
        to.destroy();
      });
    }
  }
}
