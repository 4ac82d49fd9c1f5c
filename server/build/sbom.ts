/** Writes the bill of materials of an executable: its packages with versions, licenses and hashes. */
import { Enums, Models, Serialize, Spec } from "@cyclonedx/cyclonedx-library";
import packageFile from "../../package.json" with { type: "json" };
import { listPackages, type InstalledPackage, type System } from "./packages.ts";

const BUN_VERSION = packageFile.packageManager.replace("bun@", "");

/** The identifier of a package for other tools: https://github.com/package-url/purl-spec. */
const createPackageUrl = ({ name, version }: { name: string; version: string }) =>
  `pkg:npm/${name.replace("@", "%40")}@${version}`;

function createLicense(license: string) {
  return /[ ()]/.test(license)
    ? new Models.LicenseExpression(license)
    : new Models.SpdxLicense(license);
}

function createComponent(installed: InstalledPackage): Models.Component {
  const { name, version, integrity, license } = installed;
  const [, group, baseName = name] = /^(@[^/]+)\/(.+)$/.exec(name) ?? [];
  const component = new Models.Component(Enums.ComponentType.Library, baseName, {
    ...(group !== undefined && { group }),
    version,
    purl: createPackageUrl(installed),
    bomRef: createPackageUrl(installed),
  });
  const [, sha512 = ""] = /^sha512-(.+)$/.exec(integrity) ?? [];
  component.hashes.set(
    Enums.HashAlgorithm["SHA-512"],
    Buffer.from(sha512, "base64").toString("hex"),
  );
  if (license !== undefined) component.licenses.add(createLicense(license));
  return component;
}

/**
 * Creates the bill of materials of the executable for a system, in the format CycloneDX 1.6, as JSON.
 * It has no time and no random number, so that two builds of a commit have the same one.
 */
export async function createBillOfMaterials(system: System): Promise<string> {
  const { name, version, license } = packageFile;
  const service = new Models.Component(Enums.ComponentType.Application, name, {
    version,
    bomRef: name,
  });
  service.licenses.add(new Models.SpdxLicense(license));
  const runtime = new Models.Component(Enums.ComponentType.Platform, "bun", {
    version: BUN_VERSION,
    purl: createPackageUrl({ name: "bun", version: BUN_VERSION }),
    bomRef: "bun",
  });
  runtime.licenses.add(new Models.SpdxLicense("MIT"));
  const bom = new Models.Bom({ metadata: new Models.Metadata({ component: service }) });
  bom.components.add(runtime);
  service.dependencies.add(runtime.bomRef);
  const packages = await listPackages(system);
  const components = new Map(
    packages.map((installed) => [installed.id, createComponent(installed)]),
  );
  for (const { id, dependencies, isDirect } of packages) {
    const component = components.get(id);
    if (component === undefined) continue;
    bom.components.add(component);
    if (isDirect) service.dependencies.add(component.bomRef);
    for (const dependency of dependencies) {
      const target = components.get(dependency);
      if (target !== undefined) component.dependencies.add(target.bomRef);
    }
  }
  const factory = new Serialize.JSON.Normalize.Factory(Spec.Spec1dot6);
  const options = { sortLists: true, space: 2 };
  return `${new Serialize.JsonSerializer(factory).serialize(bom, options)}\n`;
}
