/** Lets Node run the tests of core: TypeScript through tsx, `bun:test` through Mocha. */
import { register } from "node:module";
import { register as registerTsx } from "tsx/esm/api";

registerTsx();
const bunTest = new URL("bun-test.js", import.meta.url).href;
const hooks = `export const resolve = (name, context, next) =>
  next(name === "bun:test" ? ${JSON.stringify(bunTest)} : name, context);`;
register(`data:text/javascript,${encodeURIComponent(hooks)}`);
