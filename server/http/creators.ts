/** The monitoring list API: list, add and remove creators. It is free of charge. */
import { Elysia } from "elysia";
import { parseCreator } from "../../core/creators.ts";
import type { CreatorResult } from "../../core/resources/generated/types.ts";
import { createCreatorResult } from "../../core/responses/creators.ts";
import type { MonitoringListStore } from "../store/collection/creators.ts";
import { coalesceRuns } from "./coalesce.ts";
import {
  chooseEncoding,
  compress,
  isCompressible,
  type ContentEncoding,
} from "./content/compression.ts";
import { describeRoute } from "./openapi/route-types.ts";
import type { BodyStreamer } from "./reads/body-streamer.ts";
import { readJsonBody } from "./request-body.ts";

/** The encoded list is read again after this time, even if its version is the same. */
const LIST_MAX_AGE_MS = 1000;

/** The list as the bytes of its JSON. */
interface EncodedList {
  readonly body: Uint8Array;
  /** Compresses the body, once for each encoding. */
  compress(encoding: ContentEncoding): Promise<Uint8Array>;
}

const parse = ({ request }: { readonly request: Request }) => readJsonBody(request);

/** Creates the routes of the monitoring list. */
export function createCreatorRoutes(
  list: MonitoringListStore,
  bodyStreamer: BodyStreamer,
  now: () => number,
) {
  const readList = createListReader(list);
  return new Elysia({ name: "creators" })
    .get(
      "/api/creators",
      async ({ request }) => {
        const encoded = await readList();
        const encoding = isCompressible(encoded.body) ? chooseEncoding(request) : undefined;
        const headers = {
          "content-type": "application/json",
          ...(encoding && { "content-encoding": encoding }),
        };
        const body = encoding === undefined ? encoded.body : await encoded.compress(encoding);
        return new Response(bodyStreamer.toResponseBody(body), { headers });
      },
      describeRoute("listCreators"),
    )
    .patch(
      "/api/creators",
      async ({ body, status }) => {
        const creator = parseCreator(body);
        const change = await list.add(creator, now());
        const spelled = { ...creator, creator: change.creator };
        return status(201, createCreatorResult(spelled, change.total, "added"));
      },
      { ...describeRoute("addCreator"), parse },
    )
    .delete(
      "/api/creators",
      async ({ body }): Promise<CreatorResult> => {
        const creator = parseCreator(body);
        const change = await list.remove(creator);
        const spelled = { ...creator, creator: change.creator };
        return createCreatorResult(spelled, change.total, "removed");
      },
      { ...describeRoute("removeCreator"), parse },
    );
}

/**
 * Creates a reader of the list as JSON bytes. The list can have ten thousand creators, so it is
 * encoded page by page, and requests share the result.
 */
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
