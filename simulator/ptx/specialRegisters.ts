const triples = [
  'tid',
  'ntid',
  'ctaid',
  'nctaid',
  'clusterid',
  'nclusterid',
  'cluster_ctaid',
  'cluster_nctaid',
];

const scalars = [
  'laneid',
  'warpid',
  'nwarpid',
  'smid',
  'nsmid',
  'gridid',
  'is_explicit_cluster',
  'cluster_ctarank',
  'cluster_nctarank',
  'lanemask_eq',
  'lanemask_le',
  'lanemask_lt',
  'lanemask_ge',
  'lanemask_gt',
  'clock',
  'clock_hi',
  'clock64',
  'globaltimer',
  'globaltimer_lo',
  'globaltimer_hi',
  'reserved_smem_offset_begin',
  'reserved_smem_offset_end',
  'reserved_smem_offset_cap',
  'total_smem_size',
  'aggr_smem_size',
  'dynamic_smem_size',
  'current_graph_exec',
];

const names = new Set<string>([
  ...triples.flatMap((name) => [name, `${name}.x`, `${name}.y`, `${name}.z`]),
  ...scalars,
  ...Array.from({ length: 32 }, (_, index) => `envreg${index}`),
  ...Array.from({ length: 8 }, (_, index) => `pm${index}`),
  ...Array.from({ length: 8 }, (_, index) => `pm${index}_64`),
]);

/** Whether PTX has a special register of this name (without the percent sign): `tid.x`, `laneid`. */
export function isSpecialRegister(name: string): boolean {
  return names.has(name);
}
