/** Calls the service with the client that @hey-api/openapi-ts generated. */
import { createClient, createConfig } from "./hey-api/client/index.ts";
import {
  addCreator,
  getUser,
  listShorts,
  type GetUserErrors,
  type ListShortsResponse,
} from "./hey-api/index.ts";

/** @returns What the service responded, as far as the types tell it apart. */
export async function callService(baseUrl: string, apiKey: string) {
  const client = createClient(createConfig({ baseUrl, auth: apiKey }));
  const shorts = await listShorts({ client, path: { channel: "soup" }, query: { limit: 1 } });
  const page: ListShortsResponse | undefined = shorts.data;
  const nobody = await getUser({ client, path: { username: "nobody" } });
  const added = await addCreator({ client, body: { creator: "esa", platform: "microblog" } });
  return {
    titles: page?.shorts.map(({ title }) => title),
    cursor: page?.pagination.nextCursor,
    error: nobody.error && describeError(nobody.error.error),
    total: added.data?.total_creators,
  };
}

function describeError(name: string): GetUserErrors[404]["error"] | "other" {
  return name === "User Not Found" ? name : "other";
}
