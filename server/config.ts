/** All settings with their documentation, and the reader of their values from the environment. */
import { parseInteger } from "../core/parameters.ts";
import { parseRetentionPolicy, RETENTION_SYNTAX } from "../core/retention.ts";
import { selectSources, SOURCE_SETTINGS, type SelectedSources } from "./collectors/sources.ts";
import { checkedText, oneOf, WEB_URL, type Setting } from "./settings.ts";

/** Whether a file URL is unambiguous: no host, query, fragment, or invisible space at its end. */
function isFileUrl(text: string): boolean {
  if (!/^file:(?!:memory:)(?!\/\/(?!\/))[^?#]*[^?#\s]$/.test(text)) return false;
  try {
    return !decodeURIComponent(text).includes("\0");
  } catch {
    return false;
  }
}

function decodeWebhookSecret(text: string): Uint8Array | undefined {
  const [, base64] = /^whsec_([A-Za-z0-9+/]+={0,2})$/.exec(text) ?? [];
  const bytes = Buffer.from(base64 ?? "", "base64");
  // Buffer ignores characters that are not Base64, and a missing end.
  const isAllowed = bytes.toString("base64") === base64 && bytes.length >= 24 && bytes.length <= 64;
  return isAllowed ? bytes : undefined;
}

function parseOrigins(text: string): string[] | undefined {
  const origins = text === "" ? [] : text.split(",").map((origin) => origin.trim());
  const isOrigin = (origin: string) =>
    origin === "*" ||
    (URL.canParse(origin) && new URL(origin).origin === origin && origin !== "null");
  return origins.every(isOrigin) ? origins : undefined;
}

function integerBetween(min: number, max: number) {
  return {
    allowed: `a whole number from ${min} to ${max}`,
    parse: (text: string) => parseInteger(text, { min, max }),
  };
}

const FOLDER_PATH = checkedText("the path of a folder", (text) => !text.includes("\0"));

/** An idempotency key works for a day, and names the debit that paid, which must still exist. */
const JOURNAL_DAYS_MIN = 2;

const SETTING_BY_NAME = {
  PORT: {
    default: "3000",
    description: "The port to listen on; 0 selects a free port",
    ...integerBetween(0, 65_535),
  },
  HOST: {
    default: "127.0.0.1",
    description: "The address to listen on; 0.0.0.0 means all IPv4 addresses",
    ...checkedText("an address or a host name", (text) => /^[A-Za-z0-9_.:-]+$/.test(text)),
  },
  DATABASE_URL: {
    default: "file:./data/metrics.db",
    description: "The database: a file, or a libSQL server",
    ...checkedText(
      "file:PATH (%3F, %23 and %25 stand for ?, # and %), " +
        "libsql://…, http://…, https://…, ws://… or wss://…",
      (text) => isFileUrl(text) || /^(?:libsql|https?|wss?):\/\/.+$/s.test(text),
    ),
  },
  DATABASE_AUTH_TOKEN: {
    description: "The authentication token for a libSQL server",
    ...checkedText("a text without spaces", (text) => /^\S+$/.test(text)),
  },
  DURABILITY: {
    default: "power",
    description:
      "What the record of a charge survives: a power cut, or only the end of the process",
    ...oneOf("power", "process"),
  },
  SPOOL_FOLDER: {
    default: "./data/spool",
    description: "The folder for refunds that a process could not apply before it ended",
    ...FOLDER_PATH,
  },
  BACKUP_FOLDER: {
    default: "./data/backups",
    description: "The folder for backups that are made through the administration API over HTTP",
    ...FOLDER_PATH,
  },
  RATE_LIMIT: {
    description:
      "How many requests per minute an API key may send to each process; by default there is no limit",
    ...integerBetween(1, 1_000_000),
  },
  CREATORS_MAX: {
    default: "10000",
    description: "The maximum number of creators in the monitoring list",
    ...integerBetween(1, 1_000_000),
  },
  ADMIN_TOKEN: {
    description:
      "A bearer token of the administration API, besides those of tokens create; without any, /admin is not served",
    ...checkedText(
      "16 or more visible characters, at least 8 of them different; " +
        "openssl rand -hex 32 generates one",
      (text) => /^[\x21-\x7e]{16,}$/.test(text) && new Set(text).size >= 8,
    ),
  },
  LOG_LEVEL: {
    default: "info",
    description: "The lowest level that is logged; debug logs every request",
    ...oneOf("debug", "info", "warning", "error"),
  },
  CORS_ORIGINS: {
    default: "",
    description: "The origins of web pages that may call the service",
    allowed: "origins such as https://example.com, separated by commas, or *",
    parse: parseOrigins,
  },
  RETENTION: {
    default: "",
    description: "How long observations of each kind are kept; by default all are kept",
    allowed: RETENTION_SYNTAX,
    parse: (text) => (text === "" ? {} : parseRetentionPolicy(text)),
  },
  JOURNAL_DAYS: {
    default: "35",
    description: "How many days debits are kept one by one; older ones are added up by hour",
    ...integerBetween(JOURNAL_DAYS_MIN, 36_500),
  },
  WEBHOOK_URL: {
    description: "The URL that receives notices about low balances; without it, none are sent",
    ...WEB_URL,
  },
  WEBHOOK_SECRET: {
    description: "The secret that signs the notices",
    allowed: "whsec_ and 24 to 64 bytes in Base64; echo whsec_$(openssl rand -base64 32) makes one",
    parse: decodeWebhookSecret,
  },
  COLLECT: {
    default: "on",
    description: "Whether serve collects data of the monitored creators and tracked channels",
    ...oneOf("on", "off"),
  },
} as const satisfies Record<string, Omit<Setting, "name">>;

/** All settings. A test compares them and their order with the documentation. */
export const SETTINGS: readonly Setting[] = [
  ...Object.entries(SETTING_BY_NAME).map(([name, setting]) => Object.assign({ name }, setting)),
  ...SOURCE_SETTINGS,
];

/** The field of {@link Config} for a setting: `databaseUrl` for `DATABASE_URL`. */
type FieldOf<Name extends string> = Name extends `${infer First}_${infer Rest}`
  ? `${Lowercase<First>}${Capitalize<FieldOf<Rest>>}`
  : Lowercase<Name>;

const toField = (name: string) =>
  name.toLowerCase().replace(/_./g, ([, letter = ""]) => letter.toUpperCase());

type ValueOf<Of extends Omit<Setting, "name">> = Of extends { readonly default: string }
  ? NonNullable<ReturnType<Of["parse"]>>
  : ReturnType<Of["parse"]>;

/** The values of the settings; `undefined` if a setting is not set and has no default. */
export type Config = {
  readonly [Name in keyof typeof SETTING_BY_NAME as FieldOf<Name>]: ValueOf<
    (typeof SETTING_BY_NAME)[Name]
  >;
} & { readonly sources: SelectedSources };

export const redactUrl = (url: string): string =>
  url.replace(/\/\/[^/?#]*@/, "//…@").replace(/([?&]authToken=)[^&#]*/g, "$1…");

export class ConfigError extends Error {
  override readonly name = "ConfigError";
}

/** Reads the settings; empty means not set. @throws {ConfigError} Lists all wrong settings. */
export function readConfig(environment: Readonly<Record<string, string | undefined>>): Config {
  const problems: string[] = [];
  const readSetting = ({ name, allowed, default: initial, parse }: Setting): unknown => {
    const text = environment[name] || initial;
    const value = text === undefined ? undefined : parse(text);
    if (text !== undefined && value === undefined) {
      const isSecret = /_(?:TOKEN|KEY|SECRET)$/.test(name);
      const shown = isSecret ? "something else" : JSON.stringify(redactUrl(text));
      problems.push(`${name} must be ${allowed}, got ${shown}`);
    }
    return value;
  };
  const values = Object.entries(SETTING_BY_NAME).map(
    ([name, setting]) => [toField(name), readSetting({ name, ...setting })] as const,
  );
  const sources = selectSources(readSetting, problems);
  const config = { ...Object.fromEntries(values), sources } as Config;
  if (config.webhookUrl !== undefined && !environment["WEBHOOK_SECRET"]) {
    problems.push("WEBHOOK_URL is set, which needs WEBHOOK_SECRET");
  }
  if (problems.length > 0) throw new ConfigError(problems.join("\n"));
  return config;
}
