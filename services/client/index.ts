export * from './publicClient.js';
export { BINARY_MESSAGES, JSON_MESSAGES, readAnswer } from './clientMessages.js';
export { HttpCalls } from './httpCalls.js';
