/** What is collected: tracked channels, the monitoring list, and how the sources are. */
import { Count, Instant, Text } from "../parts/figures.tsx";
import { Empty, Reading } from "../parts/states.tsx";
import { Table, type Column } from "../parts/table.tsx";
import {
  sendAdmin,
  type AdminChannel,
  type AdminCreator,
  type AdminSource,
  type AdminStatus,
  type AdminTarget,
} from "./api.ts";
import { Field, FieldForm, Message } from "./parts.tsx";
import { useAdminRead, useChanges, type AdminRead } from "./reads.ts";

/** The columns that channels and creators share. */
function createTargetColumns<Target extends AdminTarget>(): Column<Target>[] {
  return [
    { label: "Last success", render: ({ last_success }) => <Instant value={last_success} /> },
    { label: "Next", render: ({ next_due }) => <Instant value={next_due} /> },
    {
      label: "Failure",
      render: ({ failure }) => (failure === null ? "none" : <Text value={failure} />),
    },
  ];
}

interface TargetsProperties<Target> {
  readonly title: string;
  /** Where the list is, and what a change of it names. */
  readonly path: "channels" | "creators";
  readonly field: "channel" | "creator";
  readonly getName: (target: Target) => string;
}

function Targets<Target extends AdminTarget>(properties: TargetsProperties<Target>) {
  const { title, path, field, getName } = properties;
  const targets = useAdminRead<readonly Target[]>(path);
  const { message, change } = useChanges(() => targets.reload());
  const toBody = (name: string) =>
    field === "channel" ? { channel: name } : { creator: name, platform: "microblog" };
  const columns: Column<Target>[] = [
    { label: title, getValue: getName, render: (target) => <Text value={getName(target)} /> },
    ...createTargetColumns<Target>(),
    {
      label: "Remove",
      render: (target) => (
        <button
          type="button"
          aria-label={`Remove ${getName(target)}`}
          onClick={() =>
            void change(
              () => sendAdmin("DELETE", path, toBody(getName(target))),
              () => `${getName(target)} is removed`,
            )
          }
        >
          Remove
        </button>
      ),
    },
  ];
  return (
    <section aria-label={title}>
      <h2>{title}</h2>
      <FieldForm
        label={`Add a ${field}`}
        onSubmit={async ({ name = "" }) => {
          const added = await change(
            () => sendAdmin("POST", path, toBody(name)),
            () => `${name} is added`,
          );
          return added !== undefined;
        }}
      >
        <Field name="name" label={field === "channel" ? "@handle or identifier" : "Username"} />
      </FieldForm>
      <Message message={message} />
      <Reading read={targets}>
        {(all) =>
          all.length === 0 ? (
            <Empty>There is none yet.</Empty>
          ) : (
            <Table
              caption={`${title}: ${all.length}`}
              columns={columns}
              items={all}
              getKey={getName}
            />
          )
        }
      </Reading>
    </section>
  );
}

const SOURCE_COLUMNS: Column<AdminSource>[] = [
  { label: "Source", render: ({ source }) => source },
  {
    label: "Status",
    render: ({ status }) => <span class={status === "ok" ? "" : "loss"}>{status}</span>,
  },
  { label: "Reason", render: ({ reason }) => <Text value={reason} /> },
  { label: "Since", render: ({ since }) => <Instant value={since} /> },
  {
    label: "Quotas",
    render: ({ quotas }) =>
      quotas.length === 0
        ? "none"
        : quotas.map(({ bucket, used, limit }) => (
            <div key={bucket}>
              {bucket}: <Count value={used} /> of <Count value={limit} />
            </div>
          )),
  },
];

export function Collection({ status }: { readonly status: AdminRead<AdminStatus> }) {
  return (
    <>
      <section aria-label="Sources">
        <h2>Sources</h2>
        <Reading read={status}>
          {({ sources }) =>
            sources.length === 0 ? (
              <Empty>
                No source is set up: COLLECT, YOUTUBE_API_KEY and X_BEARER_TOKEN do that.
              </Empty>
            ) : (
              <Table
                caption="Sources, and what of their quotas is used today"
                columns={SOURCE_COLUMNS}
                items={sources}
                getKey={({ source }) => source}
              />
            )
          }
        </Reading>
      </section>
      <Targets<AdminChannel>
        title="Tracked channels"
        path="channels"
        field="channel"
        getName={({ channel }) => channel}
      />
      <Targets<AdminCreator>
        title="Monitoring list"
        path="creators"
        field="creator"
        getName={({ creator }) => creator}
      />
    </>
  );
}
