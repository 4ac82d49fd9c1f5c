/** The administrator's page: asks for the token, and shows the part in the address. */
import { useEffect, useRef, useState } from "preact/hooks";
import type { ComponentChildren } from "preact";
import { MetricsError } from "../../../core/client/mod.ts";
import { useAdminAddress, type AdminAddress } from "./address.ts";
import { Button, Form } from "../parts/form.tsx";
import { Frame } from "../parts/frame.tsx";
import { adminSession, describeFailure, sendAdmin, setToken } from "./api.ts";
import { Account } from "./views/account.tsx";
import { Accounts } from "./views/accounts.tsx";
import { Audit } from "./views/audit.tsx";
import { Collection } from "./views/collection.tsx";
import { Database } from "./views/database.tsx";
import { Live } from "./views/live.tsx";
import { Notices } from "./views/notices.tsx";

interface Part {
  readonly label: string;
  readonly render: (address: AdminAddress) => ComponentChildren;
}

const PARTS = {
  accounts: {
    label: "Accounts",
    render: ({ name, query }) =>
      name === undefined ? (
        <Accounts query={query} />
      ) : (
        <Account key={name} name={name} query={query} />
      ),
  },
  notices: { label: "Notices", render: ({ query }) => <Notices query={query} /> },
  collection: { label: "Collection", render: () => <Collection /> },
  database: { label: "Database", render: () => <Database /> },
  live: { label: "Live", render: () => <Live /> },
  audit: { label: "Audit", render: ({ query }) => <Audit query={query} /> },
} as const satisfies Readonly<Record<string, Part>>;

type PartName = keyof typeof PARTS;

const getPartName = ({ part }: AdminAddress): PartName =>
  Object.hasOwn(PARTS, part) ? (part as PartName) : "accounts";

const LINKS = Object.entries(PARTS).map(([name, { label }]) => [`#${name}`, label] as const);

export function AdminApp() {
  const { token, refusal, outage } = adminSession.use();
  const address = useAdminAddress();
  const partName = getPartName(address);
  const part: Part = PARTS[partName];
  const place = `${partName} ${address.name ?? ""} ${token === null}`;
  useEffect(() => {
    document.title = `${address.name ?? part.label} · Administration`;
    scrollTo(0, 0);
  }, [place]);
  const signOut = (
    <p class="credits">
      <Button label="Sign out" look="plain" onClick={() => setToken(null)} />
    </p>
  );
  return (
    <Frame
      label="Administration"
      links={token === null ? [] : LINKS}
      currentHref={`#${partName}`}
      place={place}
      aside={token === null ? <span>Administration</span> : signOut}
    >
      {token === null ? (
        <TokenForm refusal={refusal} />
      ) : (
        <>
          <div key={token}>{part.render(address)}</div>
          {/* It is there before it says something, so that it is heard. */}
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

function TokenForm({ refusal }: { readonly refusal: string | null }) {
  const [failure, setFailure] = useState(refusal);
  const [isBusy, setBusy] = useState(false);
  const input = useRef<HTMLInputElement>(null);
  const check = async (token: string) => {
    setBusy(true);
    setFailure(null);
    try {
      // One request: the service counts wrong tokens.
      await sendAdmin("GET", "status", undefined, token);
      setToken(token);
    } catch (error) {
      setBusy(false);
      setFailure(describeRefusal(error));
      input.current?.focus();
      input.current?.select();
    }
  };
  return (
    <section class="notice">
      <h1>Administration</h1>
      <Form onSubmit={({ token }) => token !== undefined && !isBusy && void check(token)}>
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
          <button type="submit" class="primary" disabled={isBusy}>
            {isBusy ? "Wait…" : "Sign in"}
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
