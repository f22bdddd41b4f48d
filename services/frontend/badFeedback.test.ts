import { describeBadRequests, type BadRequest } from './tests/badRequests.js';

const BAD_REQUESTS: readonly BadRequest[] = [
  {
    what: 'feedback on nothing',
    path: '/doubles/update',
    body: '{"label":1}',
    code: 'missing_field',
    field: 'query_id',
  },
  {
    what: 'feedback on two things',
    path: '/doubles/update',
    body: '{"label":1,"input":[1],"query_id":"a"}',
    code: 'conflicting_fields',
    field: 'query_id',
  },
  {
    what: 'no label',
    path: '/doubles/update',
    body: '{"query_id":"a"}',
    code: 'missing_field',
    field: 'label',
  },
  {
    what: 'a label that is an object',
    path: '/doubles/update',
    body: '{"query_id":"a","label":{}}',
    code: 'wrong_type',
    field: 'label',
  },
  {
    what: 'an endless label',
    path: '/doubles/update',
    body: '{"query_id":"a","label":1e400}',
    code: 'number_out_of_range',
    field: 'label',
  },
  {
    what: 'a loss as text',
    path: '/doubles/update',
    body: '{"query_id":"a","label":1,"loss":"0.5"}',
    code: 'wrong_type',
    field: 'loss',
  },
  {
    what: 'a loss above 1',
    path: '/doubles/update',
    body: '{"query_id":"a","label":1,"loss":1.5}',
    code: 'invalid_value',
    field: 'loss',
  },
  {
    what: 'a loss below 0',
    path: '/doubles/update',
    body: '{"query_id":"a","label":1,"loss":-0.1}',
    code: 'invalid_value',
    field: 'loss',
  },
  {
    what: 'a query id that is a number',
    path: '/doubles/update',
    body: '{"query_id":3,"label":1}',
    code: 'wrong_type',
    field: 'query_id',
  },
  {
    what: 'feedback on a bad input',
    path: '/doubles/update',
    body: '{"input":[],"label":1}',
    code: 'empty_input',
    field: 'input',
  },
];

describeBadRequests('bad feedback', BAD_REQUESTS);
