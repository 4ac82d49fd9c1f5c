/** The form that takes an API key. */
import { setApiKey } from "../session.ts";
import { Form } from "./form.tsx";

export function KeyForm({ isRefused }: { readonly isRefused: boolean }) {
  return (
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
}
