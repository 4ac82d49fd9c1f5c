/** Collection: the states of the sources, the tracked channels, and the monitoring list. */
import type { ListedCreator } from "../../../../core/resources/generated/types.ts";
import type { CollectionStatus } from "../../../store/collection/collection-status.ts";
import type { TrackedChannel } from "../../../store/collection/tracked-channels.ts";
import { createCollectionColumns } from "../../parts/collection-columns.tsx";
import { Count, Instant, Text } from "../../parts/figures.tsx";
import { Badge, Empty } from "../../parts/states.tsx";
import { Table, type Column } from "../../parts/table.tsx";
import { sendAdmin } from "../api.ts";
import { Field, FieldForm, useDialog, type DialogForm } from "../forms.tsx";
import { Reading } from "../parts.tsx";
import { useAdminRead } from "../reads.ts";
import type { AdminSource, AdminStatus } from "../resources.ts";

export function Collection() {
  const status = useAdminRead<AdminStatus>("status");
  return (
    <>
      <h1>Collection</h1>
      <h2>Sources</h2>
      <Reading read={status}>
        {({ sources }) =>
          sources.length === 0 ? (
            <Empty>
              No source is set up. <code>YOUTUBE_API_KEY</code>, <code>X_BEARER_TOKEN</code> and{" "}
              <code>COLLECT</code> do that.
            </Empty>
          ) : (
            <div class="columns">
              {sources.map((source) => (
                <Source key={source.source} source={source} />
              ))}
            </div>
          )
        }
      </Reading>
      <Targets<TrackedChannel>
        title="Tracked channels"
        field="channel"
        label="@handle, identifier or address"
        getName={({ channel }) => channel}
      />
      <Targets<ListedCreator>
        title="Monitoring list"
        field="creator"
        label="Username or address"
        getName={({ creator }) => creator}
      />
    </>
  );
}

const STATUS_KINDS = { ok: "good", failing: "bad", stopped: "bad" } as const;

function Source({ source }: { readonly source: AdminSource }) {
  const { status, reason, since, until, last_failure, last_failure_reason, work, quotas } = source;
  return (
    <section class="card" aria-label={`Source ${source.source}`}>
      <h3>
        {source.source} <Badge kind={STATUS_KINDS[status]}>{status}</Badge>
      </h3>
      {reason !== null && (
        <p>
          Since <Instant value={since} />: <Text value={reason} />
          {until !== null && (
            <>
              , until <Instant value={until} />
            </>
          )}
        </p>
      )}
      {quotas.map(({ bucket, used, limit, paused_until }) => (
        <label key={bucket} class="quota">
          <span>
            {bucket}: <Count value={used} /> of <Count value={limit} />
          </span>
          <meter max={limit} value={used} high={limit * 0.9} optimum={0} />
          {paused_until !== null && (
            <small>
              paused until <Instant value={paused_until} />
            </small>
          )}
        </label>
      ))}
      <p class="muted">
        Since the start: <Count value={work.requests} /> requests,{" "}
        <Count value={work.observations} /> observations, <Count value={work.failed} /> failures
      </p>
      {last_failure !== null && last_failure_reason !== reason && (
        <p class="muted">
          Last failure <Instant value={last_failure} />: <Text value={last_failure_reason} />
        </p>
      )}
    </section>
  );
}

/** The answer to a new target: its name, and why it is not collected. */
interface AddedTarget extends Partial<Record<"channel" | "creator", string>> {
  readonly failure: string | null;
}

interface TargetsProperties<Target> {
  readonly title: string;
  /** The field of a request that names the target. */
  readonly field: "channel" | "creator";
  readonly label: string;
  readonly getName: (target: Target) => string;
}

function Targets<Target extends CollectionStatus & { readonly added_at: string }>(
  properties: TargetsProperties<Target>,
) {
  const { title, field, label, getName } = properties;
  const path = `${field}s`;
  const targets = useAdminRead<readonly Target[]>(path);
  const { open, dialog, message } = useDialog(targets.reload);
  const columns: Column<Target>[] = [
    {
      label: field === "channel" ? "Channel" : "Creator",
      getValue: (target) => getName(target).toLowerCase(),
      render: (target) => <Text value={getName(target)} />,
    },
    ...createCollectionColumns<Target>(getName, (name) => open(createRemovalForm(field, name))),
  ];
  return (
    <section aria-label={title} tabIndex={-1}>
      <h2>{title}</h2>
      <FieldForm
        label={`Add a ${field}`}
        submitLabel="Add"
        onSubmit={async ({ name = "" }) => {
          const body = { [field]: name };
          const { failure, ...added } = await sendAdmin<AddedTarget>("POST", path, body);
          targets.reload();
          const sentence = `${added[field]} is added`;
          return failure === null
            ? `${sentence}.`
            : `${sentence}, but is not collected: ${failure}.`;
        }}
      >
        <Field name="name" label={label} isRequired size={24} />
      </FieldForm>
      {message}
      <Reading read={targets}>
        {(all) => (
          <Table
            caption={`${title}: ${describeNumber(all)}`}
            columns={columns}
            items={all}
            isCut
            getKey={getName}
            empty="There is none yet. Add one, and the service begins to collect it."
          />
        )}
      </Reading>
      {dialog}
    </section>
  );
}

function describeNumber(all: readonly CollectionStatus[]): string {
  const failing = all.filter(({ failure }) => failure !== null).length;
  return failing === 0 ? `${all.length}` : `${all.length}, ${failing} failing`;
}

const createRemovalForm = (field: string, name: string): DialogForm => ({
  title: ["Remove ", name, "?"],
  submitLabel: "Remove",
  isDangerous: true,
  content: <p>It is not collected any more. What was observed stays.</p>,
  async onSubmit() {
    await sendAdmin("DELETE", `${field}s`, { [field]: name });
    return `${name} is removed.`;
  },
});
