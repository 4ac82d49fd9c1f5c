/** The port of the metrics of a running service. */
import { afterEach, expect, test } from "bun:test";
import { sendRaw } from "../support/network/raw-http.ts";
import { openSandbox, type Sandbox } from "../support/processes/command-line.ts";

let sandbox: Sandbox | undefined;
afterEach(() => sandbox?.close());

test("serve has /metrics at METRICS_PORT, says where, and ends with SIGTERM", async () => {
  sandbox = await openSandbox({ METRICS_PORT: "0" });
  const service = await sandbox.serve();
  const [, url = ""] = /"url":"(http:[^"]+\/metrics)"/.exec(service.log()) ?? [];
  const response = await fetch(url);
  expect(response.status).toBe(200);
  expect(await response.text()).toContain("creator_metrics_commit_duration_seconds_count");
  expect((await fetch(new URL("/", url))).status).toBe(404);
  const { status, headers } = await fetch(url, { method: "POST" });
  expect([status, headers.get("allow")]).toEqual([405, "GET, HEAD"]);
  const withoutHost = await sendRaw(url, "GET /metrics HTTP/1.0\r\n\r\n");
  expect(withoutHost).toContain("creator_metrics_commit_duration_seconds_count");
  expect((await fetch(`${service.url}/metrics`)).status).toBe(401);
  expect((await service.stop()).status).toBe(0);
});

test("serve names METRICS_PORT if the port is in use", async () => {
  const other = Bun.serve({ port: 0, hostname: "127.0.0.1", fetch: () => new Response() });
  const port = String(other.port);
  sandbox = await openSandbox({ METRICS_PORT: port });
  const { status, err } = await sandbox.run(["serve"]);
  await other.stop(true);
  expect(status).toBe(1);
  expect(err).toContain(`Port ${port} of 127.0.0.1 is in use; end what listens there`);
  expect(err).toContain("or set METRICS_PORT to another one");
});
