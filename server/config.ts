/** Settings: environment variables, read and checked once at start. */
import type { CollectorSettings } from "./collectors/create-collectors.ts";
import { parseInteger } from "../core/parameters.ts";
import { parseRetentionPolicy, RETENTION_SYNTAX, type RetentionPolicy } from "../core/retention.ts";

/** How much is logged: this level and what is worse. */
const LOG_LEVELS = ["debug", "info", "warning", "error"] as const;

/** The settings of the service. */
export interface Config {
  readonly port: number;
  readonly host: string;
  readonly databaseUrl: string;
  readonly databaseAuthToken?: string;
  readonly durability: "power" | "process";
  /** The folder of refunds that a process could not give back before it ended. */
  readonly spoolFolder: string;
  /** Requests a minute of a key; without it there is no limit. */
  readonly rateLimit?: number;
  /** How many creators the monitoring list holds at most. */
  readonly creatorsMax: number;
  readonly adminToken?: string;
  readonly logLevel: (typeof LOG_LEVELS)[number];
  /** The origins whose pages may call the service; `*` is every origin. */
  readonly corsOrigins: readonly string[];
  /** How long observations are kept; what has no rule is kept for good. */
  readonly retention: RetentionPolicy;
  /** Whether `serve` collects what is watched. */
  readonly isCollecting: boolean;
  readonly collectors: CollectorSettings;
}

/** A setting: its default as text, what it is for, what is allowed. */
export interface Setting {
  readonly name: string;
  readonly default: string | undefined;
  readonly description: string;
  readonly allowed: string;
  isAllowed(value: string): boolean;
}

/**
 * Whether a URL names a file the same way to all who read it: no host, no query, no fragment, and
 * no space at its end, which nobody sees.
 */
