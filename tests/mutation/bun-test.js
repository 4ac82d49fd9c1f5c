/** The parts of `bun:test` that the tests of core use, on Mocha and on the `expect` of Jest. */
import { format } from "node:util";
import { expect } from "expect";
import * as fc from "fast-check";
import * as mocha from "mocha";

// The same cases in each run, so that the score is the same too.
fc.configureGlobal({ seed: 20_261_120 });

/** Adds `each`, and hides parameters from Mocha, which takes the first one for a callback. */
function withEach(declare) {
  const each = (rows) => (name, body) => {
    for (const row of rows) {
      const values = Array.isArray(row) ? row : [row];
      const placeholders = name.match(/%[sdifj]/g) ?? [];
      declare(format(name, ...values.slice(0, placeholders.length)), () => body(...values));
    }
  };
  return Object.assign((name, body) => declare(name, () => body()), { each });
}

export const describe = withEach(mocha.describe);
export const test = withEach(mocha.it);
export { expect };

expect.extend({
  toStartWith: (text, start) => ({
    pass: typeof text === "string" && text.startsWith(start),
    message: () => `expected ${text} to start with ${start}`,
  }),
  toEndWith: (text, end) => ({
    pass: typeof text === "string" && text.endsWith(end),
    message: () => `expected ${text} to end with ${end}`,
  }),
});
