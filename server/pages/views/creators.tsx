/** The monitoring list: which creators are collected, and whether that succeeds. */
import { useRef, useState } from "preact/hooks";
import { readUsername } from "../../../core/creators.ts";
import { MetricsError, type Client, type Result } from "../../../core/client/mod.ts";
import type { CreatorResult, ListedCreator } from "../../../core/resources/generated/types.ts";
import { useFreeRead } from "../hooks.ts";
import { createPath } from "../router.ts";
import { getClient } from "../session.ts";
import { createCollectionColumns } from "../parts/collection-columns.tsx";
import { Text } from "../parts/figures.tsx";
import { Form } from "../parts/form.tsx";
import { Heading } from "../parts/heading.tsx";
import { Reading } from "../parts/states.tsx";
import { Table, type Column } from "../parts/table.tsx";

export function Creators() {
  const [changes, setChanges] = useState(0);
  const [message, setMessage] = useState<{ text: string; isFailure: boolean }>();
  const input = useRef<HTMLInputElement>(null);
  const read = useFreeRead(
    `creators ${changes}`,
    async ({ creators }) => (await creators.list()).body,
  );
  async function change(
    request: (creators: Client["creators"]) => Promise<Result<CreatorResult>>,
  ): Promise<void> {
    try {
      const { body } = await request(getClient().creators);
      setMessage({ text: body.message, isFailure: false });
      if (input.current !== null) input.current.value = "";
    } catch (error) {
      const text = error instanceof MetricsError ? error.message : "The service does not answer";
      setMessage({ text, isFailure: true });
    }
    setChanges((count) => count + 1);
    // The button that was pressed may be gone.
    input.current?.focus();
  }
  const columns: Column<ListedCreator>[] = [
    {
      label: "Creator",
      getValue: ({ creator }) => creator.toLowerCase(),
      render: ({ creator }) => (
        <a href={createPath("users", creator)}>
          <Text value={creator} />
        </a>
      ),
    },
    ...createCollectionColumns<ListedCreator>(
      ({ creator }) => creator,
      (creator) => void change((creators) => creators.remove(creator)),
    ),
  ];
  return (
    <>
      <Heading text="Monitoring list" />
      <p>
        The service collects the profiles, tweets and followers of these creators. This page is
        free.
      </p>
      <Form
        class="row"
        onSubmit={(fields) => {
          const creator = readUsername(fields["creator"] ?? "");
          if (creator !== "") void change((creators) => creators.add(creator));
        }}
      >
        <label for="creator">Username or address</label>
        <input
          id="creator"
          name="creator"
          size={16}
          ref={input}
          required
          autocomplete="off"
          autocapitalize="none"
          spellcheck={false}
        />
        <button type="submit">Add</button>
      </Form>
      <p role="status" class={message?.isFailure === true ? "loss" : ""}>
        {message?.text ?? ""}
      </p>
      <Reading read={read}>
        {({ creators }) => (
          <Table
            caption={`Creators: ${creators.length}`}
            columns={columns}
            items={creators}
            getKey={({ creator }) => creator}
            empty="The list is empty. Add a username, and the service begins to collect it."
          />
        )}
      </Reading>
    </>
  );
}
