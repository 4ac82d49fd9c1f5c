/** The parts of `bun:test` that the tests of core use, on Mocha. */
import { format } from "node:util";
import * as fc from "fast-check";
import * as mocha from "mocha";

// The same cases in each run, so that the score is the same too. A failure is not explained, so none
// is shrunk.
fc.configureGlobal({ seed: 20_261_120, endOnFailure: true });

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
export { expect } from "../portability/test-runner.ts";
