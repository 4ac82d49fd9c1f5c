/** Reads the settings from environment variables, and checks them once at the start. */
import type { CollectorSettings } from "./collectors/create-collectors.ts";
import { parseInteger } from "../core/parameters.ts";
import { parseRetentionPolicy, RETENTION_SYNTAX, type RetentionPolicy } from "../core/retention.ts";

/** The levels of the log, each of which includes the later ones. */
const LOG_LEVELS = ["debug", "info", "warning", "error"] as const;

const MICROBLOG_SOURCES = ["x", "bluesky"] as const;

/** The settings of the service. */
export interface Config {
  readonly port: number;
  readonly host: string;
  readonly databaseUrl: string;
  readonly databaseAuthToken: string | undefined;
  readonly durability: "power" | "process";
  /** The folder of refunds that a process could not apply before it ended. */
  readonly spoolFolder: string;
  /** Requests a minute of each API key; without it there is no limit. */
  readonly rateLimit: number | undefined;
  readonly creatorsMax: number;
  readonly adminToken: string | undefined;
  readonly logLevel: (typeof LOG_LEVELS)[number];
  /** The origins of pages that may call the service; `*` is every origin. */
  readonly corsOrigins: readonly string[];
  /** How long observations are kept; kinds without a rule are kept forever. */
  readonly retention: RetentionPolicy;
  /** Whether `serve` collects. */
  readonly isCollecting: boolean;
  readonly collectors: CollectorSettings;
}

/** The documentation and the check of a setting. */
export interface Setting {
  readonly name: string;
  readonly default?: string;
  readonly description: string;
  readonly allowed: string;
  isAllowed(value: string): boolean;
}

/**
 * Whether a file URL is unambiguous: it has no host, no query, no fragment, and no invisible space
 * at its end.
 */
