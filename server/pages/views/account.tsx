/**
 * The account of the tab's API key: its balance and usage, and buttons to replace and to forget the
 * key. An administrator's session has no account.
 */
import { useState } from "preact/hooks";
import { MetricsError } from "../../../core/client/mod.ts";
import { formatExact, formatLocal } from "../format.ts";
import { BuyCredits } from "../parts/buy-credits.tsx";
import { Figures, Text } from "../parts/figures.tsx";
import { Button, Form } from "../parts/form.tsx";
import { Heading } from "../parts/frame.tsx";
import { NewKey, OverlapChoice } from "../parts/new-key.tsx";
import { Empty, Reading } from "../parts/states.tsx";
import { UsageOfDays, UsageTable } from "../parts/usage.tsx";
import {
  forgetApiKey,
  getClient,
  isAdministrator,
  readAccount,
  rotateApiKey,
  session,
} from "../session.ts";
import { useProgress, useReading } from "../state-hooks.ts";

export function Account() {
  const { apiKey } = session.use();
  return (
    <>
      <Heading text="Account" />
      {isAdministrator(apiKey) ? (
        <Empty>
          An administrator’s view has no account and takes no credits.{" "}
          <a href="/admin">Administration</a> has all accounts.
        </Empty>
      ) : (
        <AccountOfKey />
      )}
    </>
  );
}

function AccountOfKey() {
  const read = useReading("account", readAccount);
  return (
    <>
      <ReplacedKey />
      <Reading read={read}>
        {({ account: name, balance, usage }) => (
          <>
            <Figures
              items={[
                ["Credits left", formatExact(balance)],
                [
                  "Used in 30 days",
                  formatExact(usage.reduce((sum, row) => sum + row.credits - row.refunded, 0)),
                ],
                ["Account", <Text value={name} />],
              ]}
            />
            <p>
              <BuyCredits />
            </p>
            <h2>Usage</h2>
            <UsageOfDays
              usage={usage}
              label="30 days"
              isShareable
              renderGroups={(by) => <Groups by={by} />}
            />
          </>
        )}
      </Reading>
      <KeyButtons />
    </>
  );
}

/** The key that replaced another one a moment ago. */
function ReplacedKey() {
  const { newKey } = session.use();
  if (newKey === null) return null;
  return (
    <section class="notice">
      <NewKey created={newKey} onClose={() => session.update({ newKey: null })} />
      <p>
        This tab uses it from now on. The old key is valid until{" "}
        {formatLocal(newKey.old_expires_at)}.
      </p>
    </section>
  );
}

function KeyButtons() {
  const [isReplacing, setReplacing] = useState(false);
  return (
    <>
      {isReplacing && <Replacement onCancel={() => setReplacing(false)} />}
      <p class="row">
        {!isReplacing && <Button label="Replace the key" onClick={() => setReplacing(true)} />}
        <Button label="Forget the key" onClick={forgetApiKey} />
        <a href="/swagger">API reference</a>
      </p>
    </>
  );
}

/** Asks when the old key ends, and whether to replace it. */
function Replacement({ onCancel }: { readonly onCancel: () => void }) {
  const { progress, follow } = useProgress();
  const { isLoading, error } = progress;
  return (
    <Form
      class="notice"
      aria-label="Replace the key"
      onSubmit={({ overlap }) => !isLoading && follow(rotateApiKey(overlap))}
    >
      <p>
        There will be a new key with the same label and scopes, which is shown once. Put it wherever
        the old one is used, before the old one ends.
      </p>
      <p class="row">
        <label class="control">
          The old key ends <OverlapChoice />
        </label>
        <button type="submit" class="primary" disabled={isLoading}>
          {isLoading ? "Wait…" : "Replace it"}
        </button>
        <Button label="Cancel" isDisabled={isLoading} onClick={onCancel} />
      </p>
      <p role="alert" class="loss">
        {!isLoading && error !== undefined && describeFailure(error)}
      </p>
    </Form>
  );
}

const describeFailure = (error: unknown): string =>
  error instanceof MetricsError
    ? `${error.message}.`
    : "The service does not answer. The key may be replaced or not: try again, and it says so.";

function Groups({ by }: { readonly by: "endpoint" | "key" }) {
  const read = useReading(`account by ${by}`, () => getClient().account({ by }));
  return (
    <Reading read={read}>{({ body: { usage } }) => <UsageTable by={by} usage={usage} />}</Reading>
  );
}
