/** The administrator's page: sign-in by token, navigation, the part in the address, outages. */
import "uplot/dist/uPlot.min.css";
import "../style.css";
import "./style.css";
import { ADMIN_SESSION_HOURS } from "../../../core/limits.ts";
import { render, type ComponentChildren } from "preact";
import { useEffect, useRef } from "preact/hooks";
import { MetricsError } from "../../../core/client/mod.ts";
import { Button, Form } from "../parts/form.tsx";
import { Frame } from "../parts/frame.tsx";
import { useProgress } from "../state-hooks.ts";
import { addPrefix, KEY_STORAGE, useAdminAddress } from "../router.ts";
import { adminSession, describeFailure, sendAdmin, setToken, type Resource } from "./api.ts";
import { Account } from "./views/account.tsx";
import { Accounts } from "./views/accounts.tsx";
import { Audit } from "./views/audit.tsx";
import { Collection } from "./views/collection.tsx";
import { Database } from "./views/database.tsx";
import { Live } from "./views/live.tsx";
import { Notices } from "./views/notices.tsx";

const PARTS: Readonly<
  Record<string, (query: URLSearchParams, name: string | undefined) => ComponentChildren>
> = {
  accounts: (query, name) =>
    name === undefined ? (
      <Accounts query={query} />
    ) : (
      <Account key={name} name={name} query={query} />
    ),
  notices: (query) => <Notices query={query} />,
  collection: () => <Collection />,
  database: () => <Database />,
  live: () => <Live />,
  audit: (query) => <Audit query={query} />,
};

const getLabel = (part: string): string => part.charAt(0).toUpperCase() + part.slice(1);

const LINKS = Object.keys(PARTS).map((part) => [`#${part}`, getLabel(part)] as const);

function AdminApp() {
  const { token, refusal, outage } = adminSession.use();
  const { name, query, ...address } = useAdminAddress();
  const part = Object.hasOwn(PARTS, address.part) ? address.part : "accounts";
  const place = `${part} ${name ?? ""} ${token === null}`;
  useEffect(() => {
    document.title = `${name ?? getLabel(part)} · Administration`;
    scrollTo(0, 0);
  }, [place]);
  const signOut = (
    <p class="credits">
      <ShowNumbers /> <Button label="Sign out" look="plain" onClick={() => setToken(null)} />
    </p>
  );
  return (
    <Frame
      label="Administration"
      links={token === null ? [] : LINKS}
      currentHref={`#${part}`}
      place={place}
      aside={token === null ? <span>Administration</span> : signOut}
    >
      {token === null ? (
        <TokenForm refusal={refusal} />
      ) : (
        <>
          <div key={token}>{PARTS[part]?.(query, name)}</div>
          {/* Rendered before it has text, so that screen readers announce the text. */}
          <div role="status">
            {outage !== null && (
              <p class="banner">
                <strong>{outage}</strong> This page tries again every two seconds. Until then, what
                you see may be old.
              </p>
            )}
          </div>
        </>
      )}
    </Frame>
  );
}

/** A button that opens the dashboard in a session, which reads for free. */
function ShowNumbers() {
  const { progress, follow } = useProgress();
  const open = async () => {
    const { session } = await sendAdmin<Resource<"OpenedSession">>("POST", "sessions");
    sessionStorage.setItem(KEY_STORAGE, session);
    location.assign(addPrefix("/"));
  };
  const { isLoading, error } = progress;
  return (
    <>
      <Button
        label="Show the numbers"
        look="plain"
        hint={`Opens the dashboard for ${ADMIN_SESSION_HOURS} hours, free, to look only`}
        isDisabled={isLoading}
        onClick={() => follow(open())}
      />
      {error !== undefined && (
        <span role="alert" class="loss">
          {describeFailure(error)}
        </span>
      )}
    </>
  );
}

function TokenForm({ refusal }: { readonly refusal: string | null }) {
  const { progress, follow } = useProgress();
  const { isLoading, error } = progress;
  const input = useRef<HTMLInputElement>(null);
  const check = async (token: string) => {
    try {
      // Sends a single request, because the service counts wrong tokens.
      await sendAdmin("GET", "status", undefined, token);
    } catch (failure) {
      input.current?.focus();
      input.current?.select();
      throw failure;
    }
    setToken(token);
  };
  const known = error === undefined ? refusal : describeRefusal(error);
  const failure = isLoading ? null : known;
  return (
    <section class="notice">
      <h1>Administration</h1>
      <Form onSubmit={({ token }) => token !== undefined && !isLoading && follow(check(token))}>
        <label class="field">
          <span>Token</span>
          <input
            ref={input}
            id="token"
            name="token"
            type="password"
            required
            autocomplete="off"
            aria-invalid={failure !== null}
            aria-describedby="token-failure"
          />
        </label>
        <p id="token-failure" role="alert" class="loss">
          {failure}
        </p>
        <p>
          <button type="submit" class="primary" disabled={isLoading}>
            {isLoading ? "Wait…" : "Sign in"}
          </button>
        </p>
      </Form>
      <p class="hint">
        The token is the value of <code>ADMIN_TOKEN</code>, or one that <code>tokens create</code>{" "}
        printed. It stays in this tab, and is forgotten when the tab is closed.
      </p>
    </section>
  );
}

function describeRefusal(error: unknown): string {
  const status = error instanceof MetricsError ? error.status : undefined;
  if (status === 401) return "The service does not know this token.";
  if (status === 404) {
    return "This service has no token yet. Set ADMIN_TOKEN, or create one with tokens create.";
  }
  return status === undefined ? "The service does not answer. Try again." : describeFailure(error);
}

const root = document.querySelector("#app");
if (root === null) throw new Error("The document has no #app");
render(<AdminApp />, root);
