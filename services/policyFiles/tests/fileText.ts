/** Bodies of methods, in JavaScript; the others are those of a policy that asks the last model and counts feedback. */
export interface Bodies {
  readonly init?: string;
  readonly restore?: string;
  readonly select?: string;
  readonly observe?: string;
  readonly shares?: string;
  /** Further methods, as they stand. */
  readonly more?: string;
}

/**
 * A policy file.
 * @param isImporting it has PolicyError
 */
export function fileText(
  {
    init = `return { schema: 1, policy: 'own', arms, learned: 0 };`,
    restore = 'return state;',
    select = '',
    observe = '',
    shares = '',
    more = '',
  }: Bodies,
  isImporting = false,
): string {
  return `${isImporting ? `import { PolicyError } from 'windjammer/policy';\n` : ''}export default {
  name: 'own',
  parameters: [],
  init(arms, parameters) { ${init} },
  restore(state) { ${restore} },
  reconcile(state, arms) { return { ...state, arms }; },
  select(state, draw, query) { ${select}
    return { arms: state.arms.slice(-1), propensity: 1 }; },
  observe(state, selection, predictions, feedback, query) { ${observe}
    return { ...state, learned: state.learned + 1 }; },
  shares(state) { ${shares} return new Map(state.arms.map((arm, at) => [arm, at === state.arms.length - 1 ? 1 : 0])); },
  ${more}
};`;
}
