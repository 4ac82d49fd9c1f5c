/** The dashboard: form for the API key, navigation, the page in the address, the credits left. */
import "uplot/dist/uPlot.min.css";
import "./style.css";
import { Fragment, render, type ComponentChildren } from "preact";
import { useEffect, useLayoutEffect } from "preact/hooks";
import { formatExact } from "./format.ts";
import { getPluralLabel } from "./labels.ts";
import { OWNERS } from "./owners/owners.ts";
import { followLinks, splitPath, useAddress } from "./router.ts";
import { handOverKey, readAccount, session, setApiKey } from "./session.ts";
import { Button, Form } from "./parts/form.tsx";
import { Frame } from "./parts/frame.tsx";
import { Empty } from "./parts/states.tsx";
import { Account } from "./views/account.tsx";
import { Compare } from "./views/compare.tsx";
import { Creators } from "./views/creators.tsx";
import { Item, Owner } from "./views/owner.tsx";
import { Owners } from "./views/owners.tsx";

type Page = Readonly<{ title: string; view: ComponentChildren }>;

/** The pages of the navigation, by their addresses; the first one is also at `/`. */
const PAGES: ReadonlyMap<string, Page> = new Map([
  ...OWNERS.map((owner): [string, Page] => {
    const view = <Owners key={owner.path} owner={owner} />;
    return [owner.path, { title: getPluralLabel(owner.kind), view }];
  }),
  ["compare", { title: "Compare", view: <Compare /> }],
  ["creators", { title: "Monitoring list", view: <Creators /> }],
  ["account", { title: "Account", view: <Account /> }],
]);

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
  if (name === undefined) return PAGES.get(first) ?? MISSING_PAGE;
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
    if (apiKey !== null) readAccount().catch(() => undefined);
  }, [apiKey]);
  // A page that knows a better title sets it afterwards.
  useLayoutEffect(() => void (document.title = `${page.title} · Creator metrics`), [path]);
  useEffect(() => session.update({ pageCost: 0 }), [path, apiKey]);
  const [part = "channels"] = splitPath(path);
  return (
    <Frame
      label="Pages"
      links={hasKey ? Array.from(PAGES, ([name, { title }]) => [`/${name}`, title]) : []}
      currentHref={`/${part}`}
      place={`${path} ${apiKey}`}
      aside={hasKey && <Credits />}
    >
      <Fragment key={apiKey}>
        {hasKey || page === MISSING_PAGE ? page.view : <KeyForm isRefused={isRefused} />}
      </Fragment>
    </Frame>
  );
}

function Credits() {
  const { creditsRemaining, pageCost } = session.use();
  return (
    <p class="credits">
      {creditsRemaining !== null && <>{formatExact(creditsRemaining)} credits left · </>}
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

const KeyForm = ({ isRefused }: { readonly isRefused: boolean }) => (
  <section class="notice">
    <h1>Creator metrics</h1>
    <p>
      Enter an API key to see the numbers that its account may read. The key stays in this tab and
      in those that you open from it, and is forgotten when they are closed.
    </p>
    {isRefused && (
      <p role="alert" class="loss">
        The service does not know this API key. It may be mistyped, revoked or expired.
      </p>
    )}
    <Form class="row" onSubmit={({ key }) => key !== undefined && setApiKey(key)}>
      <label for="key">API key</label>
      <input id="key" name="key" required autocomplete="off" spellcheck={false} size={40} />
      <button type="submit">Show the numbers</button>
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
