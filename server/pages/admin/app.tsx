/** The administrator's page: which part of it is shown, and the token that it needs. */
import { useEffect, useState } from "preact/hooks";
import { MetricsError } from "../../../core/client/mod.ts";
import { Accounts } from "./accounts.tsx";
import { hasToken, setToken, type AdminStatus } from "./api.ts";
import { Audit } from "./audit.tsx";
import { Collection } from "./collection.tsx";
import { Database } from "./database.tsx";
import { Live } from "./live.tsx";
import { useAdminRead } from "./reads.ts";

const PARTS = {
  accounts: "Accounts",
  collection: "Collection",
  database: "Database",
  live: "Now",
  audit: "Audit",
} as const;

type Part = keyof typeof PARTS;

/** The part that the fragment of the address names. */
function usePart(): Part {
  const read = () => {
    const name = location.hash.slice(1);
    return Object.hasOwn(PARTS, name) ? (name as Part) : "accounts";
  };
  const [part, setPart] = useState(read);
  useEffect(() => {
    const follow = () => setPart(read());
    addEventListener("hashchange", follow);
    return () => removeEventListener("hashchange", follow);
  }, []);
  return part;
}

export function AdminApp() {
  const [isKnown, setKnown] = useState(hasToken());
  const use = (token: string | null) => {
    setToken(token);
    setKnown(token !== null);
  };
  return (
    <>
      <header>
        <a class="brand" href="/">
          Creator metrics
        </a>
        <span>Administration</span>
        {isKnown && <Navigation />}
        {isKnown && (
          <p class="credits">
            <button type="button" class="plain" onClick={() => use(null)}>
              Forget the token
            </button>
          </p>
        )}
      </header>
      <main>{isKnown ? <Parts onRefused={() => use(null)} /> : <TokenForm use={use} />}</main>
    </>
  );
}

function Navigation() {
  const part = usePart();
  return (
    <nav aria-label="Parts">
      {Object.entries(PARTS).map(([name, label]) => (
        <a key={name} href={`#${name}`} aria-current={name === part ? "page" : undefined}>
          {label}
        </a>
      ))}
    </nav>
  );
}

function Parts({ onRefused }: { readonly onRefused: () => void }) {
  const part = usePart();
  const status = useAdminRead<AdminStatus>("status");
  const error = status.state === "failed" ? status.error : undefined;
  const isRefused = error instanceof MetricsError && error.status === 401;
  if (isRefused) {
    return (
      <section class="notice" role="alert">
        <h1>Administration</h1>
        <p>The service does not know this token, or has no administration API.</p>
        <button type="button" onClick={onRefused}>
          Enter another token
        </button>
      </section>
    );
  }
  return (
    <>
      <h1>Administration</h1>
      {part === "accounts" && <Accounts />}
      {part === "collection" && <Collection status={status} />}
      {part === "database" && <Database status={status} />}
      {part === "live" && <Live />}
      {part === "audit" && <Audit />}
    </>
  );
}

function TokenForm({ use }: { readonly use: (token: string) => void }) {
  return (
    <section class="notice">
      <h1>Administration</h1>
      <p>
        Enter the administrator's token: <code>ADMIN_TOKEN</code>, or one that{" "}
        <code>tokens create</code> printed. It stays in this tab, and is forgotten when the tab is
        closed.
      </p>
      <form
        class="row"
        onSubmit={(event) => {
          event.preventDefault();
          const token = new FormData(event.currentTarget).get("token");
          if (typeof token === "string" && token.trim() !== "") use(token.trim());
        }}
      >
        <label for="token">Token</label>
        <input id="token" name="token" type="password" required autocomplete="off" size={40} />
        <button type="submit">Continue</button>
      </form>
    </section>
  );
}
