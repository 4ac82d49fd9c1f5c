/** The alert rules and the dashboard name only what `/metrics` of a real service has. */
import { afterAll, beforeAll, describe, expect, test } from "bun:test";
import { join } from "node:path";
import { listDeclaredMetrics } from "../generate/metrics-table.ts";
import { ROOT } from "../support/docs.ts";
import {
  DEPLOY,
  listExpressions,
  readAlertRules,
  readDashboard,
  type DashboardPanel,
} from "../support/monitoring.ts";
import { startTestService, type TestService } from "../support/service.ts";

const METRICS_TOKEN = "a-token-of-the-scraper";
const promtool = Bun.which("promtool");

/** What Prometheus itself adds to each series. */
const TARGET_LABELS = new Set(["job", "instance"]);

/** Metrics that a process has only in some deployments. */
const OPTIONAL_METRICS = new Set([
  "creator_metrics_replica_reads_total",
  "creator_metrics_replica_away",
  "creator_metrics_unpublished_changes",
  "creator_metrics_backup_age_seconds",
  "creator_metrics_backup_failing",
]);

let service: TestService;
let text: string;
const names: string[] = [];
const valuesByLabel = new Map<string, Set<string>>();
beforeAll(async () => {
  service = await startTestService({ METRICS_TOKEN });
  await service.get("/api/video/nobody/details");
  const headers = { authorization: `Bearer ${METRICS_TOKEN}` };
  text = await (await service.send("/metrics", { headers })).text();
  for (const [, name = "", labels = ""] of text.matchAll(/^(\w+)(?:\{(.*)\})? \S+$/gm)) {
    names.push(name);
    for (const [, label, value = ""] of labels.matchAll(/(\w+)="([^"]*)"/g)) {
      const key = `${name} ${label}`;
      valuesByLabel.set(key, (valuesByLabel.get(key) ?? new Set()).add(value));
    }
  }
});
afterAll(() => service.close());

/** The selectors of an expression: the names of metrics, with the conditions on their labels. */
const listSelectors = (expr: string) =>
  Array.from(
    expr.matchAll(/\b((?:creator_metrics|http|process|nodejs)_\w+|up)\b(?:\{([^}]*)\})?/g),
    ([, name = "", conditions = ""]) => ({
      name,
      conditions: Array.from(
        conditions.matchAll(/(\w+)\s*(=~|=|!=|!~)\s*"([^"]*)"/g),
        ([, label = "", operator = "", value = ""]) => ({ label, operator, value }),
      ),
    }),
  );

describe("alerts.yaml and dashboard.json", () => {
  test("name only metrics and labels that /metrics has", async () => {
    const expressions = await listExpressions();
    const selectors = expressions.flatMap(listSelectors);
    expect(selectors.length).toBeGreaterThan(60);
    const declared = new Set(listDeclaredMetrics().map(({ name }) => name));
    const unknown = selectors.filter(({ name, conditions }) => {
      if (name === "up") return false;
      if (OPTIONAL_METRICS.has(name)) return !declared.has(name);
      const own = conditions.filter(({ label }) => !TARGET_LABELS.has(label));
      return (
        !names.includes(name) ||
        own.some(({ label, operator, value }) => {
          const values = valuesByLabel.get(`${name} ${label}`);
          return values === undefined || (operator === "=" && !values.has(value));
        })
      );
    });
    expect(unknown).toEqual([]);
  });

  test("show every metric that the service declares, but for a few", async () => {
    const used = new Set((await listExpressions()).flatMap(listSelectors).map(({ name }) => name));
    const isUsed = (name: string) =>
      ["", "_bucket", "_count", "_sum"].some((suffix) => used.has(name + suffix));
    const unused = listDeclaredMetrics().filter(({ name }) => !isUsed(name));
    expect(unused.map(({ name }) => name)).toEqual([
      "creator_metrics_admin_session_reads_total",
      "creator_metrics_backup_duration_seconds",
      "creator_metrics_backup_size_bytes",
      "creator_metrics_backups_total",
      "creator_metrics_cache_entries",
      "creator_metrics_collector_failed_total",
      "creator_metrics_collector_observations_total",
      "creator_metrics_collector_observed_total",
      "creator_metrics_collector_state_age_seconds",
      "creator_metrics_pictures_total",
      "creator_metrics_spool_bytes",
    ]);
  });
});

