/** The dashboard: form for the API key, navigation, the page in the address, credits or a free view. */
import "uplot/dist/uPlot.min.css";
import "./style.css";
import { Fragment, render, type ComponentChildren } from "preact";
import { useEffect, useLayoutEffect } from "preact/hooks";
import { formatExact, formatTime } from "./format.ts";
import { getPluralLabel } from "./labels.ts";
import { OWNERS } from "./owners/owners.ts";
import { followLinks, splitPath, useAddress } from "./router.ts";
import {
  endSession,
  enterApiKey,
  handOverKey,
  isAdministrator,
  readAccount,
  readSessionEnd,
  session,
} from "./session.ts";
import { BuyCredits } from "./parts/buy-credits.tsx";
import { Button, Form } from "./parts/form.tsx";
import { Frame } from "./parts/frame.tsx";
import { Empty, Failed } from "./parts/states.tsx";
import { useProgress } from "./state-hooks.ts";
import { Account } from "./views/account.tsx";
import { Compare } from "./views/compare.tsx";
import { Creators } from "./views/creators.tsx";
import { Home } from "./home/home.tsx";
import { Item, Owner } from "./views/owner.tsx";
import { List, Lists } from "./lists/lists.tsx";
import { Owners } from "./views/owners.tsx";

type Page = Readonly<{ title: string; view: ComponentChildren }>;

/** The pages of the navigation, by the first parts of their addresses; that of home is empty. */
const PAGES: ReadonlyMap<string, Page> = new Map([
  ["", { title: "Home", view: <Home /> }],
  ...OWNERS.map((owner): [string, Page] => {
    const view = <Owners key={owner.path} owner={owner} />;
    return [owner.path, { title: getPluralLabel(owner.kind), view }];
  }),
  ["compare", { title: "Compare", view: <Compare /> }],
  ["lists", { title: "Lists", view: <Lists /> }],
  ["creators", { title: "Monitoring list", view: <Creators /> }],
  ["account", { title: "Account", view: <Account /> }],
]);

const MISSING_PAGE: Page = {
  title: "Not found",
  view: (
    <Empty
      title="There is no such page"
      action={
        <a class="button" href="/">
          Go home
        </a>
      }
    >
      The address may be mistyped, or of another version of the service.
    </Empty>
  ),
};

function findPage(path: string): Page {
  const [first = "", name, itemPath, id, ...others] = splitPath(path);
  if (name === undefined) return PAGES.get(first) ?? MISSING_PAGE;
  if (first === "lists" && itemPath === undefined) {
    return { title: name, view: <List key={path} name={name} /> };
  }
  const owner = OWNERS.find((pages) => pages.path === first);
  if (owner === undefined || others.length > 0) return MISSING_PAGE;
  if (itemPath === undefined) {
    return { title: name, view: <Owner key={path} owner={owner} name={name} /> };
  }
  if (itemPath !== owner.itemPath || id === undefined) return MISSING_PAGE;
  return { title: id, view: <Item key={path} owner={owner} name={name} id={id} /> };
}

function App() {
  const { apiKey, isRefused } = session.use();
  const { path } = useAddress();
  const page = findPage(path);
  const hasKey = apiKey !== null && !isRefused;
  useEffect(() => {
    // Shows the balance first, which is free to read. The page itself reports a wrong key.
    const readHeader = isAdministrator(apiKey) ? readSessionEnd : readAccount;
    if (apiKey !== null) readHeader().catch(() => undefined);
  }, [apiKey]);
  // A page that knows a better title sets it afterwards.
  useLayoutEffect(() => void (document.title = `${page.title} · Creator metrics`), [path]);
  useEffect(() => session.update({ pageCost: 0 }), [path, apiKey]);
  const [part = ""] = splitPath(path);
  const isFree = isAdministrator(apiKey);
  const pages = Array.from(PAGES, ([name, { title }]) => [`/${name}`, title] as const);
  // An administrator's session has no account, whose lists and balance these are.
  const links = isFree ? pages.filter(([href]) => !/^\/(?:account|lists)$/.test(href)) : pages;
  return (
    <Frame
      label="Pages"
      links={hasKey ? links : []}
      currentHref={`/${part}`}
      place={`${path} ${apiKey}`}
      aside={hasKey && (isFree ? <FreeView /> : <Credits />)}
    >
      <Fragment key={apiKey}>
        {hasKey || page === MISSING_PAGE ? (
          page.view
        ) : (
          <KeyForm refused={isRefused ? apiKey : null} />
        )}
      </Fragment>
    </Frame>
  );
}

/** A page costs a few credits, so this is enough for about thirty. */
const FEW_CREDITS = 100;

function Credits() {
  const { creditsRemaining, pageCost } = session.use();
  return (
    <p class="credits">
      {creditsRemaining !== null && <>{formatExact(creditsRemaining)} credits left · </>}
      {creditsRemaining !== null && creditsRemaining < FEW_CREDITS && <BuyCredits after=" · " />}
      this page cost {pageCost}{" "}
      <Button
        label="Reload"
        look="plain"
        hint="Reads the page again, at its price"
        onClick={() => location.reload()}
      />
    </p>
  );
}

/** What an administrator's session shows in place of credits. */
function FreeView() {
  const { endsAt } = session.use();
  const { progress, follow } = useProgress();
  return (
    <p class="credits">
      Administrator’s view, free
      {endsAt !== null && (
        <>
          , until <time dateTime={endsAt}>{formatTime(endsAt)}</time>
        </>
      )}{" "}
      <Button
        label="End"
        about="End the administrator’s view"
        look="plain"
        isDisabled={progress.isLoading}
        onClick={() => follow(endSession())}
      />
      <Failed error={progress.error} />
    </p>
  );
}

const KeyForm = ({ refused }: { readonly refused: string | null }) => (
  <section class="notice">
    <h1>Creator metrics</h1>
    <p>
      Enter an API key to see the numbers that its account may read. The key stays in this tab and
      in those that you open from it, and is forgotten when they are closed.
    </p>
    {refused !== null && (
      <p role="alert" class="loss">
        {isAdministrator(refused) ? (
          <>
            The administrator’s view has ended. <a href="/admin">Open it again</a>
          </>
        ) : (
          "The service does not know this API key. It may be mistyped, revoked or expired."
        )}
      </p>
    )}
    <Form
      onSubmit={({ key, remember }) => key !== undefined && enterApiKey(key, remember === "on")}
    >
      <div class="row">
        <label for="key">API key</label>
        <input id="key" name="key" required autocomplete="off" spellcheck={false} size={40} />
        <button type="submit" class="primary">
          Show the numbers
        </button>
      </div>
      <label class="control">
        <input type="checkbox" name="remember" aria-describedby="remember-hint" />
        Remember on this device
      </label>
      <p id="remember-hint" class="hint">
        Everyone who uses this browser can then use the key, until you choose Forget the key.
      </p>
    </Form>
    <p class="muted">
      <code>keys create ACCOUNT</code> on the command line of the service creates a key.
    </p>
  </section>
);

const root = document.querySelector("#app");
if (root === null) throw new Error("The document has no #app");
followLinks();
await handOverKey();
// In a task of its own: in one task with the start of the program, it would block the page.
setTimeout(() => render(<App />, root));
