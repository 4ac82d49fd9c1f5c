/** The frame around a page: skip link, navigation, focus; and its heading, which sets the title. */
import type { ComponentChildren } from "preact";
import { useEffect, useRef } from "preact/hooks";
import { Text } from "./figures.tsx";

interface FrameProperties {
  /** Links by their addresses; none before the visitor has a key. */
  readonly links: readonly (readonly [href: string, label: string])[];
  readonly label: string;
  readonly currentHref: string;
  /** Identifies the content: when it changes, the page gets the focus. */
  readonly place: string;
  readonly aside: ComponentChildren;
  readonly children: ComponentChildren;
}

export function Frame(properties: FrameProperties) {
  const { links, label, currentHref, place, aside, children } = properties;
  const main = useRef<HTMLElement>(null);
  const isFirst = useRef(true);
  useEffect(() => {
    // The focus makes screen readers read the new page.
    if (!isFirst.current) main.current?.focus({ preventScroll: true });
    isFirst.current = false;
  }, [place]);
  return (
    <>
      <a
        class="hidden skip"
        href="#main"
        onClick={(event) => {
          // A fragment may be the address of the page.
          event.preventDefault();
          main.current?.focus();
        }}
      >
        Skip to the page
      </a>
      <header>
        <a class="brand" href="/">
          Creator metrics
        </a>
        {links.length > 0 && (
          <nav aria-label={label}>
            {links.map(([href, text]) => (
              <a key={href} href={href} aria-current={href === currentHref ? "page" : undefined}>
                {text}
              </a>
            ))}
          </nav>
        )}
        {aside}
      </header>
      <main id="main" ref={main} tabIndex={-1}>
        {children}
      </main>
    </>
  );
}

export function Heading({ text }: { readonly text: string }) {
  useEffect(() => void (document.title = `${text} · Creator metrics`), [text]);
  return (
    <h1>
      <Text value={text} />
    </h1>
  );
}
