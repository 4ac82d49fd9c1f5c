/** Whether pages show derived figures: the operator can turn them off for a platform. */
import type { EntityKind } from "../../core/kinds.ts";

/** The document lists the platforms that have them: see `server/http/pages.ts`. */
function listPlatforms(): string[] {
  const meta = document.querySelector<HTMLMetaElement>('meta[name="derived-metrics"]');
  return meta?.content.split(",") ?? [];
}

/** Whether percentages, rates and other derived figures of a kind of entity may be shown. */
export function hasDerivedFigures(kind: EntityKind): boolean {
  const platform = kind === "channel" || kind === "short" ? "video" : "microblog";
  return listPlatforms().includes(platform);
}
