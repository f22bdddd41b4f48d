export * from './forms/index.js';
export * from './model/index.js';
