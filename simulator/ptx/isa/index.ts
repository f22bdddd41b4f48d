export type { InstructionForm, Since } from './form.js';
export type {
  ControlEffect,
  CostFamily,
  CounterFamily,
  EffectKind,
  Effects,
  ExpansionFamily,
  Formless,
  EarlySpelling,
  HeldBy,
  MemoryEffect,
  NanBits,
  Pointers,
  Row,
  Syntax,
  SyntaxRule,
  Taint,
  TouchedMemory,
  Watch,
} from './row.js';
export { isa, isaRows } from './table.js';
export type { MatrixExchange, Opcode, OpcodeOf, ValueExchange } from './table.js';
export * from './questions.js';
