/** The monitoring list: shows the state of each creator, adds and removes creators. */
import { useRef, useState } from "preact/hooks";
import { MetricsError, type Client } from "../../../core/client/mod.ts";
import { readUsername } from "../../../core/creators.ts";
import { Form } from "../parts/form.tsx";
import { Heading } from "../parts/frame.tsx";
import { Reading } from "../parts/states.tsx";
import { WatchTable } from "../parts/watch-list.tsx";
import { createPath } from "../router.ts";
import { getClient, isAdministrator, session } from "../session.ts";
import { useReading } from "../state-hooks.ts";

export function Creators() {
  const isReadOnly = isAdministrator(session.use().apiKey);
  const [changes, setChanges] = useState(0);
  const [message, setMessage] = useState({ text: "", isFailure: false });
  const input = useRef<HTMLInputElement>(null);
  const read = useReading(`creators ${changes}`, () => getClient().creators.list());
  async function change(method: Exclude<keyof Client["creators"], "list">, creator: string) {
    try {
      const { body } = await getClient().creators[method](creator);
      setMessage({ text: body.message, isFailure: false });
      if (input.current !== null) input.current.value = "";
    } catch (error) {
      const text = error instanceof MetricsError ? error.message : "The service does not answer";
      setMessage({ text, isFailure: true });
    }
    setChanges((count) => count + 1);
    // The pressed button, which had the focus, may be gone.
    input.current?.focus();
  }
  return (
    <>
      <Heading
        text="Monitoring list"
        below={
          <p class="muted">
            The service collects the profiles, tweets and followers of these creators. This page is
            free.
          </p>
        }
      />
      {isReadOnly ? (
        <p class="muted">An administrator’s view changes nothing here.</p>
      ) : (
        <Form
          class="filters"
          onSubmit={(fields) => {
            const creator = readUsername(fields["creator"] ?? "");
            if (creator !== "") void change("add", creator);
          }}
        >
          <label class="hidden" for="creator">
            Username or address
          </label>
          <input
            id="creator"
            name="creator"
            size={30}
            placeholder="Username or address"
            ref={input}
            required
            autocomplete="off"
            autocapitalize="none"
            spellcheck={false}
          />
          <button type="submit" class="primary">
            Add
          </button>
        </Form>
      )}
      <p role="status" class={message.isFailure ? "message loss" : "message"}>
        {message.text}
      </p>
      <Reading read={read}>
        {({ body: { creators } }) => (
          <WatchTable
            caption={`Creators: ${creators.length}`}
            kind="creator"
            items={creators}
            getHref={({ creator = "" }) => createPath("users", creator)}
            onRemove={isReadOnly ? undefined : (creator) => void change("remove", creator)}
            empty="The list is empty. Add a username, and the service begins to collect it."
          />
        )}
      </Reading>
    </>
  );
}
