/** All settings with their documentation, and the reader of their values from the environment. */
import { parseRetentionPolicy, RETENTION_SYNTAX } from "../core/retention.ts";
import type { Platform } from "./collectors/collector.ts";
import { selectSources, SOURCE_SETTINGS, type SelectedSources } from "./collectors/sources.ts";
import {
  BEARER_TOKEN,
  checkedText,
  createSettingReader,
  decodeWebhookSecret,
  FILE_OR_SERVER,
  FOLDER_PATH,
  integerBetween,
  isAddress,
  isServerUrl,
  isSet,
  NETWORKS,
  oneOf,
  parseOrigins,
  parseSchedule,
  PUBLIC_URL,
  SERVER_URL,
  WEB_URL,
  type Environment,
  type Setting,
} from "./settings.ts";

const PLATFORMS: readonly Platform[] = ["video", "microblog"];

function parsePlatforms(text: string): readonly Platform[] | undefined {
  if (text === "none") return [];
  const names = text.split(",").map((name) => name.trim());
  const isAllowed = names.every((name) => PLATFORMS.some((platform) => platform === name));
  return isAllowed ? PLATFORMS.filter((platform) => names.includes(platform)) : undefined;
}

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
  PUBLIC_URL: {
    description:
      "The URL at which clients reach the service, which serves everything below its path; by " +
      "default it is where the service listens",
    ...PUBLIC_URL,
  },
  TRUSTED_PROXIES: {
    default: "",
    description:
      "The proxies whose header X-Forwarded-For names the address of a client, for the audit and " +
      "the limits on wrong tokens; by default none, and the address is that of the connection",
    ...NETWORKS,
  },
  DATABASE_URL: {
    default: "file:./data/metrics.db",
    description: "The database: a file, or a libSQL server",
    secret: "part",
    ...FILE_OR_SERVER,
  },
  ENTITIES_URL: {
    description:
      "A second database on a libSQL server, for what is observed: channels, shorts, users, " +
      "tweets and their histories; by default, DATABASE_URL has them too",
    secret: "part",
    ...checkedText(SERVER_URL, isServerUrl),
  },
  DATABASE_REPLICA: {
    description:
      "A replica of the database with what is observed, which reads of metrics use: a file that " +
      "only this process uses, or a replica server",
    secret: "part",
    ...FILE_OR_SERVER,
  },
  DATABASE_AUTH_TOKEN: {
    description: "The authentication token for libSQL servers whose URL has none",
    secret: "whole",
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
    description:
      "The folder for backups that are scheduled, or made through the administration API over " +
      "HTTP; several databases can share it",
    ...FOLDER_PATH,
  },
  BACKUP_SCHEDULE: {
    description:
      "When serve makes backups by itself, in UTC or in another time zone; by default it makes none",
    allowed:
      "a cron expression of five or six fields, such as 0 3 * * *, or a zone before it, as in " +
      "CRON_TZ=Europe/Berlin 0 3 * * *",
    parse: parseSchedule,
  },
  RATE_LIMIT: {
    description:
      "How many requests per minute an API key may send to each process, so N processes admit N " +
      "times as many; by default there is no limit",
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
    secret: "whole",
    ...BEARER_TOKEN,
  },
  METRICS_TOKEN: {
    description:
      "A bearer token of /metrics; with it, /metrics needs it or an administrator's token, and " +
      "names the accounts that run out of credits",
    secret: "whole",
    ...BEARER_TOKEN,
  },
  METRICS_PORT: {
    description:
      "A port of HOST for /metrics alone; then /metrics at PORT needs a token, and both name the " +
      "accounts that run out of credits; 0 selects a free port",
    ...integerBetween(0, 65_535),
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
  DERIVED_METRICS: {
    default: "video,microblog",
    description:
      "The platforms whose derived figures are given: metrics beyond counts and their differences; " +
      "leave out a platform whose terms forbid them",
    allowed: "video, microblog, both separated by a comma, or none",
    parse: parsePlatforms,
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
  CREDITS_URL: {
    description: "The page where customers buy credits; the dashboard and 402 link to it",
    allowed: WEB_URL.allowed,
    // With no other characters than a header may have.
    parse: (text) => WEB_URL.parse(text) && new URL(text).href,
  },
  WEBHOOK_URL: {
    description: "The URL that receives notices about low balances; without it, none are sent",
    secret: "whole",
    ...WEB_URL,
  },
  WEBHOOK_SECRET: {
    description: "The secret that signs the notices",
    secret: "whole",
    allowed: "whsec_ and 24 to 64 bytes in Base64; echo whsec_$(openssl rand -base64 32) makes one",
    parse: decodeWebhookSecret,
  },
  COMMITTER_ADDRESS: {
    description:
      "Where other processes on the libSQL server reach this one: it may then commit the debits " +
      "of all, and listens there; by default it does not",
    ...checkedText("HOST:PORT, such as 10.0.0.5:3100 or [::1]:3100", isAddress),
  },
  PICTURES: {
    default: "on",
    description:
      "Whether the service fetches the pictures that channels, shorts and users link to, for its " +
      "pages; without them, the pages show initials",
    ...oneOf("on", "off"),
  },
  COLLECT: {
    default: "on",
    description:
      "Whether serve collects data of the monitored creators and tracked channels; of several " +
      "processes on a server, one does",
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

/** A second database, and a replica, need a libSQL server. */
function findDatabaseProblems(
  { databaseUrl, entitiesUrl, databaseReplica, committerAddress }: Config,
  problems: string[],
): void {
  if (databaseUrl?.startsWith("file:")) {
    const settings = {
      ENTITIES_URL: entitiesUrl,
      DATABASE_REPLICA: databaseReplica,
      COMMITTER_ADDRESS: committerAddress,
    };
    for (const [name, value] of Object.entries(settings)) {
      if (value !== undefined) {
        problems.push(`${name} is set, which needs a libSQL server in DATABASE_URL`);
      }
    }
  } else if (entitiesUrl !== undefined && nameServer(entitiesUrl) === nameServer(databaseUrl)) {
    problems.push("ENTITIES_URL must be another database than DATABASE_URL");
  }
}

/** What two URLs of one database have in common: not the interface and the token. */
function nameServer(url: string): string {
  if (!URL.canParse(url)) return url;
  const { host, pathname } = new URL(url);
  // Only the interfaces for the web have a path when none is given.
  return host + (pathname === "/" ? "" : pathname);
}

export class ConfigError extends Error {
  override readonly name = "ConfigError";
}

/** Reads the settings; empty means not set. @throws {ConfigError} Lists all wrong settings. */
export function readConfig(environment: Environment): Config {
  const problems: string[] = [];
  const readSetting = createSettingReader(environment, problems);
  const values = Object.entries(SETTING_BY_NAME).map(
    ([name, setting]) => [toField(name), readSetting({ name, ...setting })] as const,
  );
  const sources = selectSources(readSetting, problems);
  const config = { ...Object.fromEntries(values), sources } as Config;
  findDatabaseProblems(config, problems);
  if (config.webhookUrl !== undefined && !isSet(environment, "WEBHOOK_SECRET")) {
    problems.push("WEBHOOK_URL is set, which needs WEBHOOK_SECRET");
  }
  if (config.metricsPort !== undefined && config.metricsPort === config.port && config.port !== 0) {
    problems.push("METRICS_PORT must be another port than PORT");
  }
  if (problems.length > 0) throw new ConfigError(problems.join("\n"));
  return config;
}
