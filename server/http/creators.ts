/** The monitoring list over HTTP. */
import { Elysia } from "elysia";
import { parseCreator } from "../../core/creators.ts";
import type { CreatorResult } from "../../core/schema/creators.ts";
import { readJsonBody } from "./request-body.ts";
import type { MonitoringListStore } from "../ports/collection.ts";
import { createCreatorListReader } from "./creator-list.ts";
import type { BodyStreamer } from "./reads/body-streamer.ts";

/** The routes of the monitoring list; they cost nothing. */
export function createCreatorRoutes(
  list: MonitoringListStore,
  bodyStreamer: BodyStreamer,
  now: () => number,
) {
  const readList = createCreatorListReader(list);
  return new Elysia({ name: "creators" })
    .get(
      "/api/creators",
      async () => {
        const headers = { "content-type": "application/json" };
        return new Response(bodyStreamer.toResponseBody(await readList()), { headers });
      },
      { detail: { operationId: "listCreators" } },
    )
    .patch(
      "/api/creators",
      async ({ request, set }): Promise<CreatorResult> => {
        const asked = parseCreator(await readJsonBody(request));
        const { creator, total } = await list.add(asked, now());
        set.status = 201;
        return {
          message: `Creator ${creator} added to the monitoring list`,
          creator,
          platform: asked.platform,
          total_creators: total,
        };
      },
      { parse: "none", detail: { operationId: "addCreator" } },
    )
    .delete(
      "/api/creators",
      async ({ request }): Promise<CreatorResult> => {
        const asked = parseCreator(await readJsonBody(request));
        const { creator, total } = await list.remove(asked);
        return {
          message: `Creator ${creator} removed from the monitoring list`,
          creator,
          platform: asked.platform,
          total_creators: total,
        };
      },
      { parse: "none", detail: { operationId: "removeCreator" } },
    );
}
