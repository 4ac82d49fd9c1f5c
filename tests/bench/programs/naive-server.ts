/**
 * A naive server: each request makes one UPDATE of the balance and one SELECT
 * of the user, with Drizzle.
 *
 * Argument: the path of its database. Standard input: the response.
 */
import { createClient } from "@libsql/client";
import { and, eq, gte, sql } from "drizzle-orm";
import { drizzle } from "drizzle-orm/libsql";
import { integer, sqliteTable, text } from "drizzle-orm/sqlite-core";
import { Elysia, t } from "elysia";
import type { UserDetails } from "../../../core/resources/generated/types.ts";

const [, , file = "", key = ""] = process.argv;
const seedUser = (await Bun.stdin.json()) as UserDetails;

const accounts = sqliteTable("accounts", {
  key: text().primaryKey(),
  balance: integer().notNull(),
});

const users = sqliteTable("users", {
  name: text().primaryKey(),
  username: text().notNull(),
  displayName: text("display_name"),
  followersCount: integer("followers_count"),
  followingCount: integer("following_count"),
  tweetCount: integer("tweet_count"),
  profileImageUrl: text("profile_image_url"),
  description: text(),
  createdAt: integer("created_at", { mode: "timestamp_ms" }),
  verified: integer({ mode: "boolean" }),
});

const client = createClient({ url: `file:${file}`, concurrency: 1 });
await client.executeMultiple(`
  PRAGMA journal_mode = WAL;
  PRAGMA synchronous = FULL;
  CREATE TABLE accounts (key TEXT PRIMARY KEY, balance INTEGER NOT NULL);
  CREATE TABLE users (
    name TEXT PRIMARY KEY, username TEXT NOT NULL, display_name TEXT, followers_count INTEGER,
    following_count INTEGER, tweet_count INTEGER, profile_image_url TEXT, description TEXT,
    created_at INTEGER, verified INTEGER
  );
`);
const database = drizzle(client);
await database.insert(accounts).values({ key, balance: 1_000_000_000 });
await database.insert(users).values({
  name: seedUser.username.toLowerCase(),
  username: seedUser.username,
  displayName: seedUser.displayName,
  followersCount: seedUser.followers_count,
  followingCount: seedUser.following_count,
  tweetCount: seedUser.tweet_count,
  profileImageUrl: seedUser.profile_image_url,
  description: seedUser.description,
  createdAt: seedUser.created_at === null ? null : new Date(seedUser.created_at),
  verified: seedUser.verified,
});

const app = new Elysia()
  .get(
    "/api/microblog/:username/details",
    async ({ params, headers, status }) => {
      const { rowsAffected } = await database
        .update(accounts)
        .set({ balance: sql`${accounts.balance} - 1` })
        .where(and(eq(accounts.key, headers["x-api-key"] ?? ""), gte(accounts.balance, 1)));
      if (rowsAffected === 0) return status(402);
      const [user] = await database
        .select()
        .from(users)
        .where(eq(users.name, params.username.toLowerCase()));
      if (user === undefined) return status(404);
      return {
        username: user.username,
        displayName: user.displayName,
        followers_count: user.followersCount,
        following_count: user.followingCount,
        tweet_count: user.tweetCount,
        profile_image_url: user.profileImageUrl,
        description: user.description,
        created_at: user.createdAt?.toISOString() ?? null,
        verified: user.verified,
      };
    },
    { params: t.Object({ username: t.String() }) },
  )
  .listen({ port: 0, hostname: "127.0.0.1", reusePort: false });
console.error(`http://127.0.0.1:${app.server?.port}`);
