/** The alert rules and the dashboard, and the expressions in them. */
import { join } from "node:path";
import { ROOT } from "./docs.ts";

/** The folder of the files for operators. */
export const DEPLOY = join(ROOT, "server/deploy");

/** An alert rule. */
export interface AlertRule {
  readonly alert: string;
  readonly expr: string;
  readonly labels: Readonly<Record<string, string>>;
  readonly annotations: Readonly<Record<"summary" | "description", string>>;
}

/** A panel of a dashboard. A row has no targets. */
export interface DashboardPanel {
  readonly id: number;
  readonly type: string;
  readonly title: string;
  readonly gridPos: Readonly<Record<"h" | "w" | "x" | "y", number>>;
  readonly datasource?: unknown;
  readonly targets?: readonly { readonly expr: string; readonly datasource: unknown }[];
}

/** Reads the alert rules, in their order. */
export async function readAlertRules(): Promise<AlertRule[]> {
  const text = await Bun.file(join(DEPLOY, "prometheus/alerts.yaml")).text();
  const { groups } = Bun.YAML.parse(text) as { groups: { rules: AlertRule[] }[] };
  return groups.flatMap(({ rules }) => rules);
}

/** Reads the dashboard. */
export async function readDashboard(): Promise<
  Record<string, unknown> & { readonly panels: readonly DashboardPanel[] }
> {
  return Bun.file(join(DEPLOY, "grafana/dashboard.json")).json();
}

/** An expression as Prometheus takes it, with the variables of the dashboard filled in. */
export const fillVariables = (expr: string): string =>
  expr.replaceAll("$__rate_interval", "1m").replaceAll("$instance", ".*");

/** All expressions of the rules and the dashboard. */
export async function listExpressions(): Promise<string[]> {
  const rules = await readAlertRules();
  const { panels } = await readDashboard();
  const targets = panels.flatMap((panel) => panel.targets ?? []);
  return [...rules, ...targets].map(({ expr }) => fillVariables(expr));
}
