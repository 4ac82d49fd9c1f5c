/** Runs the example that mounts the service below a prefix, with requests of each kind. */
import { afterAll, beforeAll, describe, expect, test } from "bun:test";
import { join } from "node:path";
import { createClient } from "@creator-metrics/core/client";
import { findFreePort } from "../support/network/free-port.ts";
import { hasBrowser, openPage } from "../support/processes/browser.ts";
import { parseStatus, sendRaw } from "../support/network/raw-http.ts";
import { openSandbox } from "../support/processes/command-line.ts";

let sandbox: Awaited<ReturnType<typeof openSandbox>>;
let child: ReturnType<typeof startExample>;
let address = "";
let key = "";

function startExample(folder: string) {
  return Bun.spawn([process.execPath, join(import.meta.dir, "mounted-service.ts")], {
    cwd: folder,
    env: {
      PATH: process.env["PATH"] ?? "",
      DATABASE_URL: `file:${join(folder, "metrics.db")}`,
      SPOOL_FOLDER: join(folder, "data/spool"),
      PORT: String(findFreePort()),
    },
    stdout: "pipe",
    stderr: "inherit",
  });
}

const observedAt = "2026-11-20";
const LINES = Array.from({ length: 5 }, (_, index) => [
  { kind: "channel", observedAt, id: `UC${index}`, username: `channel${index}` },
  { kind: "short", observedAt, channel: "UC1", id: `s${index}`, publishedAt: observedAt },
]).flat();

beforeAll(async () => {
  sandbox = await openSandbox();
  child = startExample(sandbox.folder);
  const reader = child.stdout.pipeThrough(new TextDecoderStream()).getReader();
  const { value = "" } = await reader.read();
  address = /at (.*)\n/.exec(value)?.[1] ?? "";
  const text = LINES.map((line) => JSON.stringify(line)).join("\n");
  // The commands reach the database through the example.
  await sandbox.runOrThrow("import", await sandbox.write("lines.ndjson", text));
  await sandbox.runOrThrow("accounts", "create", "acme", "--credits", "1000");
  key = (await sandbox.runOrThrow("keys", "create", "acme")).trim();
}, 30_000);
afterAll(async () => {
  child.kill("SIGTERM");
  expect(await child.exited).toBe(0);
  await sandbox.close();
});

const get = (url: string, init: RequestInit = {}) =>
  fetch(url, { ...init, headers: { "x-api-key": key, ...init.headers } });

describe("mounted-service.ts", () => {
  test("has its own page, and nothing else outside the prefix", async () => {
    const { origin } = new URL(address);
    expect(address).toBe(`${origin}/metrics`);
    expect(await (await fetch(origin)).text()).toBe("The API is described at /metrics/swagger\n");
    for (const path of ["/api/video/channels", "/swagger", "/livez"]) {
      expect((await get(origin + path)).status).toBe(404);
    }
  });

  test("answers every kind of request below the prefix", async () => {
    for (const path of ["/livez", "/readyz", "/metrics"]) {
      expect((await fetch(address + path)).status).toBe(200);
    }
    const details = `${address}/api/video/channel2/details`;
    expect((await fetch(details)).status).toBe(401);
    const response = await get(details);
    expect(await response.json()).toMatchObject({ id: "UC2", username: "channel2" });
    const etag = response.headers.get("etag") ?? "";
    expect((await get(details, { headers: { "if-none-match": etag } })).status).toBe(304);
    const client = createClient({ baseUrl: address, apiKey: key });
    expect((await client.video.details(["channel1", "channel3"])).cost).toBe(2);
    expect((await client.creators.add("nasa.gov")).body.total_creators).toBe(1);
    const shorts = await Array.fromAsync(client.video.shorts("channel1", { limit: 2 }));
    expect(shorts.map(({ id }) => id).toSorted()).toEqual(["s0", "s1", "s2", "s3", "s4"]);
  });

  test("serves a target only if it begins with the route of its normalized path", async () => {
    const send = (target: string) =>
      sendRaw(address, `GET ${target} HTTP/1.1\r\nHost: a\r\nConnection: close\r\n\r\n`);
    expect(parseStatus(await send("/metrics/livez"))).toBe(200);
    for (const before of ["/metrics/swagger", "/metrics/x", "/metrics/readyz", "/x/../metrics"]) {
      for (const path of [String.raw`/..\livez`, "/../livez", String.raw`\..\..\metrics\livez`]) {
        expect([before + path, parseStatus(await send(before + path))]).toEqual([
          before + path,
          404,
        ]);
      }
    }
  });

  test("links each page to the next below the prefix, with the parameters of the request", async () => {
    let url: string | undefined = `${address}/api/video/channels?order=asc&limit=2`;
    const ids: string[] = [];
    while (url !== undefined) {
      const response: Response = await get(url);
      const { channels }: { channels: { id: string }[] } = JSON.parse(await response.text());
      ids.push(...channels.map(({ id }) => id));
      const target = /^<(.*)>; rel="next"$/.exec(response.headers.get("link") ?? "")?.[1];
      expect(target ?? "/metrics/api/video/channels?order=asc&limit=2").toStartWith(
        "/metrics/api/video/channels?order=asc&limit=2",
      );
      url = target && new URL(target, url).href;
    }
    expect(ids.toSorted()).toEqual(["UC0", "UC1", "UC2", "UC3", "UC4"]);
  });

  test.skipIf(!hasBrowser())(
    "its OpenAPI page calls operations below the prefix",
    async () => {
      const { page, faults, close } = await openPage(new URL(address).origin);
      try {
        await page.goto(`${address}/swagger`);
        await page.getByRole("button", { name: "Authorize" }).click();
        const dialog = page.locator(".dialog-ux");
        await dialog.getByLabel("Value:").first().fill(key);
        await dialog.getByRole("button", { name: "Apply credentials" }).first().click();
        await dialog.getByRole("button", { name: "Close" }).last().click();
        await page.getByText("List the available channels").click();
        const [response] = await Promise.all([
          page.waitForResponse((received) => received.url().includes("/api/")),
          page.getByRole("button", { name: "Execute" }).click(),
        ]);
        expect(response.url()).toStartWith(`${address}/api/video/channels`);
        expect(response.status()).toBe(200);
        expect(faults).toEqual([]);
      } finally {
        await close();
      }
    },
    60_000,
  );
});
