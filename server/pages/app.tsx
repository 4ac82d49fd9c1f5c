/** The frame of every page: the navigation, the key, the credits; and which page an address means. */
import { useEffect, useLayoutEffect, useRef } from "preact/hooks";
import type { ComponentChildren } from "preact";
import { formatExact } from "./format.ts";
import { KIND_LABELS } from "./labels.ts";
import { CHANNEL_PAGES } from "./owners/channels.ts";
import { USER_PAGES } from "./owners/users.ts";
import { splitPath, useAddress } from "./router.ts";
import { forgetReads, readAccount, session, startPage } from "./session.ts";
import { Button } from "./parts/form.tsx";
import { KeyForm } from "./parts/key-form.tsx";
import { Empty } from "./parts/states.tsx";
import { Account } from "./views/account.tsx";
import { Compare } from "./views/compare.tsx";
import { Creators } from "./views/creators.tsx";
import { Item } from "./views/item.tsx";
import { Owner } from "./views/owner.tsx";
import { Owners } from "./views/owners.tsx";

interface Page {
  readonly title: string;
  readonly view: ComponentChildren;
}

const OWNERS = [CHANNEL_PAGES, USER_PAGES] as const;

/** The pages whose address is one word. */
const SINGLE_PAGES: ReadonlyMap<string, Page> = new Map([
  ["compare", { title: "Compare", view: <Compare /> }],
  ["creators", { title: "Monitoring list", view: <Creators /> }],
  ["account", { title: "Account", view: <Account /> }],
]);

const NAVIGATION = [
  ["/channels", "Channels"],
  ["/users", "Users"],
  ["/compare", "Compare"],
  ["/creators", "Monitoring list"],
  ["/account", "Account"],
] as const;

/** Shown without a key, too. */
const MISSING_PAGE: Page = {
  title: "Not found",
  view: (
    <Empty>
      There is no such page. <a href="/channels">See all channels</a>
    </Empty>
  ),
};

function findPage(path: string): Page {
  const [first = "channels", name, itemPath, id, ...others] = splitPath(path);
  const owner = OWNERS.find((pages) => pages.path === first);
  if (owner === undefined) {
    return (name === undefined ? SINGLE_PAGES.get(first) : undefined) ?? MISSING_PAGE;
  }
  if (name === undefined) {
    return { title: `${KIND_LABELS[owner.kind]}s`, view: <Owners key={first} owner={owner} /> };
  }
  if (name === "" || others.length > 0) return MISSING_PAGE;
  if (itemPath === undefined) {
    const key = `${first} ${name}`;
    return { title: name, view: <Owner key={key} owner={owner} name={name} /> };
  }
  if (itemPath !== owner.itemPath || !id) return MISSING_PAGE;
  const key = `${first} ${name} ${id}`;
  return { title: id, view: <Item key={key} owner={owner} name={name} id={id} /> };
}

export function App() {
  const { apiKey, isRefused } = session.use();
  const { path } = useAddress();
  const main = useRef<HTMLElement>(null);
  const page = findPage(path);
  const { title, view } = page;
  const hasKey = apiKey !== null && !isRefused;
  useEffect(() => {
    // The balance is in view before anything is read. It is free; a wrong key shows in the page.
    if (apiKey !== null) readAccount().catch(() => undefined);
  }, [apiKey]);
  const isFirst = useRef(true);
  // A page that knows a better title sets it afterwards.
  useLayoutEffect(() => void (document.title = `${title} · Creator metrics`), [path]);
  useEffect(() => {
    if (isFirst.current) {
      isFirst.current = false;
      return;
    }
    startPage();
    // A reader of the screen hears the new page.
    main.current?.focus({ preventScroll: true });
  }, [path, apiKey]);
  return (
    <>
      <a class="skip" href="#main">
        Skip to the page
      </a>
      <Header path={path} hasKey={hasKey} />
      <main id="main" ref={main} tabIndex={-1} key={apiKey}>
        {hasKey || page === MISSING_PAGE ? view : <KeyForm isRefused={isRefused} />}
      </main>
    </>
  );
}

function Header({ path, hasKey }: { readonly path: string; readonly hasKey: boolean }) {
  const { creditsRemaining, pageCost } = session.use();
  return (
    <header>
      <a class="brand" href="/">
        Creator metrics
      </a>
      {hasKey && (
        <>
          <nav aria-label="Pages">
            {NAVIGATION.map(([href, label]) => {
              const isCurrent = path.startsWith(href) || (path === "/" && href === "/channels");
              return (
                <a key={href} href={href} aria-current={isCurrent ? "page" : undefined}>
                  {label}
                </a>
              );
            })}
          </nav>
          <p class="credits">
            {creditsRemaining !== null && <>{formatExact(creditsRemaining)} credits left · </>}
            this page cost {pageCost}{" "}
            <Button
              label="Reload"
              look="plain"
              hint="Reads the page again, at its price"
              onClick={() => {
                forgetReads();
                location.reload();
              }}
            />
          </p>
        </>
      )}
    </header>
  );
}
