/** The type of a setting, its reader and the parsers of settings; config.ts has the settings. */
import { closeSync, openSync, readSync } from "node:fs";
import { isIP } from "node:net";
import { Cron } from "croner";
import ipaddr from "ipaddr.js";
import { parseInteger } from "../core/parameters.ts";
import { describeError } from "./system-errors.ts";

export interface Setting {
  readonly name: string;
  readonly default?: string;
  /**
   * Whether the whole value is secret, so that no error shows it, or a part: a URL can have a token.
   * The value can then also be in a file, whose path is in the setting `NAME_FILE`.
   */
  readonly secret?: "whole" | "part";
  readonly description: string;
  readonly allowed: string;
  /** Returns the value of a text; `undefined` if the text is not allowed. */
  parse(text: string): unknown;
}

export type Environment = Readonly<Record<string, string | undefined>>;

/** Whether a setting has a text, or the path of a file with it; empty means not set. */
export const isSet = (environment: Environment, name: string): boolean =>
  Boolean(environment[name] || environment[`${name}_FILE`]);

/** Creates the reader of settings. `problems` receives the values that are not allowed. */
export function createSettingReader(environment: Environment, problems: string[]) {
  const getFile = ({ name, secret }: Setting): string | undefined =>
    secret === undefined ? undefined : environment[`${name}_FILE`] || undefined;
  const readText = (setting: Setting): string | undefined => {
    const text = environment[setting.name] || undefined;
    const file = getFile(setting);
    if (file === undefined) return text;
    if (text === undefined) return readSecretFile(file);
    throw new Error(`${setting.name} is set, too: remove one of them`);
  };
  return (setting: Setting): unknown => {
    const { name, allowed, secret, default: initial, parse } = setting;
    let text: string | undefined;
    try {
      text = readText(setting) ?? initial;
    } catch (error) {
      problems.push(`${name}_FILE: ${describeError(error)}`);
    }
    const value = text === undefined ? undefined : parse(text);
    if (text !== undefined && value === undefined) {
      // A file can be that of another secret.
      const isSecret = secret === "whole" || getFile(setting) !== undefined;
      const shown = isSecret ? "something else" : JSON.stringify(redactUrl(text));
      problems.push(`${name} must be ${allowed}, got ${shown}`);
    }
    return value;
  };
}

/** Far more than any secret needs. The file may be a pipe, or a device that never ends. */
const SECRET_FILE_MAX_BYTES = 65_536;

/** Reads a secret without the end of its last line, which editors and `echo` add. */
function readSecretFile(path: string): string {
  const text = readStart(path, SECRET_FILE_MAX_BYTES + 1);
  if (text.length > SECRET_FILE_MAX_BYTES) {
    throw new Error(`${path} has more than ${SECRET_FILE_MAX_BYTES} bytes`);
  }
  const secret = text.toString().replace(/[\r\n]+$/, "");
  if (secret === "") throw new Error(`${path} is empty`);
  return secret;
}

function readStart(path: string, size: number): Buffer {
  try {
    const file = openSync(path, "r");
    try {
      const buffer = Buffer.alloc(size);
      let length = 0;
      for (let read = 1; read > 0 && length < size; length += read) {
        read = readSync(file, buffer, length, size - length, null);
      }
      return buffer.subarray(0, length);
    } finally {
      closeSync(file);
    }
  } catch (cause) {
    throw new Error(`Cannot read ${path}`, { cause });
  }
}