describe("GET /metrics", () => {
  test("names metrics by the conventions of Prometheus", () => {
    const declared = listDeclaredMetrics();
    expect(declared.length).toBeGreaterThan(30);
    for (const { name, help, type } of declared) {
      expect(name).toMatch(/^(?:creator_metrics|http)_[a-z_]+[a-z]$/);
      expect(name.endsWith("_total")).toBe(type === "counter");
      expect(name).not.toMatch(/_(?:ms|milliseconds|minutes|kilobytes|count|sum|bucket)$/);
      expect(help).toMatch(/^[A-Z1]/);
    }
  });

  test.skipIf(promtool === null)("promtool check metrics finds nothing to say", async () => {
    const child = Bun.spawn(["promtool", "check", "metrics"], {
      stdin: new Blob([text]),
      stderr: "pipe",
    });
    const err = await child.stderr.text();
    expect([await child.exited, err]).toEqual([0, ""]);
  });
});

describe("alerts.yaml", () => {
  test("says of each alert how bad it is, what is wrong, and what to do", async () => {
    const rules = await readAlertRules();
    expect(new Set(rules.map(({ alert }) => alert)).size).toBe(rules.length);
    for (const { alert, labels, annotations } of rules) {
      expect(alert).toMatch(/^CreatorMetrics[A-Z]\w+$/);
      expect(["critical", "warning", "info"]).toContain(labels["severity"] ?? "");
      expect(annotations.summary).not.toBeEmpty();
      expect(annotations.description).toEndWith(".");
    }
  });

  test.skipIf(promtool === null)("each alert fires in trouble, and not before", async () => {
    const run = async (...command: string[]) => {
      const child = Bun.spawn(["promtool", ...command], { stdout: "pipe", stderr: "pipe" });
      const [out, err] = await Promise.all([child.stdout.text(), child.stderr.text()]);
      return { status: await child.exited, output: out + err };
    };
    const checked = await run("check", "rules", join(DEPLOY, "prometheus/alerts.yaml"));
    expect(checked).toEqual({ status: 0, output: expect.stringContaining("SUCCESS") });
    const tested = await run("test", "rules", join(ROOT, "tests/deploy/alert-rules.yaml"));
    expect(tested).toEqual({ status: 0, output: expect.stringContaining("SUCCESS") });
  });
});

const overlaps = ({ gridPos: first }: DashboardPanel, { gridPos: second }: DashboardPanel) =>
  first.x < second.x + second.w &&
  second.x < first.x + first.w &&
  first.y < second.y + second.h &&
  second.y < first.y + first.h;

describe("dashboard.json", () => {
  test("has panels with queries, of its data source, that fit the grid and do not overlap", async () => {
    const { panels, ...dashboard } = await readDashboard();
    const datasource = { type: "prometheus", uid: "${datasource}" };
    expect(dashboard).toMatchObject({
      uid: "creator-metrics",
      schemaVersion: expect.any(Number),
      templating: { list: [{ name: "datasource", type: "datasource" }, { name: "instance" }] },
    });
    // Otherwise an import would replace a dashboard of the same number.
    expect(dashboard).not.toHaveProperty("id");
    expect(new Set(panels.map(({ id }) => id)).size).toBe(panels.length);
    for (const panel of panels) {
      const { h, w, x, y } = panel.gridPos;
      expect(x >= 0 && y >= 0 && w > 0 && h > 0 && x + w <= 24).toBe(true);
      expect(panels.filter((other) => overlaps(panel, other))).toEqual([panel]);
      if (panel.type === "row") continue;
      expect(["timeseries", "stat"]).toContain(panel.type);
      expect(panel.datasource).toEqual(datasource);
      for (const target of panel.targets ?? []) expect(target.datasource).toEqual(datasource);
      expect(panel.targets).not.toBeEmpty();
    }
  });
});
