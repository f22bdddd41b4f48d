import { ServiceError } from '../../errors/index.js';
import { readJson, type JsonReceiver } from '../../json/index.js';
import type { MessageExchange } from './messageExchange.js';
import { BINARY_FORMAT, JSON_FORMAT } from './messageFormat.js';
import { MESSAGE_FIELDS } from './messageReader.js';

/** What a message that brings one has. */
const LABEL = '"label"';

/** Whose messages they are. */
export interface ParserHost {
  /** One of so many bytes is parsed in turns, between which others are served. */
  onLongMessage(bytes: number): void;
  /** A message of JSON is done with. */
  onParsed(): void;
}

/** Parses the messages of one connection, one after the other, for its exchange. */
export class MessageParser implements JsonReceiver {
  /** A message is being parsed: those behind it wait. */
  isBusy = false;
  /** Of the JSON that is being parsed. */
  private jsonBytes = 0;
  private isEnded = false;

  constructor(
    private readonly exchange: MessageExchange,
    private readonly host: ParserHost,
  ) {}

  parse(data: Buffer, isBinary: boolean): void {
    if (isBinary) {
      this.exchange.take(BINARY_FORMAT, data.length, data);
      return;
    }
    this.isBusy = true;
    this.jsonBytes = data.length;
    // Labels are kept as they came.
    readJson(data, this, MESSAGE_FIELDS, data.includes(LABEL));
    if (this.isBusy && !this.isEnded) this.host.onLongMessage(data.length);
  }

  onJson(value: unknown): void {
    this.exchange.take(JSON_FORMAT, this.jsonBytes, value);
    this.goOn();
  }

  onJsonError({ code, message, cause }: ServiceError): void {
    const text = message.replace('the body', 'the message');
    const error = new ServiceError(code, text, undefined, { cause });
    this.exchange.refuse(JSON_FORMAT, undefined, undefined, this.exchange.told(error));
    this.goOn();
  }

  isGone(): boolean {
    return this.isEnded;
  }

  /** Nobody wants to know any more. */
  end(): void {
    this.isEnded = true;
  }

  private goOn(): void {
    this.isBusy = false;
    this.host.onParsed();
  }
}
