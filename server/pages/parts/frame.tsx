/** The frame around a page: skip link, navigation, focus; and the head of a page with its title. */
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
  const nav = useRef<HTMLElement>(null);
  useEffect(() => {
    // In a narrow window, the navigation scrolls; scrolling into view would also scroll the page.
    const link = nav.current?.querySelector<HTMLElement>("[aria-current]");
    if (link) nav.current?.scrollTo({ left: link.offsetLeft - nav.current.offsetWidth / 2 });
  }, [currentHref, links.length]);
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
          <svg width="20" height="20" viewBox="0 0 16 16" aria-hidden="true">
            <rect width="16" height="16" rx="3" fill="currentColor" />
            <path d="M3 12l3-4 3 2 4-6" fill="none" stroke="var(--background)" stroke-width="2" />
          </svg>
          <span>Creator metrics</span>
        </a>
        {links.length > 0 && (
          <nav ref={nav} aria-label={label}>
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

interface PageHeadProperties {
  readonly title: ComponentChildren;
  /** A picture before the title. */
  readonly picture?: ComponentChildren;
  /** A line or two below the title. */
  readonly below?: ComponentChildren;
  /** What can be done with all of the page. */
  readonly children?: ComponentChildren;
}

export const PageHead = ({ title, picture, below, children }: PageHeadProperties) => (
  <div class="head">
    {picture}
    <div class="title">
      <h1>{title}</h1>
      {below}
    </div>
    {children}
  </div>
);

/** The head of a page whose title is also the title of the document. */
export function Heading({
  text,
  ...head
}: Omit<PageHeadProperties, "title"> & { readonly text: string }) {
  useEffect(() => void (document.title = `${text} · Creator metrics`), [text]);
  return <PageHead title={<Text value={text} />} {...head} />;
}