export const redactUrl = (url: string): string =>
  url.replace(/\/\/[^/?#]*@/, "//…@").replace(/([?&]authToken=)[^&#]*/gi, "$1…");

export function oneOf<const Choice extends string>(...choices: readonly Choice[]) {
  return {
    allowed: listChoices(choices),
    parse: (text: string) => choices.find((choice) => choice === text),
  };
}

/** Lists texts as in `x, y or z`. */
export const listChoices = (texts: readonly string[]): string =>
  new Intl.ListFormat("en", { type: "disjunction" }).format(texts);

export function checkedText(allowed: string, isAllowed: (text: string) => boolean) {
  return { allowed, parse: (text: string) => (isAllowed(text) ? text : undefined) };
}

export const WEB_URL = checkedText(
  "an http or https URL",
  (text) => URL.canParse(text) && /^https?:$/.test(new URL(text).protocol),
);

/** Whether a file URL is unambiguous: no host, query, fragment, or invisible space at its end. */
function isFileUrl(text: string): boolean {
  if (!/^file:(?!:memory:)(?!\/\/(?!\/))[^?#]*[^?#\s]$/.test(text)) return false;
  try {
    return !decodeURIComponent(text).includes("\0");
  } catch {
    return false;
  }
}

export function decodeWebhookSecret(text: string): Uint8Array | undefined {
  const [, base64] = /^whsec_([A-Za-z0-9+/]+={0,2})$/.exec(text) ?? [];
  const bytes = Buffer.from(base64 ?? "", "base64");
  // Buffer ignores characters that are not Base64, and a missing end.
  const isAllowed = bytes.toString("base64") === base64 && bytes.length >= 24 && bytes.length <= 64;
  return isAllowed ? bytes : undefined;
}

export function parseOrigins(text: string): string[] | undefined {
  const origins = text === "" ? [] : text.split(",").map((origin) => origin.trim());
  const isOrigin = (origin: string) =>
    origin === "*" ||
    (URL.canParse(origin) && new URL(origin).origin === origin && origin !== "null");
  return origins.every(isOrigin) ? origins : undefined;
}

export function integerBetween(min: number, max: number) {
  return {
    allowed: `a whole number from ${min} to ${max}`,
    parse: (text: string) => parseInteger(text, { min, max }),
  };
}

export const isServerUrl = (text: string): boolean => /^(?:libsql|https?|wss?):\/\/.+$/s.test(text);

export const SERVER_URL = "libsql://…, http://…, https://…, ws://… or wss://…";

export const FILE_OR_SERVER = checkedText(
  `file:PATH (%3F, %23 and %25 stand for ?, # and %), ${SERVER_URL}`,
  (text) => isFileUrl(text) || isServerUrl(text),
);
/** Whether a text is HOST:PORT. */
export const isAddress = (text: string): boolean =>
  /^(?:[\w.-]+|\[[\da-f:.]+\]):[1-9]\d{0,4}$/i.test(text) && URL.canParse(`wss://${text}`);

export const FOLDER_PATH = checkedText("the path of a folder", (text) => !text.includes("\0"));

export const BEARER_TOKEN = checkedText(
  "16 or more visible characters, at least 8 of them different; " +
    "openssl rand -hex 32 generates one",
  (text) => /^[\x21-\x7e]{16,}$/.test(text) && new Set(text).size >= 8,
);

/** The instants of a cron expression, in milliseconds since 1970 UTC. */
export interface Schedule {
  /** Returns the first instant after another one; `undefined` if there is none. */
  next(after: number): number | undefined;
}

/** Parses five or six fields, the first of six for seconds, in UTC or in the zone of `CRON_TZ=`. */
export function parseSchedule(text: string): Schedule | undefined {
  const [, timezone = "UTC", pattern = ""] =
    /^(?:CRON_TZ=(\S+) +)?(\S+(?: +\S+){4,5})$/.exec(text) ?? [];
  try {
    const cron = new Cron(pattern, { timezone, paused: true, mode: "5-or-6-parts" });
    const next = (after: number) => cron.nextRun(new Date(after))?.getTime();
    // Such as 0 0 31 2 *, the last day of a February that never comes.
    return next(0) === undefined ? undefined : { next };
  } catch {
    return undefined;
  }
}

/** An address of the service, without the slash at its end. */
export const PUBLIC_URL = {
  allowed:
    "an http or https URL whose path has only letters, digits and . _ ~ -, without a query, such " +
    "as https://example.com/metrics",
  parse(text: string): string | undefined {
    // A segment `.` or `..` would make another path.
    const pattern = /^https?:\/\/[^/?#@\s\\]+(?:\/(?!\.{1,2}(?:\/|$))[\w.~-]+)*\/?$/;
    if (!pattern.test(text) || !URL.canParse(text)) return undefined;
    return new URL(text).href.replace(/\/$/, "");
  },
};

/** The path of PUBLIC_URL, without a slash at its end; empty if there is none. */
export const getPathPrefix = (publicUrl: string | undefined): string =>
  publicUrl === undefined ? "" : new URL(publicUrl).pathname.replace(/\/$/, "");

/** A network: its address, and how many of its leading bits all addresses in it have. */
export type Network = readonly [address: ipaddr.IPv4 | ipaddr.IPv6, bits: number];

/** Parses an IP address. One of IPv6 that stands for one of IPv4 is that one. */
export const parseIpAddress = (text: string): ipaddr.IPv4 | ipaddr.IPv6 | undefined =>
  // The library also reads `0x7f.1`.
  isIP(text) === 0 ? undefined : ipaddr.process(text);

function parseNetwork(text: string): Network | undefined {
  const [address = "", bitsText, ...others] = text.split("/");
  const parsed = parseIpAddress(address);
  if (parsed === undefined || others.length > 0) return undefined;
  const max = address.includes(":") ? 128 : 32;
  const bits = bitsText === undefined ? max : parseInteger(bitsText, { min: 0, max });
  if (bits === undefined) return undefined;
  const mappedBits = max === 128 && parsed.kind() === "ipv4" ? 96 : 0;
  return bits < mappedBits ? undefined : [parsed, bits - mappedBits];
}

export const NETWORKS = {
  allowed: "addresses and networks such as 127.0.0.1, 10.0.0.0/8 or fd00::/8, separated by commas",
  parse(text: string): readonly Network[] | undefined {
    const networks = text === "" ? [] : text.split(",").map((part) => parseNetwork(part.trim()));
    return networks.every((network) => network !== undefined) ? networks : undefined;
  },
};

export function isInNetworks(networks: readonly Network[], address: string): boolean {
  const parsed = parseIpAddress(address);
  return networks.some(
    ([network, bits]) => parsed?.kind() === network.kind() && parsed.match(network, bits),
  );
}
