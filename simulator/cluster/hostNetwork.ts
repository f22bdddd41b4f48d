import { Agenda, type AgendaTarget } from '../gpu/index.js';
import type { Clock } from '../time/index.js';
import { FlowNetwork, emptyFlows } from './flowNetwork.js';

export interface HostNetworkOptions {
  readonly clock: Clock;
  /** Its name on the clock. */
  readonly name: string;
  readonly hosts: readonly string[];
  /** Of each host's network card, in each direction. */
  readonly bitsPerSecond: number;
  /** From the last byte's way out of one host to the receiver's hands in another: switch, cable, kernels. */
  readonly latencyNs: number;
}

/** Told of each message when all of it has come. */
export interface LineReceiver<M> {
  onMessage(message: M): void;
}

/** What a frame of Ethernet carries of a TCP stream, and what the wire takes beside: preamble, headers, checksum, gap. */
const SEGMENT_BYTES = 1448;
const SEGMENT_OVERHEAD_BYTES = 90;

/** Bytes that a message takes on the wire. */
export function wireBytes(bytes: number): number {
  return bytes + Math.ceil(bytes / SEGMENT_BYTES) * SEGMENT_OVERHEAD_BYTES;
}

/**
 * Hosts on one switch that never blocks, each behind a card whose two directions run at full rate together. What shares
 * a card shares its rate evenly, by connection.
 */
export class HostNetwork implements AgendaTarget {
  private readonly agenda: Agenda;
  private readonly flows: FlowNetwork;
  private readonly bytesPerNs: number;
  /** Lines that send, by the number that their events carry. */
  private readonly lines: HostLine<unknown>[] = [];
  /** Bytes of the messages that have left altogether, by link. */
  private readonly moved = new Map<string, number>();

  constructor(private readonly options: HostNetworkOptions) {
    const { clock, name, hosts, bitsPerSecond, latencyNs } = options;
    if (!(bitsPerSecond > 0)) throw new RangeError(`bitsPerSecond must be above 0, not ${bitsPerSecond}`);
    if (!(latencyNs >= 0)) throw new RangeError(`latencyNs must be at least 0, not ${latencyNs}`);
    this.bytesPerNs = bitsPerSecond / 8e9;
    this.agenda = new Agenda(clock, name);
    const capacities = new Map<string, number>();
    for (const host of hosts) {
      capacities.set(outOf(host), this.bytesPerNs);
      capacities.set(into(host), this.bytesPerNs);
    }
    this.flows = new FlowNetwork(this.agenda, 'links', capacities, emptyFlows(clock.nowNs()));
    this.agenda.attach('lines', this);
  }

  /** One direction of a connection: messages arrive whole, in the order in which they were sent. */
  connect<M>(from: string, to: string, receiver: LineReceiver<M>): HostLine<M> {
    for (const host of [from, to]) {
      if (!this.options.hosts.includes(host)) throw new RangeError(`the network has no host '${host}'`);
    }
    const line = new HostLine<M>(from, to, receiver, (started) => this.startNext(started));
    this.lines.push(line as HostLine<unknown>);
    return line;
  }

  /** Bytes that have gone out of a host so far, on the wire. */
  sentBytes(host: string): number {
    return this.bytesOf(outOf(host));
  }

  /** Bytes that have come into a host so far, on the wire. */
  receivedBytes(host: string): number {
    return this.bytesOf(into(host));
  }

  onDue(kind: string, payload: number, nowNs: number): void {
    const line = this.lines[payload];
    if (kind === 'arrived') {
      line.arrive();
      return;
    }
    const bytes = line.left();
    for (const link of [outOf(line.from), into(line.to)]) {
      this.moved.set(link, (this.moved.get(link) ?? 0) + bytes);
    }
    this.agenda.schedule('lines', nowNs + this.options.latencyNs, 'arrived', payload);
    this.startNext(line);
  }

  private startNext<M>(line: HostLine<M>): void {
    const bytes = line.nextBytes();
    if (bytes === undefined) return;
    this.flows.start({
      amount: bytes,
      uses: [
        { link: outOf(line.from), weight: 1 },
        { link: into(line.to), weight: 1 },
      ],
      mostPerNs: this.bytesPerNs,
      target: 'lines',
      kind: 'left',
      payload: this.lines.indexOf(line as HostLine<unknown>),
    });
  }

  private bytesOf(link: string): number {
    const { flows, asOfNs } = this.flows.state;
    const sinceNs = this.agenda.nowNs() - asOfNs;
    let bytes = this.moved.get(link) ?? 0;
    for (const { uses, amount, remaining, ratePerNs } of flows) {
      if (uses.some((use) => use.link === link)) bytes += amount - remaining + ratePerNs * sinceNs;
    }
    return bytes;
  }
}

interface SentMessage<M> {
  readonly message: M;
  readonly bytes: number;
}

/** As a TCP connection: one message leaves after the other, and the next does not wait for the arrival of the one before. */
export class HostLine<M> {
  private readonly waiting: SentMessage<M>[] = [];
  /** Left and not arrived. */
  private readonly underWay: SentMessage<M>[] = [];
  private isSending = false;

  constructor(
    readonly from: string,
    readonly to: string,
    private readonly receiver: LineReceiver<M>,
    private readonly start: (line: HostLine<M>) => void,
  ) {}

  /** @param bytes of the message, without what the wire adds. */
  send(message: M, bytes: number): void {
    this.waiting.push({ message, bytes: wireBytes(bytes) });
    if (!this.isSending) this.start(this);
  }

  /** The network begins with the next message; undefined when there is none. */
  nextBytes(): number | undefined {
    this.isSending = this.waiting.length > 0;
    return this.waiting.at(0)?.bytes;
  }

  /** The message that was sending is out. */
  left(): number {
    const sent = this.waiting.shift();
    if (sent === undefined) return 0;
    this.underWay.push(sent);
    return sent.bytes;
  }

  arrive(): void {
    const sent = this.underWay.shift();
    if (sent !== undefined) this.receiver.onMessage(sent.message);
  }
}

function outOf(host: string): string {
  return `${host} out`;
}

function into(host: string): string {
  return `${host} in`;
}
