/**
 * The messages between a process and the committer: a request with a batch, and its response. A
 * message is JSON, and is checked when it arrives.
 */
import { Type, type Static, type TSchema } from "@sinclair/typebox";
import { TypeCompiler } from "@sinclair/typebox/compiler";
import type { RunBatch } from "../store/accounts/debit-sql.ts";
import type { CommittedRuns } from "../store/accounts/run-batches.ts";

/**
 * The version of these messages. With another one, a process commits its batches itself. Increase
 * it with each change: `tests/committer/messages.test.ts` has the schemas of each version.
 */
export const MESSAGES_VERSION = 2;

/** The path of a connection: processes with other tables or other messages find nothing there. */
export const createPath = (tablesVersion: number, messagesVersion = MESSAGES_VERSION): string =>
  `/${messagesVersion}/${tablesVersion}`;

/**
 * A batch has at most 256 runs and 256 refunds of up to 700 bytes each. A longer response, of a
 * process that has missed many changes, is not sent.
 */
export const MESSAGE_MAX_BYTES = 1_048_576;

const WHOLE_NUMBER = Type.Integer({ minimum: 0, maximum: Number.MAX_SAFE_INTEGER });
const COUNT = Type.Integer({ minimum: 1, maximum: Number.MAX_SAFE_INTEGER });
const ID = WHOLE_NUMBER;

const RUN = Type.Object({
  account: WHOLE_NUMBER,
  cost: COUNT,
  key: WHOLE_NUMBER,
  endpoint: Type.String(),
  count: COUNT,
  idempotencyKey: Type.Optional(Type.Object({ value: Type.String(), fingerprint: Type.String() })),
  hasWaited: Type.Optional(Type.Boolean()),
});

const REFUND = Type.Object({
  debit: Type.Object({
    uid: Type.String(),
    account: WHOLE_NUMBER,
    run: WHOLE_NUMBER,
    index: WHOLE_NUMBER,
    cost: COUNT,
    key: WHOLE_NUMBER,
    endpoint: Type.String(),
    hour: WHOLE_NUMBER,
    idempotencyKey: Type.Optional(Type.String()),
  }),
  reason: Type.String(),
});

const BATCH = Type.Object({
  runs: Type.Array(RUN, { minItems: 1 }),
  uid: Type.String({ minLength: 1 }),
  now: WHOLE_NUMBER,
  since: Type.Optional(WHOLE_NUMBER),
  refunds: Type.Array(REFUND),
});

const COMMITTED = Type.Object({
  outcomes: Type.Array(
    Type.Union([Type.Object({ balance: Type.Integer(), requests: WHOLE_NUMBER }), Type.Null()]),
  ),
  payments: Type.Array(
    Type.Object({
      account: WHOLE_NUMBER,
      idempotencyKey: Type.String(),
      fingerprint: Type.String(),
      uid: Type.String(),
      repeatedBy: Type.Array(Type.String()),
    }),
  ),
  changes: Type.Object({ sequence: WHOLE_NUMBER, tags: Type.String(), published: WHOLE_NUMBER }),
});

const REQUEST = Type.Object({ id: ID, batch: BATCH });

const RESPONSE = Type.Union([
  Type.Object({ id: ID, committed: COMMITTED }),
  /** Whether it is certain that nothing of the batch is committed, and nothing will be. */
  Type.Object({ id: ID, isRefused: Type.Boolean() }),
]);

export const MESSAGE_SCHEMAS = [REQUEST, RESPONSE];

/** A request of a process. */
interface CommitRequest {
  /** Of the request on its connection. */
  readonly id: number;
  readonly batch: RunBatch;
}

type CommitResponse =
  | { readonly id: number; readonly committed: CommittedRuns }
  | { readonly id: number; readonly isRefused: boolean };

/** Creates the parser of a message. It returns `undefined` for any other text. */
function createParser<Schema extends TSchema>(schema: Schema) {
  const check = TypeCompiler.Compile(schema);
  return (text: string): Static<Schema> | undefined => {
    try {
      const value: unknown = JSON.parse(text);
      return check.Check(value) ? value : undefined;
    } catch {
      return undefined;
    }
  };
}

export const parseRequest: (text: string) => CommitRequest | undefined = createParser(REQUEST);
export const parseResponse: (text: string) => CommitResponse | undefined = createParser(RESPONSE);
export const formatRequest = (request: CommitRequest): string => JSON.stringify(request);
export const formatResponse = (response: CommitResponse): string => JSON.stringify(response);
