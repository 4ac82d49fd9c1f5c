/** The usage of an account: by day, by endpoint and by key. */
import type { AccountDetails } from "../../../../core/resources/generated/types.ts";
import { DAY_MS, formatInstant } from "../../../../core/time.ts";
import { UsageChart, UsageTable } from "../../parts/usage.tsx";
import { createFragment } from "../address.ts";
import { Reading } from "../parts.tsx";
import { useAdminRead } from "../reads.ts";

/** The ranges, in days. */
const RANGES = [
  ["", "30 days"],
  ["90", "90 days"],
  ["365", "1 year"],
] as const;

export function Usage({ account, query }: Readonly<{ account: string; query: URLSearchParams }>) {
  const [days, label] = RANGES.find(([value]) => value === query.get("days")) ?? RANGES[0];
  const from = formatInstant(Date.now() - (Number(days || 30) - 1) * DAY_MS).slice(0, 10);
  const path = `usage?${new URLSearchParams({ account, from })}`;
  const byDay = useAdminRead<AccountDetails>(path);
  return (
    <section aria-labelledby="usage-title">
      <h2 id="usage-title">Usage</h2>
      <nav class="row" aria-label="Range of usage">
        {RANGES.map(([value, text]) => (
          <a
            key={value}
            href={createFragment("accounts", account, { days: value })}
            aria-current={value === days ? "true" : undefined}
          >
            {text}
          </a>
        ))}
      </nav>
      <Reading read={byDay}>
        {({ usage }) => (
          <>
            <UsageChart usage={usage} label={label} />
            <div class="columns">
              <Groups path={path} by="endpoint" />
              <Groups path={path} by="key" />
            </div>
          </>
        )}
      </Reading>
    </section>
  );
}

function Groups({ path, by }: { readonly path: string; readonly by: "endpoint" | "key" }) {
  const read = useAdminRead<AccountDetails>(`${path}&by=${by}`);
  return <Reading read={read}>{({ usage }) => <UsageTable by={by} usage={usage} />}</Reading>;
}
