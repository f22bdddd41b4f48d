import type { BatchItem, ItemResult, PredictFrame, ResultFrame } from '../../protocol/index.js';
import type { NodeTimes, PredictMessage, ResultMessage } from './threadMessages.js';

/** Copies the items' bytes: the frontend keeps its own until the batch is answered. The message's buffer is to be transferred. */
export function packPredict(line: number, frame: PredictFrame): PredictMessage {
  const { batchId, items, traceparent, launchClass } = frame;
  const ends: number[] = [];
  let end = 0;
  for (const item of items) ends.push((end += item.bytes.length));
  const bytes = new Uint8Array(end);
  items.forEach((item, index) => bytes.set(item.bytes, ends[index] - item.bytes.length));
  return {
    kind: 'predict',
    line,
    batchId,
    ids: items.map(({ id }) => id),
    budgetsNs: items.map(({ budgetNs }) => budgetNs),
    ends,
    bytes,
    ...(traceparent === undefined ? {} : { traceparent }),
    ...(launchClass === undefined ? {} : { launchClass }),
  };
}

export function unpackPredict(message: PredictMessage): PredictFrame {
  const { batchId, ids, budgetsNs, ends, bytes, traceparent, launchClass } = message;
  const items = ids.map((id, index): BatchItem => {
    const start = index === 0 ? 0 : ends[index - 1];
    return { id, bytes: bytes.subarray(start, ends[index]), budgetNs: budgetsNs[index] };
  });
  return {
    kind: 'predict',
    batchId,
    items,
    ...(traceparent === undefined ? {} : { traceparent }),
    ...(launchClass === undefined ? {} : { launchClass }),
  };
}

export function packResult(line: number, frame: ResultFrame, times: NodeTimes): ResultMessage {
  const { batchId, serviceNs, parts, results } = frame;
  const scoreEnds: number[] = [];
  let end = 0;
  for (const result of results) {
    scoreEnds.push((end += result.ok && result.scores !== undefined ? result.scores.length : 0));
  }
  const scores = new Float32Array(end);
  results.forEach((result, index) => {
    if (result.ok && result.scores !== undefined) {
      scores.set(result.scores, scoreEnds[index] - result.scores.length);
    }
  });
  return {
    kind: 'result',
    line,
    batchId,
    serviceNs,
    ...(parts === undefined ? {} : { parts }),
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
  const { batchId, serviceNs, parts, ids, codes, texts, scoreEnds, scores } = message;
  const results = ids.map((id, index): ItemResult => {
    const code = codes[index];
    if (code !== '') return { id, ok: false, code: code as FailureCode, message: texts[index] };
    const start = index === 0 ? 0 : scoreEnds[index - 1];
    const output = texts[index];
    if (start === scoreEnds[index]) return { id, ok: true, output };
    // A copy: a view would keep the whole batch's scores for as long as one answer is cached.
    return { id, ok: true, output, scores: scores.slice(start, scoreEnds[index]) };
  });
  return { kind: 'result', batchId, results, serviceNs, ...(parts === undefined ? {} : { parts }) };
}
