/**
 * Metrics have one vocabulary, the catalog of `core/metrics`: details, lists, sorts, metrics, the
 * OpenAPI document and the documents use its names, and call nothing else a gain or a rate.
 */
import { afterAll, expect, test } from "bun:test";
import { GAIN_DEFINITIONS } from "../core/growth.ts";
import { KINDS, type EntityKind } from "../core/kinds.ts";
import { SORTS } from "../core/list-sorts.ts";
import { METRICS } from "../core/metrics/catalog.ts";
import { ESTIMATES } from "../core/metrics/estimate-catalog.ts";
import { ListedUser } from "../core/resources/microblog.ts";
import { ListedChannel } from "../core/resources/video.ts";
import { findSection, readDoc } from "./support/docs.ts";
import type { JsonSchema, OpenApiDocument } from "./support/openapi-examples.ts";
import { startTestService } from "./support/service.ts";

const service = await startTestService();
afterAll(() => service.close());

const document = (await (await fetch(`${service.address}/swagger/json`)).json()) as OpenApiDocument;
const { schemas } = document.components;

const KIND_NAMES: readonly EntityKind[] = ["channel", "short", "user", "tweet"];

const METRIC_NAMES: ReadonlySet<string> = new Set(
  KIND_NAMES.flatMap((kind) => Object.keys(METRICS[kind])),
);

/** Names that sound like a metric: what a gain, a rate or a share could be called. */
const METRIC_WORD =
  /gain|growth|percent|multiple|engagement|rate$|perhour|perday|^(daily|weekly|monthly)/i;

/** Fields that sound like a metric: of a trend, of the specification, of the administration. */
const OTHER_NAMES: ReadonlySet<string> = new Set(["perDay"]);

/** All fields of a schema, also of objects within it. */
function listFields(schema: JsonSchema): string[] {
  const inner = [...(schema.anyOf ?? []), ...(schema.items ? [schema.items] : [])];
  const fields = Object.entries(schema.properties ?? {});
  return [
    ...fields.map(([name]) => name),
    ...fields.flatMap(([, field]) => listFields(field)),
    ...inner.flatMap(listFields),
  ];
}

const getFields = (name: string, field?: string): string[] => {
  const schema = schemas[name];
  const properties = field === undefined ? schema : schema?.properties?.[field];
  return Object.keys(properties?.properties ?? {});
};

test("no field of the OpenAPI document calls a metric otherwise than the catalog", () => {
  const fields = new Set(Object.values(schemas).flatMap(listFields));
  const sounding = [...fields].filter((name) => METRIC_WORD.test(name) && !OTHER_NAMES.has(name));
  expect(sounding.filter((name) => !METRIC_NAMES.has(name))).toEqual([]);
  // All are used, so none of them is another vocabulary.
  expect([...METRIC_NAMES].filter((name) => !fields.has(name))).toEqual([]);
});

test("no parameter, and no sort of a list, calls a metric otherwise than the catalog", () => {
  for (const kind of ["channel", "user"] as const) {
    const metrics = SORTS[kind].filter((sort) => !Object.hasOwn(KINDS[kind].sorts, sort));
    expect(metrics.filter((sort) => METRICS[kind][sort]?.isSort !== true)).toEqual([]);
  }
  const parameters = Object.values(document.paths)
    .flatMap((methods) => Object.values(methods))
    .flatMap((operation) => operation.parameters.map(({ name }) => name));
  const sounding = parameters.filter((name) => METRIC_WORD.test(name));
  expect(sounding.filter((name) => !METRIC_NAMES.has(name))).toEqual([]);
});

test.each([
  ["ChannelMetrics", "channel"],
  ["ShortMetrics", "short"],
  ["UserMetrics", "user"],
  ["TweetMetrics", "tweet"],
] as const)("%s has the metrics of the catalog, in its order", (name, kind) => {
  expect(getFields(name, "metrics")).toEqual(Object.keys(METRICS[kind]));
});

test("details and lists have gains of the catalog", () => {
  expect(getFields("ChannelDetails", "statistics")).toEqual(
    Object.keys(METRICS.channel).slice(0, 3),
  );
  for (const kind of ["channel", "user"] as const) {
    const { properties } = kind === "channel" ? ListedChannel : ListedUser;
    const listed = Object.keys(properties);
    const gains = Object.keys(GAIN_DEFINITIONS[kind]);
    expect(gains.filter((name) => !listed.includes(name))).toEqual([]);
    expect(gains.filter((name) => METRICS[kind][name]?.isDerived !== false)).toEqual([]);
  }
});

test("server/API.md lists every metric and estimate, and no other", async () => {
  const section = findSection(await readDoc("server/API.md"), "## Metrics");
  const named = new Set(Array.from(section.matchAll(/`(\w+)`/g), ([, name = ""]) => name));
  const expected = [...METRIC_NAMES, ...Object.keys(ESTIMATES)];
  expect(expected.filter((name) => !named.has(name))).toEqual([]);
  const sounding = [...named].filter((name) => METRIC_WORD.test(name) && !OTHER_NAMES.has(name));
  expect(sounding.filter((name) => !METRIC_NAMES.has(name))).toEqual([]);
});
