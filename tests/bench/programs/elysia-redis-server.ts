/**
 * Elysia with Redis: each request is one call of a Lua script that debits a credit and appends the
 * debit to a list.
 *
 * Arguments: the path of the route, the socket of Redis, and the API key. Standard input: the body.
 */
import { RedisClient } from "bun";
import { Elysia, t } from "elysia";

const [, , path = "/", socket = "", apiKey = ""] = process.argv;
const body = await Bun.stdin.text();

const DEBIT = `
  local balance = redis.call("DECR", KEYS[1])
  if balance < 0 then
    redis.call("INCR", KEYS[1])
    return -1
  end
  redis.call("RPUSH", KEYS[2], ARGV[1])
  return balance`;

const redis = new RedisClient(`redis+unix://${socket}`);
await redis.connect();
await redis.set(`balance:${apiKey}`, "1000000000");
const script = String(await redis.send("SCRIPT", ["LOAD", DEBIT]));

const app = new Elysia()
  .get(
    path,
    async ({ headers, set, status }) => {
      const account = headers["x-api-key"] ?? "";
      const keys = [`balance:${account}`, `journal:${account}`];
      const balance = await redis.send("EVALSHA", [script, "2", ...keys, `${Date.now()} 1`]);
      if (Number(balance) < 0) return status(402);
      set.headers["content-type"] = "application/json";
      set.headers["x-credits-remaining"] = String(balance);
      return body;
    },
    { params: t.Object({ username: t.String() }) },
  )
  .listen({ port: 0, hostname: "127.0.0.1", reusePort: false });
console.error(`http://127.0.0.1:${app.server?.port}`);
