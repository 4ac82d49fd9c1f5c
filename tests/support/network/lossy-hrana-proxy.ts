/**
 * A proxy in front of a libSQL server that counts calls and statements, and drops the responses to
 * chosen statements.
 */

/** The version of the protocol whose messages are JSON; the server offers later ones, too. */
const SUBPROTOCOL = "hrana2";

interface Stmt {
  readonly sql?: string;
  /** The text was stored under this number. */
  readonly sql_id?: number;
}

/** The parts of a message of a client or the server that the proxy reads. */
interface HranaMessage {
  readonly request_id?: number;
  readonly request?: Stmt & {
    readonly type: string;
    readonly stmt?: Stmt;
    readonly batch?: { readonly steps: readonly { readonly stmt: Stmt }[] };
  };
}

/** Calls that run statements. Each waits for its response; all others go along with them. */
const isStatementCall = (type: string) => type === "execute" || type === "batch";

/** The sockets of one client. */
interface Session {
  readonly server: WebSocket;
  /** What the client sent before the server was connected. */
  readonly unsent: string[];
  readonly storedTexts: Map<number, string>;
  droppedRequest?: number | undefined;
}

/**
 * Starts a proxy for a server. It forwards all messages, and counts the calls that run statements and
 * these statements, those of transactions such as `COMMIT` included. While `state.responsesToDrop` is
 * above 0, it waits for the response to a call with a statement that matches the pattern, and closes
 * the connection instead of forwarding that response.
 */
export function startLossyHranaProxy(target: string, pattern = /^/) {
  const state = { responsesToDrop: 0, droppedResponses: 0 };
  const counts = { calls: 0, statements: 0 };

  /** Stores a text, or remembers a call whose response is to be dropped. */
  function inspect(session: Session, { request, request_id: id }: HranaMessage): void {
    if (request === undefined) return;
    if (request.type === "store_sql")
      session.storedTexts.set(request.sql_id ?? 0, request.sql ?? "");
    const steps = request.batch?.steps.map(({ stmt }) => stmt) ?? [];
    if (isStatementCall(request.type)) {
      counts.calls++;
      counts.statements += request.batch === undefined ? 1 : steps.length;
    }
    const texts = [...steps, request.stmt ?? {}].map(
      ({ sql, sql_id: textId = -1 }) => sql ?? session.storedTexts.get(textId) ?? "",
    );
    if (state.responsesToDrop === 0 || !texts.some((text) => pattern.test(text))) return;
    state.responsesToDrop--;
    session.droppedRequest = id;
  }

  const proxy = Bun.serve<Session>({
    port: 0,
    hostname: "127.0.0.1",
    fetch(request, bun) {
      const server = new WebSocket(target.replace(/^http/, "ws"), [SUBPROTOCOL]);
      const data: Session = { server, unsent: [], storedTexts: new Map() };
      const headers = { "sec-websocket-protocol": SUBPROTOCOL };
      return bun.upgrade(request, { data, headers })
        ? undefined
        : new Response(null, { status: 400 });
    },
    websocket: {
      open(client) {
        const { server, unsent } = client.data;
        server.addEventListener("open", () => {
          for (const message of unsent) server.send(message);
        });
        server.addEventListener("message", ({ data }) => {
          const { request_id: id }: HranaMessage = JSON.parse(data);
          if (id === undefined || id !== client.data.droppedRequest) return client.send(data);
          state.droppedResponses++;
          server.close();
          return client.close();
        });
        server.addEventListener("close", () => client.close());
      },
      message(client, message) {
        const { server, unsent } = client.data;
        const text = String(message);
        inspect(client.data, JSON.parse(text));
        if (server.readyState === WebSocket.OPEN) server.send(text);
        else unsent.push(text);
      },
      close: ({ data }) => data.server.close(),
    },
  });
  return {
    url: `http://127.0.0.1:${proxy.port}`,
    state,
    /** The calls that run statements, and these statements. */
    counts,
    close: () => void proxy.stop(true),
  };
}
