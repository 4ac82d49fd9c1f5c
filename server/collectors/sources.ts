/** Lists the sources and their settings, selects a source per platform, explains idle platforms. */
import { checkedText, listChoices, oneOf, WEB_URL, type Setting } from "../settings.ts";
import { BLUESKY } from "./bluesky/source.ts";
import type { CreateCollector, Source, Platform } from "./collector.ts";
import { X } from "./x/source.ts";
import { YOUTUBE } from "./youtube/source.ts";

/** A source whose collector is loaded only where it is polled. */
interface LoadableSource extends Source {
  loadCollector(): Promise<CreateCollector>;
}

/** All sources. A platform's default is its first source whose credential is set or not needed. */
export const SOURCES: readonly LoadableSource[] = [
  {
    ...YOUTUBE,
    loadCollector: async () => (await import("./youtube/collector.ts")).createYoutubeCollector,
  },
  { ...X, loadCollector: async () => (await import("./x/collector.ts")).createXCollector },
  {
    ...BLUESKY,
    loadCollector: async () => (await import("./bluesky/collector.ts")).createBlueskyCollector,
  },
];

/** The source of a platform, and how it is reached. */
interface SelectedSource {
  readonly source: LoadableSource;
  /** `undefined` while its credential is missing: then nothing is collected. */
  readonly connection: Parameters<CreateCollector>[0] | undefined;
}

export type SelectedSources = Readonly<Record<Platform, SelectedSource>>;

const CREDENTIAL = checkedText("8 characters or more, without spaces", (text) =>
  /^\S{8,}$/.test(text),
);

const createSourceSettings = ({ name, url, credential }: Source) => ({
  url: { name: `${name.toUpperCase()}_API_URL`, ...url, ...WEB_URL },
  credential: credential && { ...credential, secret: "whole" as const, ...CREDENTIAL },
});

/** The setting that selects the source of a platform; `undefined` if there is no choice. */
function createSelection(platform: Platform) {
  const sources = SOURCES.filter((source) => source.platform === platform);
  if (sources.length === 1) return undefined;
  const describe = (join: (name: string, credential: string) => string) =>
    sources.map(({ name, credential }) =>
      credential === undefined ? name : join(name, credential.name),
    );
  const preferred = describe((name, credential) => `${name} if ${credential} is set`);
  return {
    name: `${platform.toUpperCase()}_SOURCE`,
    description: `The source of the ${platform} platform; by default ${preferred.join(", else ")}`,
    ...oneOf(...sources.map(({ name }) => name)),
    allowed: listChoices(describe((name, credential) => `${name} (with ${credential})`)),
  };
}

export const SOURCE_SETTINGS: readonly Setting[] = [
  createSelection("video"),
  createSelection("microblog"),
  ...SOURCES.map(createSourceSettings).flatMap(({ credential, url }) => [credential, url]),
].filter((setting) => setting !== undefined);

/** Selects the source of each platform. `problems` receives settings that do not fit together. */
export function selectSources(
  read: (setting: Setting) => unknown,
  problems: string[],
): SelectedSources {
  const readText = (setting: Setting) => {
    const value = read(setting);
    return typeof value === "string" ? value : undefined;
  };
  const connected = SOURCES.map((source): SelectedSource => {
    const { url, credential } = createSourceSettings(source);
    const baseUrl = readText(url) ?? url.default;
    const secret = credential === undefined ? "" : readText(credential);
    return {
      source,
      connection: secret === undefined ? undefined : { baseUrl, credential: secret },
    };
  });
  function select(platform: Platform): SelectedSource {
    const selection = createSelection(platform);
    const name = selection && readText(selection);
    const candidates = connected.filter(({ source }) => source.platform === platform);
    const named = candidates.find(({ source }) => source.name === name);
    const available = candidates.find(({ connection }) => connection !== undefined);
    const selected = named ?? available ?? candidates[0];
    if (selected === undefined) throw new Error(`The platform ${platform} has no source`);
    if (selection !== undefined && named !== undefined && named.connection === undefined) {
      problems.push(`${selection.name} is ${name}, which needs ${named.source.credential?.name}`);
    }
    return selected;
  }
  return { video: select("video"), microblog: select("microblog") };
}

/** Explains why nothing of a kind is collected. @param reason Why nothing at all is collected. */
export function explainIdleSources({ video, microblog }: SelectedSources, reason?: string) {
  const explain = ({ source, connection }: SelectedSource) =>
    reason ?? (connection === undefined ? `${source.credential?.name} is not set` : undefined);
  return { channels: explain(video), creators: explain(microblog) };
}
