/** The monitoring list: which creators are collected, and whether that succeeds. */
import { useState } from "preact/hooks";
import { MetricsError } from "../../../core/client/mod.ts";
import type { ListedCreator } from "../../../core/resources/mod.ts";
import { useRead } from "../hooks.ts";
import { createPath } from "../router.ts";
import { forgetReads, send } from "../session.ts";
import { Instant, Text } from "../parts/figures.tsx";
import { Empty, Reading } from "../parts/states.tsx";
import { Table, type Column } from "../parts/table.tsx";

export function Creators() {
  const [changes, setChanges] = useState(0);
  const [message, setMessage] = useState<{ text: string; isFailure: boolean }>();
  const read = useRead(`creators ${changes}`, ({ creators }) => creators.list());
  async function change(request: Parameters<typeof send>[0]): Promise<void> {
    try {
      const result = await send(request);
      const text: unknown = Reflect.get(Object(result), "message");
      setMessage({ text: String(text), isFailure: false });
    } catch (error) {
      const text = error instanceof MetricsError ? error.message : "The service does not answer";
      setMessage({ text, isFailure: true });
    }
    forgetReads();
    setChanges((count) => count + 1);
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
    {
      label: "Added",
      getValue: ({ added_at }) => added_at,
      render: ({ added_at }) => <Instant value={added_at} />,
    },
    { label: "Last success", render: ({ last_success }) => <Instant value={last_success} /> },
    { label: "Next", render: ({ next_due }) => <Instant value={next_due} /> },
    {
      label: "Failure",
      render: ({ failure }) => (failure === null ? "none" : <Text value={failure} />),
    },
    {
      label: "Remove",
      render: ({ creator }) => (
        <button
          type="button"
          aria-label={`Remove ${creator}`}
          onClick={() => void change(({ creators }) => creators.remove(creator))}
        >
          Remove
        </button>
      ),
    },
  ];
  return (
    <>
      <h1>Monitoring list</h1>
      <p>
        The service collects the profiles, tweets and followers of these creators. This page is
        free.
      </p>
      <form
        class="row"
        onSubmit={(event) => {
          event.preventDefault();
          const form = event.currentTarget;
          const creator = new FormData(form).get("creator");
          if (typeof creator !== "string" || creator.trim() === "") return;
          void change(({ creators }) => creators.add(creator.trim().replace(/^@/, ""))).then(() =>
            form.reset(),
          );
        }}
      >
        <label for="creator">Username</label>
        <input id="creator" name="creator" required maxLength={65} autocomplete="off" />
        <button type="submit">Add</button>
      </form>
      <p role="status" class={message?.isFailure === true ? "loss" : ""}>
        {message?.text ?? ""}
      </p>
      <Reading read={read}>
        {({ creators }) =>
          creators.length === 0 ? (
            <Empty>The list is empty. Add a username, and the service begins to collect it.</Empty>
          ) : (
            <Table
              caption={`Creators: ${creators.length}`}
              columns={columns}
              items={creators}
              getKey={({ creator }) => creator}
            />
          )
        }
      </Reading>
    </>
  );
}
