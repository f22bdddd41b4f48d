/** One row of the catalogue: what a client sees, and what it can do about it. */
export interface ErrorRow {
  readonly status: number;
  /** When it is answered: a sentence for the documentation. */
  readonly meaning: string;
  /** What the client should change. */
  readonly fix: string;
}

/** Every error that the REST interfaces answer with. `docs/reference/errors.md` is generated from this table. */
export const ERROR_CATALOGUE = {
  // The request as HTTP.
  malformed_http: {
    status: 400,
    meaning: 'The bytes on the connection are not an HTTP/1.1 request.',
    fix: 'Send a well-formed request; the connection is closed.',
  },
  malformed_url: {
    status: 400,
    meaning: 'The path or the query of the URL has a percent-encoding that is not valid UTF-8.',
    fix: 'Percent-encode as UTF-8, two hexadecimal digits a byte.',
  },
  unknown_route: {
    status: 404,
    meaning: 'No route has this path.',
    fix: 'See /openapi.json for the routes.',
  },
  method_not_allowed: {
    status: 405,
    meaning: 'The route exists, for another method.',
    fix: 'Use a method that the Allow header names.',
  },
  request_timeout: {
    status: 408,
    meaning: 'The headers or the body did not arrive in time.',
    fix: 'Send the whole request at once; the connection is closed.',
  },
  body_too_large: {
    status: 413,
    meaning: 'The body is larger than the limit.',
    fix: 'Send fewer inputs in a batch, or raise the limit where the server is started.',
  },
  origin_not_allowed: {
    status: 403,
    meaning:
      'A web page of another origin tried to open a WebSocket, or asked whether it may send a request.',
    fix: 'Serve the page from the address of the server, or allow its origin where the server is started.',
  },
  upgrade_required: {
    status: 426,
    meaning: '`/ws` was asked for without a WebSocket handshake.',
    fix: 'Connect with a WebSocket client.',
  },
  unsupported_media_type: {
    status: 415,
    meaning:
      'The body is not declared to be JSON in UTF-8 (or, where that is taken, the bytes of an input), or has a Content-Encoding that is not known.',
    fix: 'Send `Content-Type: application/json`, or `application/octet-stream` to predict, as it is or encoded as gzip, deflate or br.',
  },
  malformed_encoding: {
    status: 400,
    meaning:
      'The body is not what its Content-Encoding says: damaged, cut short, or with bytes behind its end.',
    fix: 'Send the whole encoded body, or send it without Content-Encoding.',
  },
  headers_too_large: {
    status: 431,
    meaning: 'The headers are larger than the limit of 16 KiB.',
    fix: 'Send fewer or shorter headers; the connection is closed.',
  },

  not_supported: {
    status: 501,
    meaning: 'The request asks for a part of the Open Inference Protocol that is not there.',
    fix: 'Do without the part that the message names, or use what it names in its place.',
  },

  // Who asks (docs/guides/security.md).
  key_required: {
    status: 401,
    meaning: 'The server asks for keys, and the request has none.',
    fix: 'Send `Authorization: Bearer KEY` or `x-api-key: KEY`; a key comes from whoever runs the server.',
  },
  invalid_key: {
    status: 401,
    meaning: 'What came as a key is none, is not known, was removed, or came in more than one place.',
    fix: 'Send the key as it was given, once.',
  },
  key_expired: {
    status: 401,
    meaning: 'The key was right, and its time is over.',
    fix: 'Ask for a new key.',
  },
  missing_scope: {
    status: 403,
    meaning: 'The key does not have the scope that the route needs.',
    fix: 'Use a key with the scope that the message and the WWW-Authenticate header name.',
  },
  outside_key: {
    status: 403,
    meaning: 'The key is limited to other applications or models.',
    fix: 'Ask for what the key is for, or use another key.',
  },
  too_many_connections: {
    status: 503,
    meaning: 'The server has as many connections or WebSockets as it takes.',
    fix: 'Keep connections open for many requests; come back after the seconds in Retry-After, or raise the limit where the server is started.',
  },
  too_much_buffered: {
    status: 503,
    meaning:
      'The bodies and messages of all clients that are under way take the memory that they may together.',
    fix: 'Come back after the seconds in Retry-After, send smaller bodies, or raise --max-buffered-mib where the server is started.',
  },
  too_many_open_files: {
    status: 503,
    meaning:
      'What was asked for needs a file, a process or a thread, and the server has as many files and connections open as the system lets it.',
    fix: 'Come back after the seconds in Retry-After; raise the limit of open files (`ulimit -n`) where the server is started, or start it with fewer --max-connections.',
  },

  // The body as JSON.
  not_utf8: {
    status: 400,
    meaning: 'The body is not valid UTF-8.',
    fix: 'Encode the JSON text in UTF-8.',
  },
  not_json: {
    status: 400,
    meaning: 'The body does not parse as JSON. NaN and Infinity are no JSON.',
    fix: 'Send one JSON object.',
  },
  json_too_complex: {
    status: 400,
    meaning:
      'The JSON is nested deeper than 64 levels, or a large body has an object of more than 1,024 keys, more than 262,144 arrays, objects and strings, or more than 4,194,304 values.',
    fix: 'Send fewer or larger pieces in a body: numbers as one array or as base64 of their bytes, and several smaller batches.',
  },
  missing_field: {
    status: 400,
    meaning: 'A required field is absent.',
    fix: 'Add the field that `field` names.',
  },
  unknown_field: {
    status: 400,
    meaning: 'A management request has a field that the route does not know.',
    fix: 'Remove or rename the field that `field` names.',
  },
  conflicting_fields: {
    status: 400,
    meaning: 'Two fields were given of which only one may be.',
    fix: 'Keep one of them.',
  },
  wrong_type: {
    status: 400,
    meaning: 'A value has another JSON type than the field needs.',
    fix: 'Send the type that the message names.',
  },
  invalid_value: {
    status: 400,
    meaning: 'A value has the right type and is not allowed.',
    fix: 'Send a value that the message names.',
  },

  // A message on a WebSocket.
  malformed_frame: {
    status: 400,
    meaning: 'A binary frame is not laid out as docs/reference/websocket.md says.',
    fix: 'Correct the part that the message names.',
  },
  duplicate_id: {
    status: 409,
    meaning:
      'A message has the id of another one that is in flight on the same connection, which is answered all the same.',
    fix: 'Use an id again only after its answer.',
  },
  too_many_in_flight: {
    status: 429,
    meaning: 'The connection has as many messages in flight as one may have.',
    fix: 'Wait for answers, or use another connection too.',
  },

  // Inputs.
  empty_input: {
    status: 400,
    meaning: 'An input has no element.',
    fix: 'Send at least one element.',
  },
  wrong_length: {
    status: 400,
    meaning:
      'An input has another number of elements than the model, or the linked ones, take, or bytes that are no whole number of elements.',
    fix: 'Send the number of elements that the message names.',
  },
  number_out_of_range: {
    status: 400,
    meaning: 'A number is not finite or does not fit the input type (int32, float32, float64).',
    fix: 'Send a number in the range that the message names.',
  },
  invalid_base64: {
    status: 400,
    meaning: 'An input of type bytes, or in `b64`, is not base64.',
    fix: 'Send standard base64 with padding.',
  },
  invalid_input: {
    status: 400,
    meaning:
      'The linked models cannot take the input, or not with the context, priority, launch class or features that it came with.',
    fix: 'See the message.',
  },
  empty_batch: {
    status: 400,
    meaning: '`input_batch` has no input.',
    fix: 'Send at least one input.',
  },
  batch_too_large: {
    status: 413,
    meaning: '`input_batch` has more inputs than the limit.',
    fix: 'Split the batch.',
  },

  // What the request names.
  unknown_job: {
    status: 404,
    meaning: 'No batch job has the id, or the key may not see it.',
    fix: 'GET /jobs lists the jobs that there are.',
  },
  unknown_application: {
    status: 404,
    meaning: 'No application has this name.',
    fix: 'Register it with /admin/add_app, or correct the name.',
  },
  unknown_model: {
    status: 404,
    meaning: 'No model has this name and version.',
    fix: 'Register it with /admin/add_model, or correct name and version.',
  },
  learned_state: {
    status: 409,
    meaning: 'The change would lose what the application has learned.',
    fix: 'Keep the policy and change its parameters, register another application with the other policy, or send forget_learned.',
  },
  unknown_version: {
    status: 404,
    meaning: 'No model that is linked to the application has this version.',
    fix: 'Leave `version` out, or name a registered version.',
  },
  unknown_query: {
    status: 404,
    meaning: 'Feedback names a query that is not remembered (any more).',
    fix: 'Send feedback sooner, or send the `input` in place of the `query_id`.',
  },
  holder_silent: {
    status: 503,
    meaning:
      'The frontend that holds the judged query has not answered in time, and may yet learn from the feedback.',
    fix: 'Send it again after the seconds in Retry-After: a query is judged once.',
  },
  unlearnable_feedback: {
    status: 422,
    meaning: "The application's policy fails on this feedback; nothing was learned from it.",
    fix: 'Send what the policy takes; the message has what it said.',
  },
  feedback_not_kept: {
    status: 503,
    meaning: 'The feedback could not be kept, and nothing was learned from it.',
    fix: 'Send it again after the seconds in Retry-After. With --data-dir a frontend keeps feedback while Redis is away.',
  },
  unknown_feedback: {
    status: 404,
    meaning: 'No feedback with this id is in the queue.',
    fix: 'See `windjammer queue list`; what was learned is no longer in it.',
  },
  feedback_not_failed: {
    status: 409,
    meaning: 'The feedback has not failed: it is on its way to be learned.',
    fix: 'Wait; retry and drop are for what `windjammer queue list --state failed` shows.',
  },
  redis_away: {
    status: 503,
    meaning: 'What was asked for is kept in Redis, which does not answer.',
    fix: 'Put right what keeps Redis from answering, and repeat the request.',
  },
  unknown_state_version: {
    status: 404,
    meaning: 'The learned state has no such earlier version.',
    fix: 'Choose one that `windjammer state export` lists.',
  },
  unknown_replica: {
    status: 404,
    meaning: 'The model version has no replica with this number.',
    fix: 'See /admin/get_all_containers.',
  },
  unknown_node: {
    status: 404,
    meaning: 'The server has no GPU node of this name.',
    fix: 'Use a node that `get_gpus` shows, or name none.',
  },
  unknown_gpu: {
    status: 404,
    meaning: 'A model is to be pinned to a GPU that the server does not have.',
    fix: 'Name one as `NODE/INDEX`, such as `node0/0`; the message has all of them.',
  },
  unknown_link: {
    status: 404,
    meaning: 'The model is not linked to the application.',
    fix: 'See /admin/get_linked_models.',
  },

  load_failed: {
    status: 400,
    meaning:
      'A model that was to be loaded has a version of which no replica came up. It is tried again meanwhile.',
    fix: 'See the reason in the message, and the log of the server.',
  },

  // Management.
  invalid_name: {
    status: 400,
    meaning: 'A name is outside the allowed characters, too long or reserved.',
    fix: 'Use 1 to 64 of A-Z a-z 0-9 . _ - with a letter or digit first, and no reserved word.',
  },
  invalid_policy: {
    status: 400,
    meaning: 'The selection policy is unknown, or one of its parameters is not allowed.',
    fix: 'Use a policy and parameters that the message names.',
  },
  invalid_model: {
    status: 400,
    meaning:
      'The folder of a kernel model, or the module of a process, cannot be loaded or is not what the request says.',
    fix: 'Correct the file and field that the message names.',
  },
  invalid_bundle: {
    status: 400,
    meaning:
      'What came as the files of a model is no bundle, has a name that leads elsewhere, ends too early, or has another hash than was said. Nothing of it is kept.',
    fix: 'Send what the message names, or leave it to `windjammer deploy`.',
  },
  unknown_bundle: {
    status: 404,
    meaning:
      'The server has no files with the content hash: nobody has sent them, they were removed since, or those at the path are others.',
    fix: 'Send them with /admin/add_bundle, and repeat the request.',
  },
  too_many_uploads: {
    status: 503,
    meaning: 'As many bundles are being sent as the server takes at a time.',
    fix: 'Come back after the seconds in Retry-After.',
  },
  application_exists: {
    status: 409,
    meaning: 'An application with this name is registered.',
    fix: 'Delete it first, or choose another name.',
  },
  model_exists: {
    status: 409,
    meaning: 'This version of the model is registered.',
    fix: 'Register a new version.',
  },
  link_exists: {
    status: 409,
    meaning: 'The model is linked to the application.',
    fix: 'Nothing to do.',
  },
  input_type_mismatch: {
    status: 409,
    meaning: 'Application and model, or two models of one application, differ in input type or length.',
    fix: 'Link models that take what the application takes.',
  },
  version_in_use: {
    status: 409,
    meaning: 'The version is the current one of a model with other versions or links.',
    fix: 'Set another current version, or unlink the model, before deleting this one.',
  },
  no_incumbent: {
    status: 409,
    meaning: 'A version is to be tried beside the one that serves, and there is none, or it is that one.',
    fix: 'Add the first version of a model without `canary`.',
  },
  canary_running: {
    status: 409,
    meaning: 'Another version of the model is being tried.',
    fix: 'Promote or abort that one, or wait until it is judged.',
  },
  no_canary: {
    status: 404,
    meaning: 'No version of the model is being tried, or none ever was.',
    fix: 'Start one with `windjammer deploy --canary`, or `windjammer canary start`.',
  },
  insufficient_gpu_memory: {
    status: 409,
    meaning:
      'There is no GPU with room for the replicas that a model is to have, beside those that run or are about to. Nothing was changed.',
    fix: 'Ask for fewer replicas, scale down or delete others, unpin the model, or start the server with more GPUs; the message has what each GPU has free and what a replica needs.',
  },
  recording: {
    status: 409,
    meaning: 'A timeline of the GPU node, or the arrivals of queries, are being recorded already.',
    fix: 'Wait until that is over: a timeline takes at most 60 seconds.',
  },
  concurrent_change: {
    status: 409,
    meaning: 'Somebody else changed the same record meanwhile.',
    fix: 'Read it again and repeat the request.',
  },

  unknown_key: {
    status: 404,
    meaning: 'No key has this id.',
    fix: 'See /admin/get_all_keys.',
  },
  last_admin_key: {
    status: 409,
    meaning:
      'Without the key nobody could administer the server any more, or it was given where the server was started.',
    fix: 'Add another key with the scope admin first, or start the server with another one.',
  },

  // The server.
  shutting_down: {
    status: 503,
    meaning: 'The server is draining.',
    fix: 'Send the request to another server; the connection is closed.',
  },
  not_ready: {
    status: 503,
    meaning: 'The server is starting or draining (/readyz).',
    fix: 'Wait.',
  },
  node_down: {
    status: 503,
    meaning: 'The GPU node is not running, or was lost before the answer was whole.',
    fix: 'Try again once a replica on it is up.',
  },
  feed_unavailable: {
    status: 503,
    meaning:
      'The dashboard’s live feed is closed (the server is draining), or watched by as many clients as it takes.',
    fix: 'Close another dashboard, or come back later.',
  },
  storage_full: {
    status: 507,
    meaning: 'The change could not be kept, and was not made: no room is left in the data directory.',
    fix: 'Make room on the disk that the message names, and repeat the request; the server finds out by itself.',
  },
  store_failed: {
    status: 503,
    meaning:
      'The change could not be kept, and was not made: the data directory is read-only, or its disk fails; or the Redis that frontends share is away, takes no changes, or has lost some.',
    fix: 'Put right what the message names, and repeat the request after the seconds in Retry-After; the server finds out by itself.',
  },
  change_unknown: {
    status: 503,
    meaning:
      'The connection to the shared Redis was lost while the change was made, and has not come back since: it may be made, or not.',
    fix: 'Read what is there once Redis is back, and repeat the request where it is not made.',
  },
  not_a_cluster: {
    status: 409,
    meaning:
      'The server is no frontend of a cluster: it runs its models itself, or on nodes that it was given.',
    fix: 'Ask a frontend that was started with --store and --only-nodes.',
  },
  no_repair_needed: {
    status: 409,
    meaning: 'The store has lost no changes that a repair would bring back, or belongs to this server alone.',
    fix: 'Ask `/readyz` of the frontends which of them names the cause `behind`, and repair from one whose state is right.',
  },
  internal: {
    status: 500,
    meaning: 'A defect of the server.',
    fix: 'Report it with the log of the server.',
  },

  // A default output, for clients that asked for `strict`.
  default_deadline: {
    status: 504,
    meaning: 'Strict query: no prediction arrived by the deadline.',
    fix: 'Repeat later, or raise the latency objective.',
  },
  default_unavailable: {
    status: 503,
    meaning:
      'Strict query: no model is linked, no replica is up, or the queues are full or too long for an answer in time.',
    fix: 'Link a model, wait for its replicas, or send less; again after the seconds in Retry-After (`retry_after_ms`).',
  },
  default_model_error: {
    status: 502,
    meaning: 'Strict query: every asked model failed on this input.',
    fix: 'Check the input; see the metrics and the log of the container.',
  },
  default_low_confidence: {
    status: 503,
    meaning: 'Strict query: the models did not agree well enough.',
    fix: 'Lower the confidence threshold of the policy, or take the default output.',
  },
} as const satisfies Readonly<Record<string, ErrorRow>>;

export type ErrorCode = keyof typeof ERROR_CATALOGUE;

export const ERROR_CODES = Object.keys(ERROR_CATALOGUE) as readonly ErrorCode[];
