import { expect, it } from 'vitest';
import { parseModule } from '../moduleParser.js';
import { lowerModule } from './lowerModule.js';

it('asks only for channels that something reads', () => {
  const text = `.version 9.0
.target sm_90
.address_size 64
.entry k(.param .u64 t, .param .u64 out) {
  .reg .f32 %f<6>; .reg .b64 %rd<3>;
  ld.param.u64 %rd1, [t];
  ld.param.u64 %rd2, [out];
  tex.1d.v4.f32.f32 {%f1, %f2, %f3, %f4}, [%rd1, {0f3F000000}];
  st.global.f32 [%rd2], %f3;
  ret;
}`;
  const fetch = lowerModule(parseModule(text, 'k.ptx')).functions[0]?.instructions[2];
  const kinds = fetch?.destinations.flatMap((each) =>
    each.kind === 'vector' ? each.elements.map(({ kind }) => kind) : [],
  );
  expect(kinds).toEqual(['sink', 'sink', 'register', 'sink']);
});
