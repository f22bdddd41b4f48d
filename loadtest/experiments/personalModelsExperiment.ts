import { digitAt, PIXELS, type DigitSet } from '../../containers/models/index.js';
import {
  ImageDrafter,
  imageProbabilities,
  trainImageNetwork,
  type ImagePlan,
} from '../../containers/models/testing/index.js';
import { KeyedDraw } from '../../selection/index.js';
import { JudgedQueries, type PolicyChoice } from './judgedQueries.js';
import type { RecordedModel } from './recordedModels.js';
import { styleWithin, written, type WritingStyle } from './writingStyles.js';

/** Units of each model's hidden layer. */
const HIDDEN = 32;

export const OBLIVIOUS = 'oblivious';

export function modelOfGroup(group: number): string {
  return `group-${group + 1}`;
}

/** A model that labels pixels. */
export interface StyleModel {
  readonly name: string;
  readonly label: (pixels: Float32Array) => number;
}

/**
 * A perceptron for each group, trained on its own share of the digits, each written by somebody else of the group; and one that is
 * trained on all of them, whoever wrote them.
 */
export function trainStyleModels(
  training: DigitSet,
  styles: readonly WritingStyle[],
  plan: ImagePlan,
  seed: number,
): readonly StyleModel[] {
  const draw = new KeyedDraw(seed);
  // Digits of a class stand together.
  const order = Array.from({ length: training.count }, (_, at) => ({ at, key: draw.of(`digit ${at}`)() }))
    .sort((one, other) => one.key - other.key)
    .map(({ at }) => at);
  const sets = styles.map((style, group) =>
    gathered(
      order
        .filter((_, place) => place % styles.length === group)
        .map((at) => {
          const own = draw.of(`writer of ${at}`);
          return {
            pixels: written(digitAt(training, at), styleWithin(style, own), own),
            label: training.labels[at],
          };
        }),
    ),
  );
  const all = gathered(sets.flatMap(examplesOf));
  const net = new ImageDrafter();
  net.dense(net.dense(net.image, HIDDEN), 10, false);
  const design = { image: { rows: 28, columns: 28, channels: 1 }, layers: net.layers };
  const train = (name: string, set: DigitSet): StyleModel => {
    const scores = imageProbabilities(trainImageNetwork(set, design, plan));
    return {
      name,
      label: (pixels) => {
        const values = scores(pixels);
        return values.indexOf(Math.max(...values));
      },
    };
  };
  return [train(OBLIVIOUS, all), ...sets.map((set, group) => train(modelOfGroup(group), set))];
}

interface Example {
  readonly pixels: Float32Array;
  readonly label: number;
}

function gathered(examples: readonly Example[]): DigitSet {
  const pixels = new Float32Array(examples.length * PIXELS);
  examples.forEach((example, at) => pixels.set(example.pixels, at * PIXELS));
  return { count: examples.length, pixels, labels: Uint8Array.from(examples.map(({ label }) => label)) };
}

function examplesOf(set: DigitSet): Example[] {
  return Array.from({ length: set.count }, (_, at) => ({ pixels: digitAt(set, at), label: set.labels[at] }));
}

/** What users write, one after the other: `digitsEach` of each, and what every model says of them. */
export interface UsersDigits {
  readonly users: number;
  readonly digitsEach: number;
  /** Of each user. */
  readonly groups: readonly number[];
  readonly truth: Uint8Array;
  readonly models: readonly RecordedModel[];
}

/** Users of every group, each with a style of their own, who write digits that no model was trained with. */
export function usersOf(
  models: readonly StyleModel[],
  styles: readonly WritingStyle[],
  heldOut: DigitSet,
  usersEach: number,
  digitsEach: number,
  seed: number,
): UsersDigits {
  const draw = new KeyedDraw(seed);
  const users = usersEach * styles.length;
  const groups = Array.from({ length: users }, (_, user) => user % styles.length);
  const truth = new Uint8Array(users * digitsEach);
  const labels = models.map(() => new Uint8Array(users * digitsEach));
  for (let user = 0; user < users; user++) {
    const next = draw.of(`user ${user}`);
    const style = styleWithin(styles[groups[user]], next);
    for (let at = user * digitsEach; at < (user + 1) * digitsEach; at++) {
      const digit = Math.floor(next() * heldOut.count);
      const pixels = written(digitAt(heldOut, digit), style, next);
      truth[at] = heldOut.labels[digit];
      models.forEach(({ label }, model) => (labels[model][at] = label(pixels)));
    }
  }
  const recorded = models.map(({ name }, model) => ({ name, labels: labels[model] }));
  return { users, digitsEach, groups, truth, models: recorded };
}

export interface PersonalChoice extends PolicyChoice {
  /** A user's own state, or one of all. */
  readonly isPersonal: boolean;
}

/**
 * Every user's digits through the prediction engine, in turns, in virtual time, each with feedback before the next.
 * @returns share of wrong answers of all users at each user's first digit, second, and so on
 */
export function serveUsers(users: UsersDigits, choice: PersonalChoice, seed: number): readonly number[] {
  const queries = new JudgedQueries(users.models, choice, seed);
  const wrong = new Array<number>(users.digitsEach).fill(0);
  for (let turn = 0; turn < users.digitsEach; turn++) {
    for (let user = 0; user < users.users; user++) {
      const digit = user * users.digitsEach + turn;
      const context = choice.isPersonal ? `user-${user}` : '';
      if (queries.ask(digit, digit, `${users.truth[digit]}`, context)) wrong[turn] += 1;
    }
  }
  queries.close();
  return wrong.map((count) => count / users.users);
}

/** The same for every user asking the model of their group, or one that all ask: nothing is learned. */
export function askFixed(users: UsersDigits, modelOf: (group: number) => string): readonly number[] {
  const byName = new Map(users.models.map(({ name, labels }) => [name, labels]));
  return Array.from({ length: users.digitsEach }, (_, turn) => {
    let wrong = 0;
    for (let user = 0; user < users.users; user++) {
      const digit = user * users.digitsEach + turn;
      if (byName.get(modelOf(users.groups[user]))?.[digit] !== users.truth[digit]) wrong += 1;
    }
    return wrong / users.users;
  });
}
