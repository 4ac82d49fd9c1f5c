/** A link to another host, in a new tab: it is marked, and gets no referrer and no window. */
import type { PlatformLink } from "../platform-links.ts";

interface ExternalLinkProperties {
  readonly link: PlatformLink | undefined;
  /** Whether only the mark is shown, for a row that has no room. */
  readonly isShort?: boolean;
}

export function ExternalLink({ link, isShort = false }: ExternalLinkProperties) {
  if (link === undefined) return null;
  const { href, platform } = link;
  return (
    <a
      class="nowrap"
      href={href}
      target="_blank"
      rel="noopener noreferrer"
      title={isShort ? platform : undefined}
    >
      <bdi class={isShort ? "hidden" : undefined}>{platform}</bdi>
      <span aria-hidden="true"> ↗</span>
      <span class="hidden"> (opens in a new tab)</span>
    </a>
  );
}
