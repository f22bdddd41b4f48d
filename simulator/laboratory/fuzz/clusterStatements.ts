import type { Dim3 } from '../../executor/index.js';
import type { SeededRandom } from '../../random/index.js';
import { registerCounts } from './kernelText.js';

/** Clusters of a case, and how many of them the grid has in each direction. */
export const clusterShapes: readonly (readonly [cluster: Dim3, clusters: Dim3])[] = [
  [
    [2, 1, 1],
    [1, 1, 1],
  ],
  [
    [2, 1, 1],
    [3, 1, 1],
  ],
  [
    [3, 1, 1],
    [2, 1, 1],
  ],
  [
    [2, 2, 1],
    [1, 2, 1],
  ],
  [
    [1, 2, 1],
    [2, 1, 2],
  ],
  [
    [4, 1, 1],
    [1, 2, 1],
  ],
  [
    [1, 1, 1],
    [2, 1, 1],
  ],
];

/** A word for each thread, and one that all of a cluster update. */
export function clusterDeclarations(threads: number): string[] {
  return [
    '\t.reg .b32 %peer, %peers, %boxWord, %boxThere, %boxGot;',
    '\t.reg .b64 %boxGeneric, %boxPeer;',
    `\t.shared .align 8 .b32 fuzzBox[${threads}];`,
    '\t.shared .align 8 .b32 fuzzSum[1];',
  ];
}

/** Rounds in which blocks of a cluster give one another values; barriers lie between all that would race. */
export function clusterRounds(random: SeededRandom): string[] {
  const lines = [
    'mov.u32 %peers, %cluster_nctarank;',
    'mov.u32 %boxWord, fuzzBox;',
    'mad.lo.u32 %boxWord, %thread, 4, %boxWord;',
    ...meeting(random),
  ];
  for (let round = random.between(2, 7); round > 0; round--) {
    lines.push('mov.u32 %peer, %cluster_ctarank;', `add.u32 %peer, %peer, ${random.below(4)};`);
    lines.push('rem.u32 %peer, %peer, %peers;', ...exchange(random), ...meeting(random));
  }
  return lines.map((line) => `\t${line}`);
}

function exchange(random: SeededRandom): string[] {
  const register = `%r${random.below(registerCounts.r)}`;
  const into = `%r${random.below(registerCounts.r)}`;
  const mix = `${random.pick(['xor.b32', 'add.u32', 'sub.u32'])} ${into}, ${into}, %boxGot;`;
  const met = meeting(random, [`add.u32 ${into}, ${into}, ${random.below(1000)};`]);
  switch (random.below(5)) {
    case 0:
      return [
        'mapa.shared::cluster.u32 %boxThere, %boxWord, %peer;',
        `st.shared::cluster.u32 [%boxThere], ${register};`,
        ...met,
        'ld.shared.u32 %boxGot, [%boxWord];',
        mix,
      ];
    case 1:
      return [
        `st.shared.u32 [%boxWord], ${register};`,
        ...met,
        'cvt.u64.u32 %boxGeneric, %boxWord;',
        'cvta.shared.u64 %boxGeneric, %boxGeneric;',
        'mapa.u64 %boxPeer, %boxGeneric, %peer;',
        'ld.u32 %boxGot, [%boxPeer];',
        mix,
        'getctarank.u64 %boxGot, %boxPeer;',
        mix,
      ];
    case 2:
      return [
        'mapa.shared::cluster.u32 %boxThere, %boxWord, %peer;',
        `atom.shared::cluster.${random.pick(['exch.b32', 'add.u32', 'xor.b32'])} %boxGot, [%boxThere], ${register};`,
        mix,
        ...met,
        'ld.shared::cluster.u32 %boxGot, [%boxWord];',
        mix,
      ];
    case 3:
      return [
        'mapa.shared::cluster.u32 %boxThere, fuzzSum, %peer;',
        `red.relaxed.cluster.shared::cluster.${random.pick(['add.u32', 'xor.b32', 'max.s32', 'min.u32'])} [%boxThere], ${register};`,
        ...met,
        'ld.shared.u32 %boxGot, [fuzzSum];',
        mix,
      ];
    default:
      return [
        'mov.u64 %boxGeneric, fuzzSum;',
        'cvta.shared.u64 %boxGeneric, %boxGeneric;',
        'mapa.u64 %boxPeer, %boxGeneric, %peer;',
        `@%p${random.below(registerCounts.p)} red.add.u32 [%boxPeer], ${register};`,
        ...met,
        'ld.volatile.u32 %boxGot, [%boxPeer];',
        mix,
      ];
  }
}

/** All of the cluster meet. @param meanwhile what a thread does between its arrival and its wait */
function meeting(random: SeededRandom, meanwhile: readonly string[] = []): string[] {
  return [
    random.pick(['barrier.cluster.arrive;', 'barrier.cluster.arrive.release;']),
    ...(random.chance(0.4) ? meanwhile : []),
    random.pick(['barrier.cluster.wait;', 'barrier.cluster.wait.acquire;']),
  ];
}
