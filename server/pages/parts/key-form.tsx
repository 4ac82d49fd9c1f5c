/** The form that takes an API key. */
import { setApiKey } from "../session.ts";

export function KeyForm({ message }: { readonly message?: string }) {
  return (
    <section class="notice">
      <h1>Creator metrics</h1>
      <p>
        Enter an API key to see the numbers that its account may read. The key stays in this tab,
        and is forgotten when the tab is closed.
      </p>
      {message !== undefined && (
        <p role="alert" class="loss">
          {message}
        </p>
      )}
      <form
        class="row"
        onSubmit={(event) => {
          event.preventDefault();
          const key = new FormData(event.currentTarget).get("key");
          if (typeof key === "string" && key.trim() !== "") setApiKey(key.trim());
        }}
      >
        <label for="key">API key</label>
        <input id="key" name="key" required autocomplete="off" spellcheck={false} size={40} />
        <button type="submit">Show the numbers</button>
      </form>
      <p class="muted">
        <code>keys create ACCOUNT</code> on the command line of the service creates a key.
      </p>
    </section>
  );
}
