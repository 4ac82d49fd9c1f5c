/** A fake of the X API v2. */
import { openFakeServer, type FakeServerOptions } from "./fake-server.ts";
import type { FakeResponse, FakeRequest } from "./faults.ts";
import { countsOfPost, countsOfUser } from "./world-counts.ts";
import { countUntil, isPresent, type WorldPost, type WorldUser, type World } from "./world.ts";

const BATCH_MAX = 100;
const TIMELINE_MAX = 3200;
const WINDOW_MS = 15 * 60_000;

/** Requests of a window, by bucket. */
const WINDOW_REQUESTS = { users: 300, timeline: 10_000, tweets: 3500 } as const;

type XBucket = keyof typeof WINDOW_REQUESTS;

/** The names of metrics before August 2026 (`retweet_count`) or since (`repost_count`). */
export type MetricNames = "old" | "new";

const PROBLEMS = "https://api.x.com/2/problems";

/** Returns an error of X. */
export function createXError(status: number, title: string, type = "about:blank"): FakeResponse {
  return { status, body: { title, detail: title, type, status } };
}

export const TOKEN_REFUSED = createXError(401, "Unauthorized");

export const CREDITS_DEPLETED = createXError(
  402,
  "CreditsDepleted",
  `${PROBLEMS}/credits-depleted`,
);

/** The monthly cap is reached; the window has requests left. */
export const USAGE_CAPPED: FakeResponse = {
  ...createXError(429, "UsageCapExceeded", "https://api.twitter.com/2/problems/usage-capped"),
  headers: { "x-rate-limit-limit": "300", "x-rate-limit-remaining": "299" },
};

/** The window is used up. @param resetAt Milliseconds since 1970 UTC. */
export function windowSpent(resetAt: number): FakeResponse {
  return {
    ...createXError(429, "Too Many Requests"),
    headers: {
      "x-rate-limit-limit": "300",
      "x-rate-limit-remaining": "0",
      "x-rate-limit-reset": String(Math.ceil(resetAt / 1000)),
    },
  };
}

/** The options of the fake. */
export interface FakeXOptions extends FakeServerOptions {
  readonly world: World;
  readonly bearerToken: string;
}

