/** The endpoints of the monitoring list: list (from a shared cache), add and remove creators. */
import { createCreatorResult, parseCreator } from "../../../core/creators.ts";
import * as schemas from "../../../core/resources/creators.ts";
import type { MonitoringListStore } from "../../store/collection/watch-lists.ts";
import { coalesceRuns } from "../coalesce.ts";
import {
  chooseEncoding,
  compress,
  isCompressible,
  type ContentEncoding,
} from "../content/compression.ts";
import { defineFree, type FreeEndpoint } from "./endpoint.ts";

/** The encoded list is read again after this time, even if its version is the same. */
const LIST_MAX_AGE_MS = 1000;

interface EncodedList {
  readonly body: Uint8Array;
  /** Compresses the body, once for each encoding. */
  compress(encoding: ContentEncoding): Promise<Uint8Array>;
}

const PLATFORM_ERROR = { "Invalid Request": 'platform must be "microblog", got "video"' } as const;

export const CREATOR_ENDPOINTS: readonly FreeEndpoint[] = [
  defineFree({
    id: "listCreators",
    operation: "GET /api/creators",
    part: "Creators",
    summary: "The monitoring list",
    description:
      "By platform and username, with the state of each creator's collection: profile and tweets " +
      "together.",
    result: { schema: schemas.CreatorList, description: "The list" },
    createHandler({ creators, bodyStreamer }) {
      const readList = createListReader(creators);
      return async ({ request }) => {
        const encoded = await readList();
        const encoding = isCompressible(encoded.body) ? chooseEncoding(request) : undefined;
        const headers = {
          "content-type": "application/json",
          ...(encoding && { "content-encoding": encoding }),
        };
        const body = encoding === undefined ? encoded.body : await encoded.compress(encoding);
        return new Response(bodyStreamer.toResponseBody(body), { headers });
      };
    },
  }),
  defineFree({
    id: "addCreator",
    operation: "PATCH /api/creators",
    part: "Creators",
    summary: "Add a creator",
    description: "A creator is a platform and a username, whose case does not matter.",
    body: schemas.CreatorRequest,
    result: {
      schema: schemas.CreatorResult,
      description: "The creator was added",
      statuses: [201],
    },
    errors: {
      ...PLATFORM_ERROR,
      "Creator Already Exists": "Creator bsky.app on microblog is already in the monitoring list",
      "Creator List Full":
        "The monitoring list holds at most 10000 creators; remove one to add another",
    },
    createHandler:
      ({ creators, now }) =>
      async ({ body }) => {
        const given = parseCreator(body);
        const { creator, total } = await creators.add(given, now());
        return createCreatorResult({ ...given, creator }, total, "added");
      },
  }),
  defineFree({
    id: "removeCreator",
    operation: "DELETE /api/creators",
    part: "Creators",
    summary: "Remove a creator",
    description: "Its collection stops. What was collected stays.",
    body: schemas.CreatorRequest,
    result: { schema: schemas.CreatorResult, description: "The creator was removed" },
    errors: {
      ...PLATFORM_ERROR,
      "Creator Not Found": "Creator nobody on microblog is not in the monitoring list",
    },
    createHandler:
      ({ creators }) =>
      async ({ body }) => {
        const given = parseCreator(body);
        const { creator, total } = await creators.remove(given);
        return createCreatorResult({ ...given, creator }, total, "removed");
      },
  }),
];

/** Creates a shared reader of the list as JSON. It reads in pages: there can be 10,000 creators. */
function createListReader(list: MonitoringListStore): () => Promise<EncodedList> {
  let cached: (EncodedList & { version: string; startedAt: number }) | undefined;
  return coalesceRuns(async () => {
    const version = await list.version();
    const startedAt = performance.now();
    if (cached?.version !== version || startedAt - cached.startedAt > LIST_MAX_AGE_MS) {
      const body = await encodeList(list);
      const variants = new Map<ContentEncoding, Promise<Uint8Array>>();
      const compressOnce = (encoding: ContentEncoding) => {
        const bytes = variants.get(encoding) ?? compress(body, encoding);
        variants.set(encoding, bytes);
        return bytes;
      };
      cached = { version, startedAt, body, compress: compressOnce };
    }
    return cached;
  });
}

async function encodeList(list: MonitoringListStore): Promise<Uint8Array> {
  const encoder = new TextEncoder();
  const pieces = [encoder.encode('{"creators":[')];
  let total = 0;
  for await (const page of list.pages()) {
    const text = JSON.stringify(page).slice(1, -1);
    pieces.push(encoder.encode(total === 0 ? text : `,${text}`));
    total += page.length;
  }
  pieces.push(encoder.encode(`],"total_creators":${total}}`));
  return Bun.concatArrayBuffers(pieces, Number.POSITIVE_INFINITY, true);
}
