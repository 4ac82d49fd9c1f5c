/** Redirects, which would take the API key to another address. */
import { expect, test } from "bun:test";
import { createClient } from "../../../core/client/mod.ts";

test.each([301, 302, 307, 308])(
  "createClient() does not follow a redirect with the status %d",
  async (status) => {
    const keys: (string | null)[] = [];
    const other = Bun.serve({
      port: 0,
      hostname: "127.0.0.1",
      fetch({ headers }) {
        keys.push(headers.get("x-api-key"));
        return Response.json({});
      },
    });
    const location = `${other.url.href}api/account`;
    let requests = 0;
    const server = Bun.serve({
      port: 0,
      hostname: "127.0.0.1",
      fetch() {
        requests++;
        return new Response(null, { status, headers: { location } });
      },
    });
    const client = createClient({ baseUrl: server.url.href, apiKey: "cm_1" });
    const error: unknown = await client.account().catch((reason: unknown) => reason);
    await Promise.all([server.stop(true), other.stop(true)]);
    expect(error).toMatchObject({
      name: "ConnectionError",
      message: `GET /api/account was redirected to ${location}: correct baseUrl`,
    });
    expect({ keys, requests }).toEqual({ keys: [], requests: 1 });
  },
);