/** Opens the fake; its buckets are `users`, `timeline` and `tweets`. */
export async function openFakeX(options: FakeXOptions) {
  const { world, bearerToken, now } = options;
  const windows = new Map<XBucket, { beganAt: number; used: number }>();
  const settings: { spelling: MetricNames; emptyPages: number } = {
    spelling: "old",
    emptyPages: 0,
  };

  /** Counts a request in its window; `undefined` if none is left. */
  const countInWindow = (bucket: XBucket): Record<string, string> | undefined => {
    const at = now();
    let window = windows.get(bucket);
    if (window === undefined || at >= window.beganAt + WINDOW_MS) {
      window = { beganAt: at, used: 0 };
      windows.set(bucket, window);
    }
    if (window.used >= WINDOW_REQUESTS[bucket]) return undefined;
    window.used++;
    return {
      "x-rate-limit-limit": String(WINDOW_REQUESTS[bucket]),
      "x-rate-limit-remaining": String(WINDOW_REQUESTS[bucket] - window.used),
      "x-rate-limit-reset": String(Math.ceil((window.beganAt + WINDOW_MS) / 1000)),
    };
  };

  const answer = ({ path, query, headers }: FakeRequest): FakeResponse => {
    if (headers.get("authorization") !== `Bearer ${bearerToken}`) return TOKEN_REFUSED;
    const bucket = bucketOf(path);
    const rate = countInWindow(bucket);
    if (rate === undefined) {
      return windowSpent((windows.get(bucket)?.beganAt ?? now()) + WINDOW_MS);
    }
    return { ...route(path, query), headers: rate };
  };

  const route = (path: string, query: URLSearchParams): FakeResponse => {
    if (path === "/2/users/by") return answerUsers(query);
    if (path === "/2/tweets") return answerTweets(query);
    const id = /^\/2\/users\/(\d+)\/tweets$/.exec(path)?.[1];
    return id === undefined ? createXError(404, "Not Found") : answerTimeline(id, query);
  };

  const answerUsers = (query: URLSearchParams): FakeResponse => {
    const names = query.get("usernames")?.split(",") ?? [];
    if (!isValidBatch(names, /^\w{1,15}$/)) return INVALID_REQUEST;
    const at = now();
    const found: unknown[] = [];
    const errors: unknown[] = [];
    for (const name of names) {
      const user = world.userByName(name);
      if (user !== undefined && isPresent(user, at)) found.push(writeUser(user, query, at));
      else if (user !== undefined) errors.push(writeProblem("user", name, "Forbidden"));
      else errors.push(writeProblem("user", name, "Not Found Error"));
    }
    return writeFound(found, errors);
  };

  const answerTweets = (query: URLSearchParams): FakeResponse => {
    const ids = query.get("ids")?.split(",") ?? [];
    if (!isValidBatch(ids, /^\d{1,19}$/)) return INVALID_REQUEST;
    const at = now();
    const found: unknown[] = [];
    const errors: unknown[] = [];
    for (const id of ids) {
      const post = world.postBySnowflake.get(id);
      if (post === undefined || !isPresent(post, at) || !isPresent(post.user, at)) {
        errors.push(writeProblem("tweet", id, "Not Found Error"));
      } else if (post.user.isProtected) {
        errors.push(writeProblem("tweet", id, "Authorization Error"));
      } else found.push(writePost(post, query, at));
    }
    return writeFound(found, errors);
  };

  const answerTimeline = (id: string, query: URLSearchParams): FakeResponse => {
    const user = world.userById.get(id);
    const at = now();
    if (user === undefined) return writeFound([], [writeProblem("user", id, "Not Found Error")]);
    if (!isPresent(user, at)) return writeFound([], [writeProblem("user", id, "Forbidden")]);
    if (user.isProtected) {
      return writeFound([], [writeProblem("user", id, "Authorization Error")]);
    }
    const size = Number(query.get("max_results") ?? 10);
    const count = countUntil(user.posts, at);
    const end = readToken(query.get("pagination_token"), count);
    if (!(size >= 5 && size <= BATCH_MAX) || end === undefined) return INVALID_REQUEST;
    if (settings.emptyPages > 0) {
      settings.emptyPages--;
      return { status: 200, body: { meta: { result_count: 0, next_token: writeToken(end) } } };
    }
    const startAt = Date.parse(query.get("start_time") ?? "1970-01-01T00:00:00Z");
    const oldest = Math.max(0, count - TIMELINE_MAX, countUntil(user.posts, startAt - 1));
    const begin = Math.max(oldest, end - size);
    const page = user.posts.slice(begin, end).toReversed();
    const excluded = new Set(query.get("exclude")?.split(",") ?? []);
    const data = page
      .filter((post) => isPresent(post, at) && !excluded.has(EXCLUDABLE[post.kind]))
      .map((post) => writePost(post, query, at));
    const next = begin > oldest ? { next_token: writeToken(begin) } : {};
    return {
      status: 200,
      body: {
        ...(data.length === 0 ? {} : { data }),
        meta: { result_count: data.length, ...next },
      },
    };
  };

  const writeUser = (user: WorldUser, query: URLSearchParams, at: number) => {
    const fields = new Set(query.get("user.fields")?.split(",") ?? []);
    const { followers_count, following_count, tweet_count } = countsOfUser(user, at);
    return {
      id: user.id,
      name: `${user.name} the Creator`,
      username: user.name,
      ...pickFields(fields, {
        created_at: writeInstant(user.joinedAt),
        description: `What ${user.name} makes`,
        profile_image_url: user.index % 3 === 2 ? null : `https://image.test/${user.id}_normal.jpg`,
        verified: user.index % 2 === 0,
        public_metrics: pickFields(undefined, {
          followers_count,
          following_count,
          [settings.spelling === "old" ? "tweet_count" : "post_count"]: tweet_count,
          listed_count: 3,
        }),
      }),
    };
  };

  const writePost = (post: WorldPost, query: URLSearchParams, at: number) => {
    const asked = query.get("tweet.fields") ?? query.get("post.fields") ?? "";
    const { likes, retweets, replies, quotes, impressions } = countsOfPost(post, at);
    return {
      id: post.snowflake,
      text: post.kind === "repost" ? `RT @someone: ${post.text}` : post.text,
      ...pickFields(new Set(asked.split(",")), {
        created_at: writeInstant(post.publishedAt),
        author_id: post.user.id,
        public_metrics: pickFields(undefined, {
          [settings.spelling === "old" ? "retweet_count" : "repost_count"]: retweets,
          reply_count: replies,
          like_count: likes,
          quote_count: quotes,
          bookmark_count: 1,
          impression_count: impressions,
        }),
      }),
    };
  };

  const fake = await openFakeServer({ prefix: "", zone: "UTC", bucketOf, answer }, options);
  return {
    ...fake,
    /** Sets the names of metrics. */
    useMetricNames(spelling: MetricNames): void {
      settings.spelling = spelling;
    },
    /** Makes the next pages of timelines empty, with a token. */
    sendEmptyPages(count: number): void {
      settings.emptyPages = count;
    },
  };
}

const INVALID_REQUEST = createXError(400, "Invalid Request", `${PROBLEMS}/invalid-request`);

const EXCLUDABLE = { post: "", reply: "replies", repost: "retweets" } as const;

function bucketOf(path: string): XBucket {
  if (path === "/2/users/by") return "users";
  return path === "/2/tweets" ? "tweets" : "timeline";
}

function isValidBatch(values: readonly string[], form: RegExp): boolean {
  return (
    values.length > 0 && values.length <= BATCH_MAX && values.every((value) => form.test(value))
  );
}

/** Returns how many posts, oldest first, a page may show; `undefined` for an invalid token. */
function readToken(token: string | null, count: number): number | undefined {
  if (token === null) return count;
  const end = /^7140w([0-9a-z]+)$/.exec(token)?.[1];
  return end === undefined ? undefined : Math.min(count, Number.parseInt(end, 36));
}

function writeToken(end: number): string {
  return `7140w${end.toString(36)}`;
}

function writeFound(found: readonly unknown[], errors: readonly unknown[]): FakeResponse {
  return {
    status: 200,
    body: {
      ...(found.length === 0 ? {} : { data: found }),
      ...(errors.length === 0 ? {} : { errors }),
    },
  };
}

function writeProblem(resource: "user" | "tweet", value: string, title: string) {
  const type =
    title === "Authorization Error" ? "not-authorized-for-resource" : "resource-not-found";
  return {
    value,
    detail: `Could not find or show ${resource}: [${value}].`,
    title,
    resource_type: resource,
    resource_id: value,
    type: `${PROBLEMS}/${type}`,
  };
}

/** Returns the requested fields, by default all, without those that have no value. */
function pickFields(
  asked: ReadonlySet<string> | undefined,
  fields: Readonly<Record<string, unknown>>,
) {
  return Object.fromEntries(
    Object.entries(fields).filter(
      ([name, value]) => value !== null && (asked === undefined || asked.has(name)),
    ),
  );
}

function writeInstant(instant: number): string {
  return new Date(instant).toISOString();
}
