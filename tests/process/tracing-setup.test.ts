/** What switches tracing on and off, what is refused, and the last spans at the end of a service. */
import { afterAll, beforeAll, describe, expect, test } from "bun:test";
import { cp, mkdir, readdir, symlink } from "node:fs/promises";
import { join } from "node:path";
import { startTraceReceiver, type TraceReceiver } from "../support/network/trace-receiver.ts";
import { openSandbox, ROOT, type Sandbox } from "../support/processes/command-line.ts";

const UNREACHABLE = "http://127.0.0.1:1";

let receiver: TraceReceiver;
const sandboxes: Sandbox[] = [];
beforeAll(() => {
  receiver = startTraceReceiver();
});
afterAll(async () => {
  await Promise.all([receiver.stop(), ...sandboxes.map((sandbox) => sandbox.close())]);
});

const open = async (settings: Readonly<Record<string, string>>): Promise<Sandbox> => {
  const sandbox = await openSandbox(settings);
  sandboxes.push(sandbox);
  return sandbox;
};

/** Serves one request, and ends. @returns The status of the service, and its log. */
async function serveOnce(settings: Readonly<Record<string, string>>) {
  const service = await (await open(settings)).serve();
  await (await fetch(`${service.url}/api/creators`)).arrayBuffer();
  return service.stop();
}

describe("serve", () => {
  test("SIGTERM sends the spans that wait", async () => {
    const { status } = await serveOnce({
      OTEL_EXPORTER_OTLP_ENDPOINT: receiver.url,
      OTEL_BSP_SCHEDULE_DELAY: "600000",
      OTEL_SERVICE_NAME: "shop",
    });
    expect(status).toBe(0);
    const names = receiver.spans.map(({ name }) => name);
    expect(names.toSorted()).toEqual(["GET /api/creators", "admission"]);
    expect(receiver.spans[0]?.resource["service.name"]).toBe("shop");
    expect(receiver.faults).toEqual([]);
  });

  test("ends well, and says why, if no receiver takes the spans", async () => {
    const { status, log } = await serveOnce({ OTEL_EXPORTER_OTLP_ENDPOINT: UNREACHABLE });
    expect(status).toBe(0);
    expect(log).toContain('"reason":"they were not sent within 3000 ms"');
  }, 30_000);

  test.each([
    ["OTEL_SDK_DISABLED is true", { OTEL_SDK_DISABLED: "true" }],
    ["OTEL_TRACES_EXPORTER is none", { OTEL_TRACES_EXPORTER: "none" }],
    ["OTEL_TRACES_SAMPLER is always_off", { OTEL_TRACES_SAMPLER: "always_off" }],
  ])("sends nothing if %s", async (_, settings) => {
    const before = receiver.spans.length;
    await serveOnce({ OTEL_EXPORTER_OTLP_ENDPOINT: receiver.url, ...settings });
    expect(receiver.spans.length).toBe(before);
  });

  test.each([
    [{ OTEL_TRACES_EXPORTER: "zipkin" }, 'OTEL_TRACES_EXPORTER must be otlp or none, got "zipkin"'],
    [
      { OTEL_TRACES_EXPORTER: "otlp", OTEL_EXPORTER_OTLP_PROTOCOL: "grpc" },
      'OTEL_EXPORTER_OTLP_PROTOCOL must be http/protobuf, got "grpc"',
    ],
    [
      { OTEL_EXPORTER_OTLP_ENDPOINT: "localhost:4317" },
      "OTEL_EXPORTER_OTLP_ENDPOINT must be an http or https URL",
    ],
  ])("refuses %j", async (settings: Record<string, string>, message) => {
    const { status, err } = await (await open(settings)).run(["serve"]);
    expect([status, err]).toEqual([2, expect.stringContaining(message)]);
  });
});

/** A copy of the program, as installed without optional dependencies. */
async function copyWithoutSdk(folder: string): Promise<string> {
  const copy = join(folder, "copy");
  await mkdir(join(copy, "node_modules/@opentelemetry"), { recursive: true });
  for (const name of ["core", "server", "package.json", "tsconfig.json"]) {
    await cp(join(ROOT, name), join(copy, name), { recursive: true });
  }
  const modules = (await readdir(join(ROOT, "node_modules"))).filter(
    (name) => !["@opentelemetry", ".bin", ".cache"].includes(name),
  );
  for (const name of [...modules, "@opentelemetry/api"]) {
    await symlink(join(ROOT, "node_modules", name), join(copy, "node_modules", name));
  }
  return copy;
}

describe("without the optional packages", () => {
  test("serve says what to install, and runs if tracing is off", async () => {
    const { folder } = await open({});
    const copy = await copyWithoutSdk(folder);
    const run = async (settings: Readonly<Record<string, string>>) => {
      const child = Bun.spawn([process.execPath, join(copy, "server/main.ts"), "serve"], {
        cwd: folder,
        env: { PATH: process.env["PATH"] ?? "", PORT: "0", COLLECT: "off", ...settings },
        stderr: "pipe",
      });
      const log: string[] = [];
      for await (const piece of child.stderr) {
        log.push(new TextDecoder().decode(piece));
        if (log.join("").includes("Serving")) child.kill();
      }
      return { status: await child.exited, log: log.join("") };
    };
    const refused = await run({ OTEL_EXPORTER_OTLP_ENDPOINT: receiver.url });
    expect(refused.log).toContain("bun add @opentelemetry/core @opentelemetry/exporter-trace-otlp");
    expect(refused.status).toBe(2);
    expect((await run({})).log).toContain("Serving");
  }, 60_000);
});
