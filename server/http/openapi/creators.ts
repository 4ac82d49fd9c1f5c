/** The monitoring list as the reference describes it. */
import { describeOperation, type ErrorExample } from "./operation.ts";
import { BODY_MAX_BYTES } from "../request-body.ts";

const REQUEST_BODY = {
  schema: "CreatorRequest",
  example: { creator: "bsky.app", platform: "microblog" },
};

const BODY_ERRORS: readonly ErrorExample[] = [
  ["Invalid Request", 'platform must be "microblog", got "video"'],
  ["Payload Too Large", `A body has at most ${BODY_MAX_BYTES} bytes`],
  ["Unsupported Media Type", 'The Content-Type must be application/json, got "text/plain"'],
];

const common = { tag: "Creators", path: "/api/creators" } as const;

/** The operations of the monitoring list. */
export const CREATOR_OPERATIONS = {
  list: describeOperation({
    ...common,
    id: "listCreators",
    summary: "The monitoring list",
    description:
      "By platform and username, and how the collection of each stands: of what describes it and " +
      "of its tweets together. Free.",
    success: {
      status: 200,
      description: "The list",
      schema: "CreatorList",
      example: {
        creators: [
          {
            creator: "bsky.app",
            platform: "microblog",
            added_at: "2026-11-20T08:15:30.123Z",
            last_success: "2026-11-21T02:38:09.821Z",
            last_failure: null,
            failure: null,
            next_due: "2026-11-21T03:36:41.090Z",
          },
          {
            creator: "somebodyelse",
            platform: "microblog",
            added_at: "2026-11-20T08:15:31.007Z",
            last_success: null,
            last_failure: "2026-11-21T02:38:10.244Z",
            failure: "The account is suspended",
            next_due: "2026-11-22T01:12:55.300Z",
          },
        ],
        total_creators: 2,
      },
    },
  }),

  add: describeOperation({
    ...common,
    id: "addCreator",
    summary: "Add a creator",
    description: "A creator is a platform and a username regardless of case. Free.",
    body: REQUEST_BODY,
    success: {
      status: 201,
      description: "The creator was added",
      schema: "CreatorResult",
      example: {
        message: "Creator bsky.app added to the monitoring list",
        creator: "bsky.app",
        platform: "microblog",
        total_creators: 1,
      },
    },
    errors: [
      ...BODY_ERRORS,
      ["Creator Already Exists", "Creator bsky.app on microblog is already in the monitoring list"],
      [
        "Creator List Full",
        "The monitoring list holds at most 10000 creators; remove one to add another",
      ],
    ],
  }),

  remove: describeOperation({
    ...common,
    id: "removeCreator",
    summary: "Remove a creator",
    description: "Its collection stops; what was collected is kept. Free.",
    body: REQUEST_BODY,
    success: {
      status: 200,
      description: "The creator was removed",
      schema: "CreatorResult",
      example: {
        message: "Creator bsky.app removed from the monitoring list",
        creator: "bsky.app",
        platform: "microblog",
        total_creators: 0,
      },
    },
    errors: [
      ...BODY_ERRORS,
      ["Creator Not Found", "Creator nobody on microblog is not in the monitoring list"],
    ],
  }),
};
