/** The reference: /swagger and its document. Nothing of it is fetched from elsewhere. */
import { swagger } from "@elysiajs/swagger";
import { Elysia } from "elysia";
import { AccountDetails } from "../../../core/schema/account.ts";
import { CreatorList, CreatorRequest, CreatorResult } from "../../../core/schema/creators.ts";
import { ServiceError, VideoError } from "../../../core/schema/errors.ts";
import { Health, Readiness } from "../../../core/schema/health.ts";
import {
  FollowersPage,
  TweetDetails,
  TweetsPage,
  UserDetails,
} from "../../../core/schema/microblog.ts";
import {
  ChannelDetails,
  ChannelList,
  ShortDetails,
  ShortsPage,
} from "../../../core/schema/video.ts";
import { version } from "../../../package.json" with { type: "json" };
import { RESPONSE_HEADERS } from "./headers.ts";
import { createStaticResponder } from "./static-response.ts";

const DOCUMENT_PATH = "/swagger/json";
const SCRIPT_PATH = "/swagger/reference.js";

const SCHEMAS: Readonly<Record<string, object>> = {
  ChannelList,
  ChannelDetails,
  ShortsPage,
  ShortDetails,
  UserDetails,
  TweetsPage,
  FollowersPage,
  TweetDetails,
  AccountDetails,
  CreatorRequest,
  CreatorResult,
  CreatorList,
  VideoError,
  ServiceError,
  Health,
  Readiness,
};

const BASE_DOCUMENT = {
  openapi: "3.1.0",
  info: {
    title: "Creator metrics",
    version,
    license: { name: "MIT", identifier: "MIT" },
    description:
      "The history of public numbers: channels and shorts of a video platform; users, tweets and " +
      "followers of a microblog platform; and the list of the creators that are watched.\n\n" +
      "Every request carries an API key. Each read of the video and microblog interfaces costs " +
      "one credit: answers 200, 304 and 404 are charged, all others are not. What no source told is " +
      "null, never 0. All bodies are JSON.",
  },
  servers: [{ url: "/", description: "This service" }],
  tags: [
    { name: "Video", description: "Channels and shorts. 1 credit a request." },
    { name: "Microblog", description: "Users, tweets and followers. 1 credit a request." },
    { name: "Account", description: "The account of the key. Free." },
    { name: "Creators", description: "The monitoring list. Free." },
    { name: "Operation", description: "For who runs the service. No key needed." },
  ],
  components: {
    // Not the framework's models: each of those gets an `$id` that JSON Schema does not allow.
    schemas: SCHEMAS,
    securitySchemes: {
      apiKey: {
        type: "apiKey" as const,
        in: "header",
        name: "X-API-Key",
        description: "Paste your API key: this browser keeps it.",
      },
    },
    headers: RESPONSE_HEADERS,
  },
};

/** The page asks nobody else for anything, and remembers the key that was entered once. */
const VIEWER_OPTIONS = {
  withDefaultFonts: false,
  telemetry: false,
  agent: { disabled: true },
  mcp: { disabled: true },
  showDeveloperTools: "never",
  hideClientButton: true,
  persistAuth: true,
  spec: { url: DOCUMENT_PATH },
  authentication: { preferredSecurityScheme: "apiKey" },
};

/**
 * The routes of the reference. Its document and its script are large, and whoever reads them needs
 * no key: so each is prepared once.
 *
 * @param script The path of the file that renders it, served from here.
 */
export function createOpenApiRoutes(script: string) {
  const { size, lastModified } = Bun.file(script);
  const serveDocument = createStaticResponder({
    "content-type": "application/json",
    "cache-control": "no-cache",
  });
  const serveScript = createStaticResponder({
    "content-type": "text/javascript",
    "cache-control": "public, max-age=31536000, immutable",
  });
  return new Elysia({ name: "reference" })
    .onAfterHandle(({ route, request, responseValue }) =>
      route === DOCUMENT_PATH
        ? serveDocument(request, async () =>
            new TextEncoder().encode(JSON.stringify(responseValue)),
          )
        : undefined,
    )
    .use(
      swagger({
        // Clients keep the script for long, and ask for another one under another URL.
        scalarCDN: `${SCRIPT_PATH}?v=${size.toString(36)}-${lastModified.toString(36)}`,
        documentation: BASE_DOCUMENT,
        scalarConfig: VIEWER_OPTIONS,
        excludeStaticFile: false,
      }),
    )
    .get(SCRIPT_PATH, ({ request }) => serveScript(request, () => Bun.file(script).bytes()), {
      detail: { hide: true },
    });
}
