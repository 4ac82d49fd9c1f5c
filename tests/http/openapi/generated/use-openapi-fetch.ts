/** Calls the service with openapi-fetch, and the types that openapi-typescript generated. */
import createClient from "openapi-fetch";
import type { components, paths } from "./openapi.d.ts";

/** @returns What the service responded, as far as the types tell it apart. */
export async function callService(baseUrl: string, apiKey: string) {
  const client = createClient<paths, "application/json">({
    baseUrl,
    headers: { "X-API-Key": apiKey },
  });
  const shorts = await client.GET("/api/video/{channel}/shorts", {
    params: { path: { channel: "soup" }, query: { limit: 1 } },
  });
  const page: components["schemas"]["ShortsPage"] | undefined = shorts.data;
  const nobody = await client.GET("/api/microblog/{username}/details", {
    params: { path: { username: "nobody" } },
  });
  const added = await client.PATCH("/api/creators", {
    body: { creator: "nasa", platform: "microblog" },
  });
  return {
    titles: page?.shorts.map(({ title }) => title),
    cursor: page?.pagination.nextCursor,
    error: nobody.error && describeError(nobody.error.error),
    total: added.data?.total_creators,
  };
}

type UserErrorName =
  paths["/api/microblog/{username}/details"]["get"]["responses"][404]["content"]["application/json"]["error"];

function describeError(name: string): UserErrorName | "other" {
  return name === "User Not Found" ? name : "other";
}
