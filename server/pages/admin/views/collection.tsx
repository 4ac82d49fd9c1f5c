/**
 * The collection page: states and quotas of the sources; lists, adds and removes channels and
 * creators.
 */
import { Count, Instant, Text } from "../../parts/figures.tsx";
import { PageHead } from "../../parts/frame.tsx";
import { Badge, Empty } from "../../parts/states.tsx";
import { WatchTable } from "../../parts/watch-list.tsx";
import { sendAdmin, type Resource } from "../api.ts";
import { Field, FieldForm, useDialog, type DialogForm } from "../forms.tsx";
import { Reading, useAdminRead } from "../reading.tsx";

type Source = Resource<"CollectedSources">[number];

export function Collection() {
  const status = useAdminRead<Resource<"ServiceStatus">>("status");
  return (
    <>
      <PageHead title="Collection" />
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
                <SourceCard key={source.source} source={source} />
              ))}
            </div>
          )
        }
      </Reading>
      <Targets title="Tracked channels" field="channel" label="@handle, identifier or address" />
      <Targets title="Monitoring list" field="creator" label="Username or address" />
    </>
  );
}

const STATUS_KINDS = { ok: "good", failing: "bad", stopped: "bad" } as const;

function SourceCard({ source }: { readonly source: Source }) {
  const { status, reason, since, until, last_failure, last_failure_reason, work, quotas } = source;
  return (
    <section class="card" aria-label={`Source ${source.source}`}>
      <h3>
        {source.source} <Badge kind={STATUS_KINDS[status]} word={status} />
      </h3>
      {reason !== null && (
        <p>
          Since <Instant value={since} />: <Text value={reason} />
          {until !== null && [", until ", <Instant value={until} />]}
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

type Watched = Parameters<typeof WatchTable>[0]["items"][number];
type AddedTarget = Pick<Watched, "creator" | "channel" | "failure">;

function Targets({
  title,
  field,
  label,
}: Readonly<{ title: string; field: "channel" | "creator"; label: string }>) {
  const path = `${field}s`;
  const targets = useAdminRead<readonly Watched[]>(path);
  const { open, dialog, message } = useDialog(targets.reload);
  return (
    <section aria-label={title} tabIndex={-1}>
      <h2>{title}</h2>
      <FieldForm
        label={`Add a ${field}`}
        submitLabel="Add"
        onSubmit={async (fields) => {
          const body = { [field]: fields["name"] ?? "" };
          const added = await sendAdmin<AddedTarget>("POST", path, body);
          targets.reload();
          return added.failure === null
            ? `${added[field]} is added.`
            : `${added[field]} is added, but is not collected: ${added.failure}.`;
        }}
      >
        <Field name="name" label={label} required size={24} />
      </FieldForm>
      {message}
      <Reading read={targets}>
        {(all) => (
          <WatchTable
            caption={`${title}: ${describeNumber(all)}`}
            items={all}
            kind={field}
            onRemove={(target) => open(createRemovalForm(field, target))}
            isCut
            empty="There is none yet. Add one, and the service begins to collect it."
          />
        )}
      </Reading>
      {dialog}
    </section>
  );
}

function describeNumber(all: readonly Watched[]): string {
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
