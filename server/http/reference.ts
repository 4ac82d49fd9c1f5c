/** The reference: /swagger and its document. Nothing of it is fetched from elsewhere. */
import { swagger } from "@elysiajs/swagger";
import { Type } from "@sinclair/typebox";
import { Elysia } from "elysia";
import { AccountDetails } from "../../core/schema/account.ts";
import { CreatorList, CreatorRequest, CreatorResult } from "../../core/schema/creators.ts";
import { ServiceError, VideoError } from "../../core/schema/errors.ts";
import {
  FollowersPage,
  TweetDetails,
  TweetsPage,
  UserDetails,
} from "../../core/schema/microblog.ts";
import { Readiness } from "../../core/schema/readiness.ts";
import { ChannelDetails, ChannelList, ShortDetails, ShortsPage } from "../../core/schema/video.ts";
import { version } from "../../package.json" with { type: "json" };

const SCRIPT_PATH = "/swagger/reference.js";

const header = <const Schema>(description: string, schema: Schema, example: unknown) => ({
  description,
  schema,
  example,
});

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
  Health: Type.Object({ status: Type.String() }, { additionalProperties: false }),
  Readiness,
};

const DOCUMENTATION = {
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
    headers: {
      "X-Request-Id": header(
        "The request's name: your own, or one made for it",
        { type: "string" },
        "019a9f3e-6c1b-7000-8f5e-0c6a1d2b3c4d",
      ),
      "X-Credits-Cost": header("Credits that this answer cost", { type: "integer" }, 1),
      "X-Credits-Remaining": header(
        "Credits that were left after it",
        { type: "integer", minimum: 0 },
        9_999,
      ),
      "X-History-Thinned": header(
        "Present, as 1, when a history was too long to list whole",
        { type: "string" },
        "1",
      ),
      Link: header(
        "Present when there is a next page, ready to follow",
        { type: "string" },
        '</api/video/sevenminutesoup/shorts?cursor=mwp4tk9n-2d-61-42>; rel="next"',
      ),
      ETag: header(
        "What the answer is: send it back as If-None-Match, and you get 304 while it holds",
        { type: "string" },
        '"2q1vxn8f3k6c1"',
      ),
      "RateLimit-Policy": header(
        "Where requests are limited: how many a minute",
        { type: "string" },
        '"minute";q=600;w=60',
      ),
      RateLimit: header(
        "Where requests are limited: how many are left, and seconds until all are",
        { type: "string" },
        '"minute";r=598;t=1',
      ),
      Allow: header("The methods that the path takes", { type: "string" }, "GET, HEAD, OPTIONS"),
      "Retry-After": header("Seconds to wait before another try", { type: "integer" }, 1),
    },
  },
};

/** The page asks nobody else for anything, and remembers the key that was entered once. */
const PAGE = {
  withDefaultFonts: false,
  telemetry: false,
  agent: { disabled: true },
  mcp: { disabled: true },
  showDeveloperTools: "never",
  hideClientButton: true,
  persistAuth: true,
  spec: { url: "/swagger/json" },
  authentication: { preferredSecurityScheme: "apiKey" },
};

/** The headers that are described once but that an answer may lack. */
export const OPTIONAL_HEADERS: readonly string[] = [
  "X-History-Thinned",
  "Link",
  "RateLimit",
  "RateLimit-Policy",
];

/**
 * The routes of the reference.
 *
 * @param script The path of the file that renders it, served from here.
 */
export function reference(script: string) {
  const cache = { "cache-control": "public, max-age=3600", "content-type": "text/javascript" };
  return new Elysia({ name: "reference" })
    .use(
      swagger({
        scalarCDN: SCRIPT_PATH,
        documentation: DOCUMENTATION,
        scalarConfig: PAGE,
        excludeStaticFile: false,
      }),
    )
    .get(
      SCRIPT_PATH,
      async () => new Response(await Bun.file(script).bytes(), { headers: cache }),
      { detail: { hide: true } },
    );
}
