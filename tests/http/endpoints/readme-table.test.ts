/** The table of endpoints in server/README.md, against their declarations. */
import { expect, test } from "bun:test";
import { join } from "node:path";
import { API_PARTS } from "../../../server/http/endpoints/endpoint.ts";
import { ENDPOINTS } from "../../../server/http/endpoints/mod.ts";
import { ROOT } from "../../support/docs.ts";

function formatPrice({ part, price }: (typeof ENDPOINTS)[number]): string {
  const { cost } = API_PARTS[part];
  if (price !== undefined) return price.text.replace(/,.*/, "");
  return cost === 0 ? "nothing" : `${cost} credit`;
}

test("server/README.md lists every endpoint with its summary and its price", async () => {
  const rows = ENDPOINTS.map((endpoint) => {
    const { operation, summary } = endpoint;
    return `| \`${operation}\` | ${summary} | ${formatPrice(endpoint)} |`;
  });
  const readme = await Bun.file(join(ROOT, "server/README.md")).text();
  const documented = readme.split("\n").filter((line) => /^\| `\w+ \/(?!admin)/.test(line));
  expect(documented).toEqual(rows);
});
