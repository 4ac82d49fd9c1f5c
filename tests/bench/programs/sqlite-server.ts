/**
 * A bare server that reads the pages of histories with bun:sqlite, and does nothing else. It reads plain
 * rows from tables of its own in the same file (see add-plain-rows.ts), so it decodes no chunks.
 *
 * Arguments: who formats the JSON (`json`: SQLite; `rows`: JavaScript), and the path of a database, which
 * it only reads.
 */
import { Database } from "bun:sqlite";
import { createJsonPageReader } from "./sqlite-json-pages.ts";
import { createRowPageReader } from "./sqlite-row-pages.ts";
import { DAY_MS, type PageQuery, type PageReader } from "./sqlite-pages.ts";

const [, , jsonMethod = "", file = ""] = process.argv;
const database = new Database(file, { readonly: true });
const pages: PageReader =
  jsonMethod === "json" ? createJsonPageReader(database) : createRowPageReader(database);
const findUser = database.query<{ key: number; username: string | null }, [string]>(
  "SELECT key, username FROM users WHERE id = ?",
);

const server = Bun.serve({
  port: 0,
  hostname: "127.0.0.1",
  reusePort: false,
  fetch(request) {
    const { pathname, searchParams } = new URL(request.url);
    const [, , , name = "", kind = ""] = pathname.split("/");
    const user = findUser.get(name.toLowerCase());
    if (user === null || user.username === null) return new Response(null, { status: 404 });
    const days = Number(searchParams.get("days") ?? 3);
    const listing: PageQuery = {
      user: user.key,
      username: user.username,
      days,
      start: Date.now() - days * DAY_MS,
      page: Number(searchParams.get("page") ?? 0),
      limit: Number(searchParams.get("limit") ?? 50),
    };
    const body = kind === "tweets" ? pages.tweets(listing) : pages.followers(listing);
    return new Response(body, { headers: { "content-type": "application/json" } });
  },
});
console.error(server.url.origin);
