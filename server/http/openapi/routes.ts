/**
 * The routes of the OpenAPI document and of the page that shows it. The page works offline: the
 * service itself serves its script and its style sheet.
 */
import { fileURLToPath } from "node:url";
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
import { renderViewerPage } from "./viewer-page.ts";

const PAGE_PATH = "/swagger";
const DOCUMENT_PATH = `${PAGE_PATH}/json`;
const SCRIPT_PATH = `${PAGE_PATH}/reference.js`;
const STYLE_PATH = `${PAGE_PATH}/reference.css`;

const HTML_HEADERS = { "content-type": "text/html; charset=utf-8" };

/** Keeps a route out of the document. */
const HIDDEN = { hide: true };

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

/** Creates the routes of the document and of the page that shows it. They need no API key. */
export function createOpenApiRoutes() {
  const script = createViewerFile("swagger-ui-bundle.js", SCRIPT_PATH, "text/javascript");
  const style = createViewerFile("swagger-ui.css", STYLE_PATH, "text/css");
  const page = renderViewerPage({
    title: BASE_DOCUMENT.info.title,
    documentUrl: DOCUMENT_PATH,
    scriptUrl: script.url,
    styleUrl: style.url,
  });
  const serveDocument = createStaticResponder({
    "content-type": "application/json",
    "cache-control": "no-cache",
  });
  return (
    new Elysia({ name: "openapi" })
      .onAfterHandle(({ route, request, responseValue }) =>
        route === DOCUMENT_PATH
          ? serveDocument(request, async () =>
              new TextEncoder().encode(JSON.stringify(responseValue)),
            )
          : undefined,
      )
      .use(swagger({ path: PAGE_PATH, documentation: BASE_DOCUMENT, excludeStaticFile: false }))
      // Replaces the plugin's page, which loads its script from another host.
      .get(PAGE_PATH, () => new Response(page, { headers: HTML_HEADERS }), { detail: HIDDEN })
      .get(SCRIPT_PATH, ({ request }) => script.serve(request), { detail: HIDDEN })
      .get(STYLE_PATH, ({ request }) => style.serve(request), { detail: HIDDEN })
  );
}

/** Serves a file of Swagger UI; its URL changes with the file, so clients can keep it for long. */
function createViewerFile(name: string, path: string, contentType: string) {
  const file = Bun.file(fileURLToPath(import.meta.resolve(`swagger-ui-dist/${name}`)));
  const respond = createStaticResponder({
    "content-type": contentType,
    "cache-control": "public, max-age=31536000, immutable",
  });
  return {
    url: `${path}?v=${file.size.toString(36)}-${file.lastModified.toString(36)}`,
    serve: (request: Request) => respond(request, () => file.bytes()),
  };
}