function isFileUrl(value: string): boolean {
  if (!/^file:(?!:memory:)(?!\/\/(?!\/))[^?#]*[^?#\s]$/.test(value)) return false;
  try {
    return !decodeURIComponent(value).includes("\0");
  } catch {
    return false;
  }
}

function isIntegerBetween(value: string, min: number, max: number): boolean {
  const number = parseInteger(value);
  return number !== undefined && number >= min && number <= max;
}

function isOrigin(text: string): boolean {
  if (text === "*") return true;
  return URL.canParse(text) && new URL(text).origin === text && text !== "null";
}

function isWebUrl(text: string): boolean {
  return URL.canParse(text) && /^https?:$/.test(new URL(text).protocol);
}

/** Every setting. The documents list them from here, and a test holds them to it. */
export const SETTINGS: readonly Setting[] = [
  {
    name: "PORT",
    default: "3000",
    description: "The port to listen on; 0 takes a free one",
    allowed: "a whole number from 0 to 65535",
    isAllowed: (value) => isIntegerBetween(value, 0, 65_535),
  },
  {
    name: "HOST",
    default: "127.0.0.1",
    description: "The address to listen on; 0.0.0.0 is every one",
    allowed: "an address or a host name",
    isAllowed: (value) => /^[A-Za-z0-9_.:-]+$/.test(value),
  },
  {
    name: "DATABASE_URL",
    default: "file:./data/metrics.db",
    description: "The database file, or a libSQL server",
    allowed:
      "file:PATH (%3F, %23 and %25 for ?, # and %), " +
      "libsql://…, http://…, https://…, ws://… or wss://…",
    isAllowed: (value) => isFileUrl(value) || /^(?:libsql|https?|wss?):\/\/.+$/s.test(value),
  },
  {
    name: "DATABASE_AUTH_TOKEN",
    default: undefined,
    description: "The token for a libSQL server",
    allowed: "a text without spaces",
    isAllowed: (value) => /^\S+$/.test(value),
  },
  {
    name: "DURABILITY",
    default: "power",
    description: "What a charged answer survives: a power cut, or the death of the process",
    allowed: "power or process",
    isAllowed: (value) => value === "power" || value === "process",
  },
  {
    name: "SPOOL_FOLDER",
    default: "./data/spool",
    description: "Where refunds wait that a process could not give back before it ended",
    allowed: "the path of a folder",
    isAllowed: (value) => !value.includes("\0"),
  },
  {
    name: "RATE_LIMIT",
    default: undefined,
    description: "Requests a minute that each key may send, to each process; none is no limit",
    allowed: "a whole number from 1 to 1000000",
    isAllowed: (value) => isIntegerBetween(value, 1, 1_000_000),
  },
  {
    name: "CREATORS_MAX",
    default: "10000",
    description: "How many creators the monitoring list holds at most",
    allowed: "a whole number from 1 to 1000000",
    isAllowed: (value) => isIntegerBetween(value, 1, 1_000_000),
  },
  {
    name: "ADMIN_TOKEN",
    default: undefined,
    description: "Opens the administrator's interface under /admin to who sends it as a bearer",
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
    default: undefined,
    description: "The origins whose pages may call the service",
    allowed: "origins such as https://example.com, separated by commas, or *",
    isAllowed: (value) => value.split(",").every((origin) => isOrigin(origin.trim())),
  },
  {
    name: "RETENTION",
    default: undefined,
    description: "How long the observations of a kind are kept; none keeps them all",
    allowed: RETENTION_SYNTAX,
    isAllowed: (value) => parseRetentionPolicy(value) !== undefined,
  },
  {
    name: "COLLECT",
    default: "on",
    description: "Whether serve collects the creators and channels that are watched",
    allowed: "on or off",
    isAllowed: (value) => value === "on" || value === "off",
  },
  {
    name: "YOUTUBE_API_KEY",
    default: undefined,
    description: "The key of the YouTube Data API; without it no channels are collected",
    allowed: "8 characters or more, without spaces",
    isAllowed: (value) => /^\S{8,}$/.test(value),
  },
  {
    name: "YOUTUBE_API_URL",
    default: "https://www.googleapis.com/youtube/v3",
    description: "Where the YouTube Data API is",
    allowed: "an http or https URL",
    isAllowed: isWebUrl,
  },
  {
    name: "MICROBLOG_SOURCE",
    default: undefined,
    description:
      "Where creators are observed; without it x where X_BEARER_TOKEN is set, else bluesky",
    allowed: "x (with X_BEARER_TOKEN) or bluesky",
    isAllowed: (value) => value === "x" || value === "bluesky",
  },
  {
    name: "X_BEARER_TOKEN",
    default: undefined,
    description: "The token for the X API",
    allowed: "8 characters or more, without spaces",
    isAllowed: (value) => /^\S{8,}$/.test(value),
  },
  {
    name: "X_API_URL",
    default: "https://api.x.com",
    description: "Where the X API is",
    allowed: "an http or https URL",
    isAllowed: isWebUrl,
  },
  {
    name: "BLUESKY_API_URL",
    default: "https://public.api.bsky.app",
    description: "Where Bluesky's public API is",
    allowed: "an http or https URL",
    isAllowed: isWebUrl,
  },
];

/** A URL as it may be shown: without the password and the token that it can have. */
export function redactUrl(url: string): string {
  return url.replace(/\/\/[^/?#]*@/, "//…@").replace(/([?&]authToken=)[^&#]*/g, "$1…");
}

/** A setting that is not allowed. */
export class ConfigError extends Error {
  override readonly name = "ConfigError";
}

/**
 * Reads the settings from environment variables; an empty one counts as not set.
 *
 * @throws {ConfigError} Naming every wrong setting, what it was and what is allowed.
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
  const optionalField = <Name extends string>(name: string, field: Name) =>
    (values.has(name) ? { [field]: get(name) } : {}) as { readonly [Key in Name]?: string };
  return {
    port: Number(get("PORT")),
    host: get("HOST"),
    databaseUrl: get("DATABASE_URL"),
    ...optionalField("DATABASE_AUTH_TOKEN", "databaseAuthToken"),
    durability: get("DURABILITY") === "process" ? "process" : "power",
    spoolFolder: get("SPOOL_FOLDER"),
    ...(values.has("RATE_LIMIT") ? { rateLimit: Number(get("RATE_LIMIT")) } : {}),
    creatorsMax: Number(get("CREATORS_MAX")),
    ...optionalField("ADMIN_TOKEN", "adminToken"),
    logLevel: LOG_LEVELS.find((level) => level === get("LOG_LEVEL")) ?? "info",
    corsOrigins: values.has("CORS_ORIGINS")
      ? get("CORS_ORIGINS")
          .split(",")
          .map((origin) => origin.trim())
      : [],
    retention: parseRetentionPolicy(get("RETENTION")) ?? {},
    isCollecting: get("COLLECT") === "on",
    collectors: {
      ...optionalField("YOUTUBE_API_KEY", "youtubeApiKey"),
      youtubeApiUrl: get("YOUTUBE_API_URL"),
      ...optionalField("X_BEARER_TOKEN", "xBearerToken"),
      xApiUrl: get("X_API_URL"),
      blueskyApiUrl: get("BLUESKY_API_URL"),
      ...(values.has("MICROBLOG_SOURCE")
        ? { microblogSource: get("MICROBLOG_SOURCE") === "x" ? "x" : "bluesky" }
        : {}),
    },
  };
}

/**
 * The settings as the command line's help lists them.
 *
 * @param formatItem Writes one under the others: its name, the width of the longest, and what it is.
 */
export function formatSettingsHelp(
  formatItem: (name: string, width: number, what: string) => string,
): string {
  const width = Math.max(...SETTINGS.map(({ name }) => name.length));
  const lines = SETTINGS.map(({ name, description, allowed, default: initial }) => {
    const defaultNote = initial === undefined ? "" : `; default ${initial}`;
    return `${formatItem(name, width, `${description} (${allowed}${defaultNote})`)}\n`;
  });
  return lines.join("");
}
