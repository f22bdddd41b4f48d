import { lossOf, PolicyError } from 'windjammer/policy';

/** Softmax (Boltzmann) exploration: a model is asked with a probability that grows with the reward that it has brought so far. */

const SCHEMA = 1;
const NAME = 'softmax';

/** @param {unknown} value */
function isNumberList(value) {
  return (
    Array.isArray(value) && value.every((one) => typeof one === 'number' && Number.isFinite(one) && one >= 0)
  );
}

/** The probability of each arm, in their order. @param {State} state */
function probabilities({ judged, rewarded, temperature }) {
  // One that was never judged counts as half good.
  const means = judged.map((count, at) => (rewarded[at] + 0.5) / (count + 1));
  const best = Math.max(...means);
  const weights = means.map((mean) => Math.exp((mean - best) / temperature));
  const total = weights.reduce((sum, one) => sum + one, 0);
  return weights.map((weight) => weight / total);
}

/**
 * @typedef {{ schema: 1, policy: 'softmax', arms: readonly string[], judged: readonly number[], rewarded: readonly number[],
 *   temperature: number }} State
 * @type {import('windjammer/policy').UserPolicy<State>}
 */
const softmax = {
  name: NAME,
  parameters: ['temperature'],

  init(arms, parameters) {
    const given = parameters ?? {};
    if (typeof given !== 'object' || Array.isArray(given))
      throw new PolicyError('parameters', `policy '${NAME}' takes an object of parameters or null`);
    for (const name of Object.keys(given))
      if (name !== 'temperature')
        throw new PolicyError(
          `parameters.${name}`,
          `policy '${NAME}' has no parameter '${name}': it takes temperature`,
        );
    const { temperature = 0.1 } = /** @type {{ temperature?: unknown }} */ (given);
    if (typeof temperature !== 'number' || !(temperature >= 0.001 && temperature <= 10))
      throw new PolicyError('parameters.temperature', 'temperature must be a number from 0.001 to 10');
    const zeros = arms.map(() => 0);
    return { schema: SCHEMA, policy: NAME, arms, judged: zeros, rewarded: zeros, temperature };
  },

  restore(value) {
    const { schema, policy, arms, judged, rewarded, temperature } = /** @type {any} */ (value ?? {});
    const isState =
      schema === SCHEMA &&
      policy === NAME &&
      Array.isArray(arms) &&
      arms.every((arm) => typeof arm === 'string') &&
      isNumberList(judged) &&
      isNumberList(rewarded) &&
      judged.length === arms.length &&
      rewarded.length === arms.length &&
      typeof temperature === 'number' &&
      temperature >= 0.001;
    if (!isState) throw new PolicyError('state', `this is no state of policy '${NAME}', schema ${SCHEMA}`);
    return /** @type {State} */ (value);
  },

  reconcile(state, arms) {
    /** @param {readonly number[]} column */
    const carried = (column) =>
      arms.map((arm) => (state.arms.includes(arm) ? column[state.arms.indexOf(arm)] : 0));
    return { ...state, arms, judged: carried(state.judged), rewarded: carried(state.rewarded) };
  },

  select(state, draw) {
    if (state.arms.length === 0) return { arms: [], propensity: 1 };
    const shares = probabilities(state);
    let left = draw();
    let at = 0;
    while (at < shares.length - 1 && left >= shares[at]) left -= shares[at++];
    return { arms: [state.arms[at]], propensity: shares[at] };
  },

  observe(state, { arms: [served] }, predictions, feedback) {
    const at = state.arms.indexOf(served);
    if (at < 0) return state;
    const reward = 1 - lossOf(served, predictions, feedback);
    return {
      ...state,
      judged: state.judged.map((count, arm) => (arm === at ? count + 1 : count)),
      rewarded: state.rewarded.map((sum, arm) => (arm === at ? sum + reward : sum)),
    };
  },

  shares(state) {
    const shares = probabilities(state);
    return new Map(state.arms.map((arm, at) => [arm, shares[at]]));
  },
};

export default softmax;

/** Losses, by name: of an answer and the true output, both texts, a number from 0 (right) to 1. */
export const losses = {
  /** Hours on a clock face: 23 and 1 are two apart, and twelve are as wrong as can be. */
  clock(output, label) {
    const apart = Math.abs(Number(output) - Number(label)) % 24;
    return Number.isFinite(apart) ? Math.min(apart, 24 - apart) / 12 : 1;
  },
};
