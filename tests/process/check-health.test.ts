/** The command `health`, with a real service, and where there is none. */
import { afterAll, beforeAll, expect, test } from "bun:test";
import { runInProcess } from "../support/command-line-io.ts";
import { findFreePort } from "../support/network/free-port.ts";
import { openSandbox, type Sandbox } from "../support/processes/command-line.ts";

let sandbox: Sandbox;
beforeAll(async () => {
  sandbox = await openSandbox();
});
afterAll(() => sandbox.close());

const getPort = (url: string) => ({ PORT: new URL(url).port });

test("health prints the response of GET /readyz of the running service", async () => {
  const service = await sandbox.serve();
  for (const settings of [{}, { HOST: "0.0.0.0" }]) {
    const result = await runInProcess(["health"], { ...getPort(service.url), ...settings });
    const readiness = await (await fetch(`${service.url}/readyz`)).text();
    expect(result).toEqual({ status: 0, out: `${readiness}\n`, err: "" });
  }
  await service.stop();
  const { status, out, err } = await runInProcess(["health"], getPort(service.url));
  expect({ status, out }).toEqual({ status: 1, out: "" });
  expect(err).toBe(
    `${service.url}/readyz does not answer: ECONNREFUSED; start it with the same settings\n`,
  );
});

test("health finds the service below the path of PUBLIC_URL", async () => {
  const settings = { PUBLIC_URL: "https://example.com/creator-metrics" };
  const prefixed = await openSandbox(settings);
  const service = await prefixed.serve();
  const { status } = await runInProcess(["health"], { ...getPort(service.url), ...settings });
  const withoutPath = await runInProcess(["health"], getPort(service.url));
  expect([status, withoutPath.status]).toEqual([0, 1]);
  await service.stop();
  await prefixed.close();
});

test("health fails if something else listens", async () => {
  const other = Bun.serve({
    port: await findFreePort(),
    hostname: "127.0.0.1",
    fetch: () => new Response("Not here", { status: 404 }),
  });
  const { status, err } = await runInProcess(["health"], getPort(other.url.href));
  await other.stop(true);
  expect({ status, err }).toEqual({ status: 1, err: "The service is not ready: Not here\n" });
});

test("health says that PORT=0 names no port", async () => {
  const { status, err } = await runInProcess(["health"], { PORT: "0" });
  expect({ status, err }).toEqual({
    status: 1,
    err: "PORT is 0, which is no port to ask; set PORT to the port that the running service has\n",
  });
});
