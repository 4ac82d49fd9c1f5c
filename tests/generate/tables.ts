/**
 * Generates the tables of documents that state what the code declares: settings, endpoints, headers
 * the administration API, metrics and alerts. `bun run generate` writes them, and `.env.example`.
 */
import { join } from "node:path";
import type { TSchema } from "@sinclair/typebox";
import { SETTINGS } from "../../server/config.ts";
import { API_PARTS } from "../../server/http/endpoints/endpoint.ts";
import { ENDPOINTS } from "../../server/http/endpoints/mod.ts";
import { createDocument } from "../../server/http/openapi/document.ts";
import reference from "../../server/http/openapi/reference.json";
import { listDeclaredMetrics } from "./metrics-table.ts";
import { readDoc, ROOT } from "../support/docs.ts";
import { readAlertRules } from "../support/monitoring.ts";

/** The columns of a line of `.env.example`. */
const LINE_COLUMNS = 100;

/** What the tables need of an operation of the OpenAPI document. */
interface DocumentedOperation {
  readonly summary: string;
  readonly description: string;
  readonly parameters?: readonly { name: string; in: string; required: boolean }[];
  readonly requestBody?: {
    readonly content: Readonly<Record<string, { schema: { readonly $ref?: string } }>>;
  };
}

const code = (text: string) => `\`${text}\``;
const formatRow = (cells: readonly string[]) => `| ${cells.join(" | ")} |`;

function formatTable(head: readonly string[], rows: readonly (readonly string[])[]): string {
  const lines = [formatRow(head), `|${"---|".repeat(head.length)}`, ...rows.map(formatRow)];
  return lines.map((line) => line.replaceAll("|  |", "| |")).join("\n");
}

function formatPrice({ part, price }: (typeof ENDPOINTS)[number]): string {
  const { cost } = API_PARTS[part];
  if (price !== undefined) return price.text.replace(/[,.].*/, "");
  return cost === 0 ? "nothing" : `${cost} credit`;
}

/** The fields of a body. */
function formatBody({ properties = {}, required = [] }: TSchema): string {
  const names = Object.keys(properties);
  const fields = names.map((name) => (required.includes(name) ? name : `${name}?`));
  return code(`{ ${fields.join(", ")} }`);
}

/** The parameters and the fields of the body of an operation; `?` marks what can be left out. */
function formatInputs(
  { parameters = [], requestBody }: DocumentedOperation,
  schemas: Readonly<Record<string, TSchema>>,
): string {
  const queries = parameters.filter((parameter) => parameter.in === "query");
  const names = queries.map(({ name, required }) => code(name) + (required ? "" : "?"));
  const schemaName = requestBody?.content["application/json"]?.schema.$ref?.replace(/.*\//, "");
  const schema = schemaName === undefined ? undefined : schemas[schemaName];
  return [...names, ...(schema === undefined ? [] : [formatBody(schema)])].join(", ");
}

/** The operations of the administration API with what they take. */
function createAdministrationTable(): string {
  const { paths, components } = createDocument();
  const administration = Object.entries(paths).filter(([path]) => path.startsWith("/admin/"));
  const rows = administration.flatMap(([path, methods]) =>
    Object.entries(methods as Record<string, DocumentedOperation>).map(([method, operation]) => [
      code(`${method.toUpperCase()} ${path}`),
      formatInputs(operation, components.schemas),
      `${operation.summary}. ${operation.description}`,
    ]),
  );
  return formatTable(["method and path", "parameters, body", "what it does"], rows);
}

const TABLES: Readonly<Record<string, () => string | Promise<string>>> = {
  settings: () =>
    formatTable(
      ["setting", "default", "allowed", "purpose"],
      SETTINGS.map(({ name, default: initial, allowed, description }) => [
        code(name),
        initial ? code(initial) : "none",
        allowed,
        description,
      ]),
    ),
  endpoints: () =>
    formatTable(
      ["method and path", "what it does", "cost"],
      ENDPOINTS.map((endpoint) => [
        code(endpoint.operation),
        endpoint.summary,
        formatPrice(endpoint),
      ]),
    ),
  headers: () =>
    formatTable(
      ["header", "meaning"],
      Object.entries(reference.headers).map(([name, { description }]) => [code(name), description]),
    ),
  administration: createAdministrationTable,
  alerts: async () =>
    formatTable(
      ["alert", "severity", "what to do"],
      (await readAlertRules()).map(({ alert, labels, annotations }) => [
        code(alert),
        labels["severity"] ?? "",
        annotations.description,
      ]),
    ),
  metrics: () =>
    formatTable(
      ["metric", "type", "labels", "meaning"],
      listDeclaredMetrics().map(({ name, type, labels, help }) => [
        code(name),
        type,
        labels.map(code).join(", "),
        help,
      ]),
    ),
};

/** The documents with generated tables. */
const DOCS = ["server/OPERATING.md", "server/API.md", "server/ADMINISTRATION.md"] as const;

/** Writes each table below its mark, in place of the one that is there. */
async function replaceTables(text: string): Promise<string> {
  const marks = /(<!-- `bun run generate` writes this table: (\w+) -->\n\n)(?:\|.*\n)*/g;
  const tables = new Map<string, string>();
  for (const [, , name = ""] of text.matchAll(marks)) {
    const createTable = TABLES[name];
    if (createTable === undefined) throw new Error(`There is no table ${name}`);
    tables.set(name, await createTable());
  }
  return text.replaceAll(
    marks,
    (_match, mark: string, name: string) => `${mark}${tables.get(name)}\n`,
  );
}

/** Breaks a text into lines of comments. */
function formatComment(text: string): string {
  const lines = text.match(new RegExp(`\\S.{0,${LINE_COLUMNS - 3}}(?=\\s|$)`, "g")) ?? [];
  return lines.map((line) => `# ${line}\n`).join("");
}

/** All settings with their defaults, to be copied to `.env`. */
function createEnvironmentExample(): string {
  const head = formatComment(
    "All settings with their defaults. Copy this file to .env. To change a setting, remove the # " +
      "before its name. A secret can be in a file: ADMIN_TOKEN_FILE=PATH. server/OPERATING.md describes all settings. `bun run generate` writes this file.",
  );
  const settings = SETTINGS.map(({ name, default: initial = "", allowed, description }) => {
    const comment = `${description}. Allowed: ${allowed}`;
    // A long list of allowed values stays on a line, so that none looks like a setting.
    const lines =
      comment.length <= LINE_COLUMNS - 2
        ? `# ${comment}\n`
        : `${formatComment(`${description}.`)}# Allowed: ${allowed}\n`;
    return `${lines}# ${name}=${initial}\n`;
  });
  return [head, ...settings].join("\n");
}

/** Generates the files, by their paths. */
export async function generateTables(): Promise<ReadonlyMap<string, string>> {
  const files = new Map([[join(ROOT, ".env.example"), createEnvironmentExample()]]);
  for (const path of DOCS) files.set(join(ROOT, path), await replaceTables(await readDoc(path)));
  return files;
}
