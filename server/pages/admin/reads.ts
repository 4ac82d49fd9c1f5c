/** Hooks of the administrator's page that read the administration API. */
import { useEffect, useRef, useState } from "preact/hooks";
import { createFragment, replaceFragment } from "./address.ts";
import { describeFailure, isOutage, reportOutage, sendAdmin } from "./api.ts";

/** When a read is sent again that the service could not answer. */
const RETRY_MS = 2000;

/** A value that is read, and the state of its read. */
export interface AdminRead<Value> {
  /** The newest value; it stays during another read, also if that fails. */
  readonly value: Value | undefined;
  /** Why it could not be read; nothing while it is tried again by itself. */
  readonly failure: string | undefined;
  /** Reads it again. */
  reload(): void;
}

/** Reads a path below `/admin`. */
export function useAdminRead<Value>(path: string): AdminRead<Value> {
  return useReading(path, () => sendAdmin<Value>("GET", path));
}

/**
 * Reads a value, and again by itself for as long as the service does not answer.
 *
 * @param name The name of the value: another name reads another value.
 */
export function useReading<Value>(name: string, read: () => Promise<Value>): AdminRead<Value> {
  const [state, setState] = useState<{ name: string; value?: Value; failure?: string }>({ name });
  const [attempt, setAttempt] = useState(0);
  const reload = () => setAttempt((count) => count + 1);
  const reader = useRef({}).current;
  useEffect(() => {
    let isCurrent = true;
    let timer: ReturnType<typeof setTimeout> | undefined;
    const fail = (error: unknown) => {
      if (!isCurrent) return;
      const isRetried = isOutage(error);
      reportOutage(reader, isRetried ? describeFailure(error) : null);
      if (isRetried) timer = setTimeout(reload, RETRY_MS);
      const failure = isRetried ? {} : { failure: describeFailure(error) };
      setState((before) => ({ ...(before.name === name ? before : { name }), ...failure }));
    };
    const succeed = (value: Value) => {
      if (!isCurrent) return;
      reportOutage(reader, null);
      setState({ name, value });
    };
    read().then(succeed, fail);
    return () => {
      isCurrent = false;
      clearTimeout(timer);
    };
  }, [name, attempt]);
  useEffect(() => () => reportOutage(reader, null), []);
  // The state may belong to the name before.
  const { value, failure } = state.name === name ? state : { value: undefined, failure: undefined };
  return { value, failure, reload };
}

/** A page of a list, and the cursor of the next one. */
interface CursorPage {
  readonly next: string | null;
}

export type FilteredPages<Page> = ReturnType<typeof useFilteredPages<Page & CursorPage>>;

/**
 * Reads the first page of a list, and more pages on demand.
 *
 * @param part The part of the administrator's page, and the path below `/admin`.
 * @param query The parameters of the address.
 * @param names The names of the parameters that filter the list.
 */
export function useFilteredPages<Page extends CursorPage>(
  part: string,
  query: URLSearchParams,
  names: readonly string[],
) {
  const values = Object.fromEntries(names.map((name) => [name, query.get(name) ?? ""]));
  const filter = new URLSearchParams(Object.entries(values).filter(([, text]) => text));
  const { value: first, ...read } = useAdminRead<Page>(`${part}?${filter}`);
  const [more, setMore] = useState<{ readonly first: Page; readonly pages: readonly Page[] }>();
  const later = more !== undefined && more.first === first ? more.pages : [];
  const next = (later.at(-1) ?? first)?.next ?? null;
  const readMore = async () => {
    if (first === undefined || next === null) return;
    const parameters = new URLSearchParams([...filter, ["cursor", next]]);
    const page = await sendAdmin<Page>("GET", `${part}?${parameters}`);
    setMore({ first, pages: [...later, page] });
  };
  const value = first === undefined ? undefined : [first, ...later];
  const pages: AdminRead<readonly Page[]> = { ...read, value };
  return {
    part,
    values,
    isFiltered: filter.size > 0,
    pages,
    readMore: next === null ? undefined : readMore,
    /** Filters by another value; the empty one selects everything. */
    filterBy: (name: string, text: string) =>
      replaceFragment(createFragment(part, undefined, { ...values, [name]: text })),
  };
}
