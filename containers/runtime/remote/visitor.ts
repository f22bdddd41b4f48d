import { randomBytes } from 'node:crypto';
import type { Socket } from 'node:net';
import { ProtocolError } from '../../protocol/index.js';
import { isSameProof, proofOf, type Handshake } from './clusterKey.js';
import { Link, type LinkListener } from './link.js';
import { LinkError } from './linkError.js';
import { readFromFrontend, type FromNode, type Hello, type VersionRange } from './messages.js';
import type { NodeSession } from './nodeSession.js';
import { commonVersion } from './versions.js';

/** Who a frontend is, once it has been admitted. */
export interface Admission {
  readonly frontend: string;
  readonly incarnation: number;
  readonly version: number;
}

export interface VisitorOptions {
  readonly node: string;
  readonly gpus: readonly string[];
  readonly key: Buffer | undefined;
  readonly versions: VersionRange;
  readonly handshakeMs: number;
  readonly silenceMs: number;
  /** @throws LinkError with why it is not admitted */
  readonly admit: (visitor: Visitor, admission: Admission) => NodeSession;
  readonly onGone: (visitor: Visitor, error: LinkError) => void;
}

const SILENCE_TICKS = 10;

/** A connection to a node: somebody who has to say who it is, and then a frontend's session. */
export class Visitor implements LinkListener {
  readonly link: Link;
  session: NodeSession | undefined;
  private readonly deadline: NodeJS.Timeout;
  private said: Handshake | undefined;

  constructor(
    private readonly socket: Socket,
    private readonly options: VisitorOptions,
  ) {
    const peer = `the frontend at ${socket.remoteAddress ?? ''}:${socket.remotePort ?? ''}`;
    this.link = new Link(socket, peer, this);
    const { handshakeMs } = options;
    this.deadline = setTimeout(() => {
      const message = `${peer} did not say who it is for ${handshakeMs / 1000} s`;
      this.link.end(new LinkError('handshake_timeout', message));
    }, handshakeMs);
    this.deadline.unref();
  }

  /** One that only looks whether the port is open, as health checks do, sends nothing. */
  get hasSpoken(): boolean {
    return this.socket.bytesRead > 0;
  }

  onMessage(message: unknown): void {
    const found = readFromFrontend(message);
    if (this.session !== undefined) this.session.onMessage(found);
    else if (found.kind === 'hello' && this.said === undefined) this.tryTo(() => this.onHello(found));
    else if (found.kind === 'proof' && this.said !== undefined) {
      const { said } = this;
      this.tryTo(() => this.onProof(said, found.proof));
    } else throw new ProtocolError(`'${found.kind}' before it said who it is`);
  }

  onData(line: number, bytes: Uint8Array): void {
    if (this.session === undefined) throw new ProtocolError('a frame before it said who it is');
    this.session.onData(line, bytes);
  }

  onEnd(error: LinkError): void {
    clearTimeout(this.deadline);
    this.session?.end();
    this.options.onGone(this, error);
  }

  private onHello(hello: Hello): void {
    const { node, key, versions } = this.options;
    if (hello.node !== undefined && hello.node !== node) {
      throw new LinkError('node_name', `this node is '${node}', and '${hello.node}' was dialled`);
    }
    const version = commonVersion(versions, hello.versions, 'the frontend');
    const { frontend, incarnation, nonce: frontendNonce } = hello;
    const nodeNonce = randomBytes(32).toString('hex');
    this.said = { frontend, incarnation, node, version, frontendNonce, nodeNonce };
    this.send({ kind: 'challenge', version, node, nonce: nodeNonce, asksKey: key !== undefined });
    if (key === undefined) this.welcome(this.said);
  }

  private onProof(said: Handshake, proof: string): void {
    const { key } = this.options;
    if (key === undefined) throw new ProtocolError('a proof that nobody asked for');
    if (!isSameProof(proof, proofOf(key, 'frontend', said, this.socket))) {
      throw new LinkError(
        'wrong_cluster_key',
        `the frontend has another cluster key than node '${this.options.node}': give both the same --cluster-key-file`,
      );
    }
    this.welcome(said, proofOf(key, 'node', said, this.socket));
  }

  private welcome({ frontend, incarnation, version }: Handshake, proof?: string): void {
    this.session = this.options.admit(this, { frontend, incarnation, version });
    clearTimeout(this.deadline);
    this.link.trust();
    this.link.watchSilence(this.options.silenceMs / SILENCE_TICKS, SILENCE_TICKS);
    this.send({ kind: 'welcome', gpus: this.options.gpus, ...(proof === undefined ? {} : { proof }) });
  }

  private tryTo(step: () => void): void {
    try {
      step();
    } catch (error) {
      if (!(error instanceof LinkError)) throw error;
      const { code, message } = error;
      this.link.end(error, { kind: 'refused', code, message } satisfies FromNode);
    }
  }

  private send(message: FromNode): void {
    this.link.send(message);
  }
}
