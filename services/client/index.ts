export * from './publicClient.js';
export { BINARY_MESSAGES, JSON_MESSAGES, readAnswer } from './clientMessages.js';
export { HttpCalls } from './httpCalls.js';
export { keyHeaders, type ConnectionOptions } from './connectionOptions.js';
export { jsonInput, readFeedbackResult, readPrediction, readRefusal } from './jsonBodies.js';
