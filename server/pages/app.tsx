/** The frame of every page: the navigation, the key, the credits; and which page an address means. */
import { useEffect, useLayoutEffect, useRef } from "preact/hooks";
import type { ComponentChildren } from "preact";
import { formatExact } from "./format.ts";
import { useSession } from "./hooks.ts";
import { matchPath, useAddress } from "./router.ts";
import { forgetReads, readAccount, startPage } from "./session.ts";
import { KeyForm } from "./parts/key-form.tsx";
import { Empty } from "./parts/states.tsx";
import { Account } from "./views/account.tsx";
import { Channel } from "./views/channel.tsx";
import { Channels } from "./views/channels.tsx";
import { Compare } from "./views/compare.tsx";
import { Creators } from "./views/creators.tsx";
import { Short } from "./views/short.tsx";
import { Tweet } from "./views/tweet.tsx";
import { User } from "./views/user.tsx";
import { Users } from "./views/users.tsx";

interface Page {
  readonly title: string;
  readonly view: ComponentChildren;
}

type CreatePage = (parameters: Readonly<Record<string, string>>) => Page;

const PAGES: Readonly<Record<string, CreatePage>> = {
  "/": () => ({ title: "Channels", view: <Channels /> }),
  "/channels": () => ({ title: "Channels", view: <Channels /> }),
  "/channels/:channel": ({ channel = "" }) => ({
    title: channel,
    view: <Channel key={channel} channel={channel} />,
  }),
  "/channels/:channel/shorts/:short": ({ channel = "", short = "" }) => ({
    title: short,
    view: <Short key={`${channel} ${short}`} channel={channel} short={short} />,
  }),
  "/users": () => ({ title: "Users", view: <Users /> }),
  "/users/:username": ({ username = "" }) => ({
    title: username,
    view: <User key={username} username={username} />,
  }),
  "/users/:username/tweets/:id": ({ username = "", id = "" }) => ({
    title: `Tweet ${id}`,
    view: <Tweet key={`${username} ${id}`} username={username} id={id} />,
  }),
  "/compare": () => ({ title: "Compare", view: <Compare /> }),
  "/creators": () => ({ title: "Monitoring list", view: <Creators /> }),
  "/account": () => ({ title: "Account", view: <Account /> }),
};

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
  for (const [pattern, create] of Object.entries(PAGES)) {
    const parameters = matchPath(pattern, path);
    if (parameters !== undefined) return create(parameters);
  }
  return MISSING_PAGE;
}

export function App() {
  const { apiKey, isRefused } = useSession();
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
  const { creditsRemaining, pageCost } = useSession();
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
            <button
              type="button"
              class="plain"
              title="Reads the page again, at its price"
              onClick={() => {
                forgetReads();
                location.reload();
              }}
            >
              Reload
            </button>
          </p>
        </>
      )}
    </header>
  );
}
