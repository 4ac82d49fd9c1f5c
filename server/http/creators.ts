/** The monitoring list over HTTP. */
import { Elysia } from "elysia";
import { checkCreator, type Creator } from "../../core/creators.ts";
import type { CreatorResult } from "../../core/schema/creators.ts";
import { readJsonBody } from "./body.ts";
import { createCreatorList, type CreatorListReads } from "./creator-list.ts";
import { CREATOR_OPERATIONS } from "./operations/creators.ts";
import type { Outgoing } from "./outgoing.ts";

/** The monitoring list; `now` is in milliseconds since 1970 UTC. */
export interface CreatorSetStore extends CreatorListReads {
  add(creator: Creator, now: number): Promise<{ creator: string; total: number }>;
  remove(creator: Creator): Promise<{ creator: string; total: number }>;
}

/** The routes of the monitoring list; they cost nothing. */
export function creators(list: CreatorSetStore, outgoing: Outgoing, now: () => number) {
  const readList = createCreatorList(list);
  return new Elysia({ name: "creators" })
    .get(
      "/api/creators",
      async () => {
        const headers = { "content-type": "application/json" };
        return new Response(outgoing.bodyOf(await readList()), { headers });
      },
      { detail: CREATOR_OPERATIONS.list },
    )
    .patch(
      "/api/creators",
      async ({ request, set }): Promise<CreatorResult> => {
        const asked = checkCreator(await readJsonBody(request));
        const { creator, total } = await list.add(asked, now());
        set.status = 201;
        return {
          message: `Creator ${creator} added to the monitoring list`,
          creator,
          platform: asked.platform,
          total_creators: total,
        };
      },
      { parse: "none", detail: CREATOR_OPERATIONS.add },
    )
    .delete(
      "/api/creators",
      async ({ request }): Promise<CreatorResult> => {
        const asked = checkCreator(await readJsonBody(request));
        const { creator, total } = await list.remove(asked);
        return {
          message: `Creator ${creator} removed from the monitoring list`,
          creator,
          platform: asked.platform,
          total_creators: total,
        };
      },
      { parse: "none", detail: CREATOR_OPERATIONS.remove },
    );
}
