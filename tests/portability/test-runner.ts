/** Runs tests written for `bun:test` in any runtime: bundles have it in place of that module. */
import { chai, JestAsymmetricMatchers, JestChaiExpect } from "@vitest/expect";

type Body = () => unknown;

interface Suite {
  readonly name: string;
  readonly before: Body[];
  readonly after: Body[];
  readonly children: (Suite | TestCase)[];
}

interface TestCase {
  readonly name: string;
  /** None for a skipped test. */
  readonly body: Body | undefined;
}

/** The results of all tests. A failure is the name of its test and what happened. */
export interface SuiteResults {
  passed: number;
  skipped: number;
  readonly failures: string[];
}

const createSuite = (name: string): Suite => ({ name, before: [], after: [], children: [] });

const root = createSuite("");
let current = root;

const add = (name: string, body: Body | undefined) => current.children.push({ name, body });

/** `test.each()` and `describe.each()`: defines one for each row. */
const createEach =
  (define: (name: string, body: Body) => void) =>
  (rows: readonly unknown[]) =>
  (name: string, body: (...row: readonly unknown[]) => unknown) => {
    for (const row of rows) {
      const values: readonly unknown[] = Array.isArray(row) ? row : [row];
      define(`${name} ${values.map(String).join(", ")}`, () => body(...values));
    }
  };

/** A test. Unlike in `bun:test`, it has no time limit of its own: the whole run has one. */
export const test = Object.assign((name: string, body: Body) => void add(name, body), {
  each: createEach(add),
  skipIf: (isSkipped: boolean) => (name: string, body: Body) =>
    void add(name, isSkipped ? undefined : body),
});

function defineSuite(name: string, body: Body): void {
  const parent = current;
  current = createSuite(name);
  parent.children.push(current);
  if (body() instanceof Promise) throw new TypeError(`describe(${name}) must not be async`);
  current = parent;
}

export const describe = Object.assign(defineSuite, { each: createEach(defineSuite) });

export const beforeAll = (body: Body): void => void current.before.push(body);
export const afterAll = (body: Body): void => void current.after.push(body);

chai.use(JestChaiExpect);
chai.use(JestAsymmetricMatchers);
// Matchers of `bun:test` that `@vitest/expect` lacks.
addTextMatcher("toStartWith", (text, part) => text.startsWith(part));
addTextMatcher("toEndWith", (text, part) => text.endsWith(part));
export const expect = chai.expect;

function addTextMatcher(name: string, matches: (text: string, part: string) => boolean): void {
  chai.Assertion.addMethod(name, function check(this: Chai.AssertionStatic, part: string) {
    const text = String(chai.util.flag(this, "object"));
    const [received, argument] = [JSON.stringify(text), JSON.stringify(part)];
    const message = `expected ${received}: ${name}(${argument})`;
    this.assert(matches(text, part), message, `${message} is not so`, part, text);
  });
}

/** Records the calls of a method, which it still makes. */
export function spyOn(target: object, name: string) {
  const original: unknown = Reflect.get(target, name);
  if (typeof original !== "function") throw new TypeError(`${name} is no function`);
  const calls: unknown[][] = [];
  Reflect.set(target, name, (...args: unknown[]): unknown => {
    calls.push(args);
    return Reflect.apply(original, target, args);
  });
  return { mock: { calls }, mockRestore: () => void Reflect.set(target, name, original) };
}

/** Runs all tests that were defined, in their order. */
export async function runTests(): Promise<SuiteResults> {
  const results: SuiteResults = { passed: 0, skipped: 0, failures: [] };
  await runSuite(root, "", results);
  return results;
}

async function runSuite(suite: Suite, path: string, results: SuiteResults): Promise<void> {
  for (const hook of suite.before) await hook();
  for (const child of suite.children) {
    const name = `${path}${child.name}`;
    if ("children" in child) await runSuite(child, `${name} > `, results);
    else if (child.body === undefined) results.skipped++;
    else await runTest(name, child.body, results);
  }
  for (const hook of suite.after) await hook();
}

async function runTest(name: string, body: Body, results: SuiteResults): Promise<void> {
  try {
    await body();
    results.passed++;
  } catch (error) {
    const reason = error instanceof Error ? `${error.name}: ${error.message}` : String(error);
    results.failures.push(`${name}\n    ${reason.slice(0, 600)}`);
  }
}
