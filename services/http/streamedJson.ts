import type { ServiceError } from '../errors/index.js';
import { JsonStream, readJson, SMALL_BYTES, type JsonSource } from '../json/index.js';
import { overBudget, stalled, type BudgetHolder } from './bodyBudget.js';
import type { BodySource, ChunkReceiver } from './bodySource.js';
import type { BodyErrorReceiver, BodyLimits, OpenBody } from './openBody.js';
import { ProgressMark } from './progressMark.js';

/** What is read of a body of JSON. */
export interface JsonBodyForm {
  /** Of the object at the top; undefined: all. */
  readonly fields?: ReadonlySet<string> | undefined;
  /** What no bytes stand for; undefined: they are refused. */
  readonly emptyBody?: object | undefined;
  /** Fields whose value is an integer that no double holds have an `ExactInteger`. */
  readonly keepsIntegers?: boolean;
}

export interface JsonBodyReceiver extends BodyErrorReceiver {
  /** The body parsed as JSON. Called once, or `onBodyError` is. */
  onBody(value: unknown): void;
}

/**
 * Parses a body of JSON: a small one once it is whole, a large one as it comes, in slices between which others are
 * served. What is refused is refused as soon as it shows, and only what is built takes memory.
 */
export class StreamedJson implements ChunkReceiver, JsonSource, BudgetHolder {
  private readonly source: BodySource;
  private readonly progress = new ProgressMark();
  /** What has come and is not parsed. */
  private staged: Buffer | undefined;
  private stagedBytes = 0;
  private stream: JsonStream | undefined;
  private isParsing = false;
  /** What is parsed takes about so many bytes. */
  private built = 0;
  private hasEnded = false;
  private isGone = false;

  constructor(
    body: OpenBody,
    private readonly limits: BodyLimits,
    private readonly receiver: JsonBodyReceiver,
    private readonly form: JsonBodyForm,
  ) {
    this.source = body.start(this);
  }

  get remaining(): number {
    return this.source.remaining;
  }

  get heardMs(): number {
    return this.hasEnded || this.isParsing ? Infinity : this.progress.heardMs;
  }

  onChunk(chunk: Buffer): void {
    this.progress.on(chunk.length);
    const { staged } = this;
    if (this.isParsing) this.stage(chunk);
    else if (staged === undefined && chunk.length > SMALL_BYTES) this.parse(chunk, false);
    else if (staged === undefined && this.stream === undefined && this.stagedBytes === 0) {
      // It may be all, where it is encoded or its length is not told.
      this.staged = chunk;
      this.stagedBytes = chunk.length;
    } else this.stage(chunk);
  }

  onEnd(): void {
    this.hasEnded = true;
    if (this.isParsing) return;
    const { stream } = this;
    const rest = this.takeStaged();
    if (stream === undefined && rest.length === 0 && this.form.emptyBody !== undefined)
      this.onJson(this.form.emptyBody);
    else if (stream === undefined) {
      const receiver = {
        onJson: (value: unknown) => this.onJson(value),
        onJsonError: (error: ServiceError) => this.onJsonError(error),
      };
      readJson(rest, receiver, this.form.fields, this.form.keepsIntegers);
    } else this.parse(rest, true);
  }

  onSourceError(error: ServiceError): void {
    this.leave();
    this.receiver.onBodyError(error);
  }

  onGone(): void {
    this.leave();
  }

  onEvicted(): void {
    this.refuse(stalled());
  }

  onParsed(built: number): void {
    this.isParsing = false;
    this.built = built;
    if (!this.limits.budget.hold(this, built + Math.max(STAGE_BYTES, this.staged?.length ?? 0))) {
      this.refuse(overBudget());
      return;
    }
    if (this.hasEnded) this.parse(this.takeStaged(), true);
    else {
      this.source.resume();
      if (this.stagedBytes >= STAGE_BYTES) this.parse(this.takeStaged(), false);
    }
  }

  private stage(chunk: Buffer): void {
    const { staged, stagedBytes } = this;
    const bytes = stagedBytes + chunk.length;
    let room = staged;
    if (room === undefined || room.length < Math.max(STAGE_BYTES, bytes)) {
      room = Buffer.allocUnsafeSlow(Math.max(STAGE_BYTES, 2 * bytes));
      staged?.copy(room, 0, 0, stagedBytes);
      this.staged = room;
      if (!this.limits.budget.hold(this, this.built + room.length)) {
        this.refuse(overBudget());
        return;
      }
    }
    chunk.copy(room, stagedBytes);
    this.stagedBytes = bytes;
    // While the piece before is parsed, what was read already still comes.
    if (bytes >= STAGE_BYTES && !this.isParsing) this.parse(this.takeStaged(), false);
  }

  private takeStaged(): Buffer {
    const { staged, stagedBytes } = this;
    this.staged = undefined;
    this.stagedBytes = 0;
    return staged?.subarray(0, stagedBytes) ?? NOTHING;
  }

  private parse(piece: Buffer, isLast: boolean): void {
    this.stream ??= new JsonStream(
      this,
      {
        onJson: (value) => this.onJson(value),
        onJsonError: (error) => this.onJsonError(error),
        isGone: () => this.isGone,
      },
      this.form.fields,
      this.form.keepsIntegers === true,
    );
    this.isParsing = true;
    if (!isLast) this.source.pause();
    this.stream.give(piece, isLast);
  }

  private onJson(value: unknown): void {
    this.leave();
    this.receiver.onBody(value);
  }

  private onJsonError(error: ServiceError): void {
    if (this.hasEnded) {
      this.leave();
      this.receiver.onBodyError(error);
    } else this.refuse(error);
  }

  private refuse(error: ServiceError): void {
    this.source.refuse();
    this.leave();
    this.receiver.onBodyError(error);
  }

  private leave(): void {
    this.isGone = true;
    this.staged = undefined;
    this.limits.budget.release(this);
  }
}

const NOTHING = Buffer.alloc(0);

/** Smaller chunks are put together to this before they are parsed. */
const STAGE_BYTES = 2 * SMALL_BYTES;
