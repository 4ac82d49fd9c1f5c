/** A real Prometheus scrapes a real service, runs the queries of the dashboard, and fires an alert. */
import { afterAll, beforeAll, describe, expect, test } from "bun:test";
import { join } from "node:path";
import { DEPLOY, listExpressions } from "../support/monitoring.ts";
import { findFreePort } from "../support/network/free-port.ts";
import { openSandbox, type Sandbox } from "../support/processes/command-line.ts";
import { waitUntil } from "../support/wait.ts";

const prometheus = Bun.which("prometheus");
const METRICS_TOKEN = "a-token-of-the-scraper";

interface Answer {
  readonly status: string;
  readonly error?: string;
  readonly data: {
    readonly activeTargets?: readonly { readonly health: string; readonly lastError: string }[];
    readonly alerts?: readonly {
      readonly labels: Record<string, string>;
      readonly state: string;
    }[];
    readonly result?: readonly unknown[];
  };
}

let sandbox: Sandbox;
let service: Awaited<ReturnType<Sandbox["serve"]>>;
let server: Bun.Subprocess | undefined;
let address: string;

/** While it starts, Prometheus refuses connections, and then answers 503 with a text. */
const ask = async (path: string): Promise<Answer> => {
  const response = await fetch(`${address}/api/v1/${path}`).catch(() => undefined);
  if (response === undefined || response.status === 503) return { status: "away", data: {} };
  return (await response.json()) as Answer;
};

/** The rules, which wait no longer than a second before they fire. */
async function writeConfiguration(): Promise<string> {
  const rules = await Bun.file(join(DEPLOY, "prometheus/alerts.yaml")).text();
  await sandbox.write("alerts.yaml", rules.replaceAll(/\bfor: \w+/g, "for: 1s"));
  await sandbox.write("metrics-token", METRICS_TOKEN);
  return sandbox.write(
    "prometheus.yaml",
    `
global: { scrape_interval: 1s, evaluation_interval: 1s }
rule_files: [alerts.yaml]
scrape_configs:
  - job_name: creator-metrics
    authorization: { credentials_file: metrics-token }
    static_configs: [{ targets: ["${new URL(service.url).host}"] }]
`,
  );
}

describe.skipIf(prometheus === null)("Prometheus", () => {
  beforeAll(async () => {
    sandbox = await openSandbox({ METRICS_TOKEN });
    await sandbox.runOrThrow("accounts", "create", "acme", "--credits", "10");
    const key = (await sandbox.runOrThrow("keys", "create", "acme")).trim();
    service = await sandbox.serve();
    await fetch(`${service.url}/api/video/soup/details`, { headers: { "x-api-key": key } });
    const port = await findFreePort();
    address = `http://127.0.0.1:${port}`;
    server = Bun.spawn(
      [
        "prometheus",
        `--config.file=${await writeConfiguration()}`,
        `--storage.tsdb.path=${join(sandbox.folder, "prometheus")}`,
        `--web.listen-address=127.0.0.1:${port}`,
      ],
      { stdout: "ignore", stderr: "ignore" },
    );
    const isScraped = async () =>
      (await ask("targets")).data.activeTargets?.[0]?.health === "up" &&
      ((await ask("query?query=up")).data.result?.length ?? 0) > 0;
    await waitUntil(isScraped, 40_000);
  }, 60_000);
  afterAll(async () => {
    server?.kill();
    await server?.exited;
    await service.stop("SIGKILL");
    await sandbox.close();
  });

  test("takes the metrics with METRICS_TOKEN, and finds accounts in them", async () => {
    const query = 'creator_metrics_account_credits_left_seconds{account="acme"}';
    const { data } = await ask(`query?query=${encodeURIComponent(query)}`);
    expect(data.result).toHaveLength(1);
    expect((await ask("targets")).data.activeTargets?.[0]?.lastError).toBe("");
  });

  test("runs every query of the alerts and the dashboard", async () => {
    for (const expr of await listExpressions()) {
      const { status, error } = await ask(`query?query=${encodeURIComponent(expr)}`);
      expect({ expr, status, error }).toEqual({ expr, status: "success", error: undefined });
    }
  });

  test("fires CreatorMetricsDown once the service is killed, and only then", async () => {
    const listFiring = async () =>
      ((await ask("alerts")).data.alerts ?? [])
        .filter(({ state }) => state === "firing")
        .map(({ labels }) => labels["alertname"]);
    expect(await listFiring()).not.toContain("CreatorMetricsDown");
    await service.stop("SIGKILL");
    await waitUntil(async () => (await listFiring()).includes("CreatorMetricsDown"), 20_000);
  }, 40_000);
});
