/** The packages of the executable: their licenses, and the bill of materials. */
import { describe, expect, test } from "bun:test";
import { join } from "node:path";
import Ajv from "ajv";
import addFormats from "ajv-formats";
import packageFile from "../../package.json";
import { listPackages, type System } from "../../server/build/packages.ts";
import { createBillOfMaterials } from "../../server/build/sbom.ts";

const SYSTEM: System = { os: process.platform, cpu: process.arch };

/** The licenses that RELEASING.md allows: none asks for more than its text and a notice. */
const ALLOWED_LICENSES = new Set([
  "MIT",
  "ISC",
  "0BSD",
  "BSD-2-Clause",
  "BSD-3-Clause",
  "Apache-2.0",
  "BlueOak-1.0.0",
  "(MIT OR CC0-1.0)",
]);

/** A schema that the library brings along. */
function readSchema(name: string) {
  const library = Bun.resolveSync("@cyclonedx/cyclonedx-library/package.json", import.meta.dir);
  return Bun.file(join(library, `../res/schema/${name}.SNAPSHOT.schema.json`)).json();
}

describe("listPackages()", () => {
  test("lists only packages with allowed licenses", async () => {
    const packages = await listPackages(SYSTEM);
    const refused = packages.filter(({ license = "" }) => !ALLOWED_LICENSES.has(license));
    expect(refused.map(({ id, license }) => [id, license])).toEqual([]);
  });

  test("lists what package.json names, and the native module of the system alone", async () => {
    const linux = await listPackages({ os: "linux", cpu: "arm64" });
    const direct = linux.filter(({ isDirect }) => isDirect);
    const expected = Object.keys(packageFile.dependencies).toSorted();
    expect(direct.map(({ name }) => name).toSorted()).toEqual(expected);
    const native = linux.filter(({ name }) => /^@libsql\/(?:linux|darwin|win32)-/.test(name));
    expect(native.map(({ name }) => name)).toEqual([
      "@libsql/linux-arm64-gnu",
      "@libsql/linux-arm64-musl",
    ]);
  });

  test("finds the version that a package has of its own", async () => {
    const packages = await listPackages(SYSTEM);
    const elysia = packages.find(({ name }) => name === "elysia");
    const own = elysia?.dependencies.find((id) => id.startsWith("memoirist@"));
    expect(own).toBeString();
    expect(own).not.toBe(`memoirist@${packageFile.dependencies.memoirist}`);
  });
});

describe("createBillOfMaterials()", () => {
  test("is valid CycloneDX 1.6, and the same each time", async () => {
    const text = await createBillOfMaterials(SYSTEM);
    const ajv = new Ajv({ strict: false });
    addFormats(ajv);
    for (const format of ["iri-reference", "idn-email"]) ajv.addFormat(format, true);
    for (const name of ["spdx", "jsf-0.82", "cryptography-defs"]) {
      const { $id: _id, ...schema } = await readSchema(name);
      ajv.addSchema(schema, `http://cyclonedx.org/schema/${name}.SNAPSHOT.schema.json`);
    }
    const validate = ajv.compile(await readSchema("bom-1.6"));
    expect([validate(JSON.parse(text)), validate.errors]).toEqual([true, null]);
    expect(await createBillOfMaterials(SYSTEM)).toBe(text);
  });

  test("names the runtime and each package with its hash and license", async () => {
    const bom = JSON.parse(await createBillOfMaterials(SYSTEM));
    const packages = await listPackages(SYSTEM);
    expect(bom.components).toHaveLength(packages.length + 1);
    const libraries = bom.components.filter(({ type }: { type: string }) => type === "library");
    for (const { hashes, licenses, purl } of libraries) {
      expect([purl, hashes?.[0].content.length, licenses?.length]).toEqual([purl, 128, 1]);
    }
  });
});
