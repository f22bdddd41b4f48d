/**
 * What an answer must be for callers to read it: enough to tell a Windjammer server from something else at its address, and
 * not all that its interface promises.
 */
export type AnswerShape = (value: unknown) => boolean;

/** Of a change: a page that a proxy answers is none. */
export const isDone: AnswerShape = (value) => typeof value === 'string' && value.startsWith('Success!');

export const isTextList: AnswerShape = (value) =>
  Array.isArray(value) && value.every((one) => typeof one === 'string');

/** An object with these fields. */
export function isRecord(...fields: readonly string[]): AnswerShape {
  return (value) =>
    typeof value === 'object' &&
    value !== null &&
    !Array.isArray(value) &&
    fields.every((field) => Object.hasOwn(value, field));
}

/** An array of such objects. */
export function isRecordList(...fields: readonly string[]): AnswerShape {
  const isOne = isRecord(...fields);
  return (value) => Array.isArray(value) && value.every(isOne);
}

/** A page of events. One that says that there are more, and has none, would be asked for without end. */
export const isEvents: AnswerShape = (value) => {
  if (!isRecord('events', 'more', 'last')(value)) return false;
  const { events, more, last } = value as Readonly<Record<'events' | 'more' | 'last', unknown>>;
  const isList = isRecordList('seq', 'time', 'by', 'verb', 'about')(events);
  return isList && Number.isSafeInteger(last) && (more !== true || (events as readonly unknown[]).length > 0);
};
