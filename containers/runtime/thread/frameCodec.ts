import type {
  BatchItem,
  FrontendFrame,
  ItemResult,
  PredictFrame,
  ResultFrame,
} from '../../protocol/index.js';
import type { CancelMessage, NodeTimes, PredictMessage, ResultMessage } from './threadMessages.js';

/** In place of the end of an item's scores: it has none. */
const NO_SCORES = -1;

/** Copies the items' bytes: the frontend keeps its own until the batch is answered. The message's buffer is to be transferred. */
export function packPredict(line: number, frame: PredictFrame): PredictMessage {
  const { kind, batchId, items, ...rest } = frame;
  const ends: number[] = [];
  let end = 0;
  for (const item of items) ends.push((end += item.bytes.length));
  const bytes = new Uint8Array(end);
  items.forEach((item, index) => bytes.set(item.bytes, ends[index] - item.bytes.length));
  return {
    kind,
    line,
    batchId,
    ids: items.map(({ id }) => id),
    budgetsNs: items.map(({ budgetNs }) => budgetNs),
    ends,
    bytes,
    rest,
  };
}

/** Back in the worker. */
export function unpackSent(message: PredictMessage | CancelMessage): FrontendFrame {
  return message.kind === 'predict' ? unpackPredict(message) : message.frame;
}

export function unpackPredict(message: PredictMessage): PredictFrame {
  const { kind, batchId, ids, budgetsNs, ends, bytes, rest } = message;
  const items = ids.map((id, index): BatchItem => {
    const start = index === 0 ? 0 : ends[index - 1];
    return { id, bytes: bytes.subarray(start, ends[index]), budgetNs: budgetsNs[index] };
  });
  return { kind, batchId, items, ...rest };
}

export function packResult(line: number, frame: ResultFrame, times: NodeTimes): ResultMessage {
  const { kind, batchId, results, ...rest } = frame;
  const scoreEnds: number[] = [];
  let end = 0;
  for (const result of results) {
    const scores = result.ok ? result.scores : undefined;
    scoreEnds.push(scores === undefined ? NO_SCORES : (end += scores.length));
  }
  const scores = new Float32Array(end);
  results.forEach((result, index) => {
    if (result.ok && result.scores !== undefined) {
      scores.set(result.scores, scoreEnds[index] - result.scores.length);
    }
  });
  return {
    kind,
    line,
    batchId,
    rest,
    ids: results.map(({ id }) => id),
    codes: results.map((result) => (result.ok ? '' : result.code)),
    texts: results.map((result) => (result.ok ? result.output : result.message)),
    scoreEnds,
    scores,
    times,
  };
}

type FailureCode = Exclude<ItemResult, { ok: true }>['code'];

export function unpackResult(message: ResultMessage): ResultFrame {
  const { kind, batchId, rest, ids, codes, texts, scoreEnds, scores } = message;
  let start = 0;
  const results = ids.map((id, index): ItemResult => {
    const code = codes[index];
    if (code !== '') return { id, ok: false, code: code as FailureCode, message: texts[index] };
    const output = texts[index];
    const end = scoreEnds[index];
    if (end === NO_SCORES) return { id, ok: true, output };
    // A copy: a view would keep the whole batch's scores for as long as one answer is cached.
    const own = scores.slice(start, end);
    start = end;
    return { id, ok: true, output, scores: own };
  });
  return { kind, batchId, results, ...rest };
}
