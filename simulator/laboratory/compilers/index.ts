export { compilerPrograms, gangInputs, gangResults } from './programs.js';