function isFileUrl(value: string): boolean {
  if (!/^file:(?!:memory:)(?!\/\/(?!\/))[^?#]*[^?#\s]$/.test(value)) return false;
  try {
    return !decodeURIComponent(value).includes("\0");
  } catch {
    return false;
  }
}

/** The check of an integer, both bounds included. */
function integerBetween(min: number, max: number) {
  return {
    allowed: `a whole number from ${min} to ${max}`,
    isAllowed(value: string) {
      const integer = parseInteger(value);
      return integer !== undefined && integer >= min && integer <= max;
    },
  };
}

function isOrigin(text: string): boolean {
  if (text === "*") return true;
  return URL.canParse(text) && new URL(text).origin === text && text !== "null";
}

const WEB_URL = {
  allowed: "an http or https URL",
  isAllowed: (value: string) => URL.canParse(value) && /^https?:$/.test(new URL(value).protocol),
};

const SOURCE_SECRET = {
  allowed: "8 characters or more, without spaces",
  isAllowed: (value: string) => /^\S{8,}$/.test(value),
};

/** All settings, in the order of the documentation, which a test compares with them. */
export const SETTINGS: readonly Setting[] = [
  {
    name: "PORT",
    default: "3000",
    description: "The port to listen on; 0 takes a free one",
    ...integerBetween(0, 65_535),
  },
  {
    name: "HOST",
    default: "127.0.0.1",
    description: "The address to listen on; 0.0.0.0 listens on all",
    allowed: "an address or a host name",
    isAllowed: (value) => /^[A-Za-z0-9_.:-]+$/.test(value),
  },
  {
    name: "DATABASE_URL",
    default: "file:./data/metrics.db",
    description: "The database: a file, or a libSQL server",
    allowed:
      "file:PATH (%3F, %23 and %25 for ?, # and %), " +
      "libsql://…, http://…, https://…, ws://… or wss://…",
    isAllowed: (value) => isFileUrl(value) || /^(?:libsql|https?|wss?):\/\/.+$/s.test(value),
  },
  {
    name: "DATABASE_AUTH_TOKEN",
    description: "The token for a libSQL server",
    allowed: "a text without spaces",
    isAllowed: (value) => /^\S+$/.test(value),
  },
  {
    name: "DURABILITY",
    default: "power",
    description:
      "What the record of a charged request survives: a power cut, or the end of the process",
    allowed: "power or process",
    isAllowed: (value) => value === "power" || value === "process",
  },
  {
    name: "SPOOL_FOLDER",
    default: "./data/spool",
    description: "Where a process leaves refunds that it could not apply before it ended",
    allowed: "the path of a folder",
    isAllowed: (value) => !value.includes("\0"),
  },
  {
    name: "RATE_LIMIT",
    description:
      "Requests a minute that each API key may send to each process; not limited by default",
    ...integerBetween(1, 1_000_000),
  },
  {
    name: "CREATORS_MAX",
    default: "10000",
    description: "The most creators that the monitoring list can hold",
    ...integerBetween(1, 1_000_000),
  },
  {
    name: "ADMIN_TOKEN",
    description: "Serves the administration API under /admin, to requests with this bearer token",
    allowed:
      "16 or more visible characters, at least 8 different ones: openssl rand -hex 32 makes one",
    isAllowed: (value) => /^[\x21-\x7e]{16,}$/.test(value) && new Set(value).size >= 8,
  },
  {
    name: "LOG_LEVEL",
    default: "info",
    description: "How much is logged; debug logs every request",
    allowed: LOG_LEVELS.join(", "),
    isAllowed: (value) => LOG_LEVELS.some((level) => level === value),
  },
  {
    name: "CORS_ORIGINS",
    description: "The origins of web pages that may call the service",
    allowed: "origins such as https://example.com, separated by commas, or *",
    isAllowed: (value) => value.split(",").every((origin) => isOrigin(origin.trim())),
  },
  {
    name: "RETENTION",
    description: "How long observations are kept, by kind; by default all are kept",
    allowed: RETENTION_SYNTAX,
    isAllowed: (value) => parseRetentionPolicy(value) !== undefined,
  },
  {
    name: "COLLECT",
    default: "on",
    description: "Whether serve collects the monitored creators and tracked channels",
    allowed: "on or off",
    isAllowed: (value) => value === "on" || value === "off",
  },
  {
    name: "YOUTUBE_API_KEY",
    description: "The key of the YouTube Data API; without it no channels are collected",
    ...SOURCE_SECRET,
  },
  {
    name: "YOUTUBE_API_URL",
    default: "https://www.googleapis.com/youtube/v3",
    description: "The URL of the YouTube Data API",
    ...WEB_URL,
  },
  {
    name: "MICROBLOG_SOURCE",
    description:
      "Where creators are collected from; by default x if X_BEARER_TOKEN is set, else bluesky",
    allowed: "x (with X_BEARER_TOKEN) or bluesky",
    isAllowed: (value) => MICROBLOG_SOURCES.some((source) => source === value),
  },
  {
    name: "X_BEARER_TOKEN",
    description: "The token for the X API",
    ...SOURCE_SECRET,
  },
  {
    name: "X_API_URL",
    default: "https://api.x.com",
    description: "The URL of the X API",
    ...WEB_URL,
  },
  {
    name: "BLUESKY_API_URL",
    default: "https://public.api.bsky.app",
    description: "The URL of Bluesky's public API",
    ...WEB_URL,
  },
];

/** Hides the password and the token that a URL may hold. */
export function redactUrl(url: string): string {
  return url.replace(/\/\/[^/?#]*@/, "//…@").replace(/([?&]authToken=)[^&#]*/g, "$1…");
}

/** The error of settings that are not allowed. */
export class ConfigError extends Error {
  override readonly name = "ConfigError";
}

/**
 * Reads the settings. An empty environment variable counts as not set.
 *
 * @throws {ConfigError} Naming each wrong setting, what is allowed and what it is.
 */
export function readConfig(environment: Readonly<Record<string, string | undefined>>): Config {
  const values = new Map<string, string>();
  const problems: string[] = [];
  for (const setting of SETTINGS) {
    const value = environment[setting.name] || setting.default;
    if (value === undefined) continue;
    values.set(setting.name, value);
    if (!setting.isAllowed(value)) {
      const isSecret = /_(?:TOKEN|KEY)$/.test(setting.name);
      const shown = isSecret ? "something else" : JSON.stringify(redactUrl(value));
      problems.push(`${setting.name} must be ${setting.allowed}, got ${shown}`);
    }
  }
  if (values.get("MICROBLOG_SOURCE") === "x" && !values.has("X_BEARER_TOKEN")) {
    problems.push("MICROBLOG_SOURCE is x, which needs X_BEARER_TOKEN");
  }
  if (problems.length > 0) throw new ConfigError(problems.join("\n"));
  const get = (name: string) => values.get(name) ?? "";
  const rateLimit = values.get("RATE_LIMIT");
  const corsOrigins = values.get("CORS_ORIGINS")?.split(",") ?? [];
  return {
    port: Number(get("PORT")),
    host: get("HOST"),
    databaseUrl: get("DATABASE_URL"),
    databaseAuthToken: values.get("DATABASE_AUTH_TOKEN"),
    durability: get("DURABILITY") === "process" ? "process" : "power",
    spoolFolder: get("SPOOL_FOLDER"),
    rateLimit: rateLimit === undefined ? undefined : Number(rateLimit),
    creatorsMax: Number(get("CREATORS_MAX")),
    adminToken: values.get("ADMIN_TOKEN"),
    logLevel: LOG_LEVELS.find((level) => level === get("LOG_LEVEL")) ?? "info",
    corsOrigins: corsOrigins.map((origin) => origin.trim()),
    retention: parseRetentionPolicy(get("RETENTION")) ?? {},
    isCollecting: get("COLLECT") === "on",
    collectors: {
      youtubeApiKey: values.get("YOUTUBE_API_KEY"),
      youtubeApiUrl: get("YOUTUBE_API_URL"),
      xBearerToken: values.get("X_BEARER_TOKEN"),
      xApiUrl: get("X_API_URL"),
      blueskyApiUrl: get("BLUESKY_API_URL"),
      microblogSource: MICROBLOG_SOURCES.find((source) => source === get("MICROBLOG_SOURCE")),
    },
  };
}

/**
 * Lists the settings for the help of the command line.
 *
 * @param formatItem Formats one setting: its name, the width of the longest name, its description.
 */
export function formatSettingsHelp(
  formatItem: (name: string, width: number, description: string) => string,
): string {
  const width = Math.max(...SETTINGS.map(({ name }) => name.length));
  const lines = SETTINGS.map(({ name, description, allowed, default: initial }) => {
    const defaultNote = initial === undefined ? "" : `; default ${initial}`;
    return `${formatItem(name, width, `${description} (${allowed}${defaultNote})`)}\n`;
  });
  return lines.join("");
}
