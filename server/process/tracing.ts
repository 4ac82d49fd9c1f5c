/**
 * Starts and stops tracing, which standard variables of OpenTelemetry switch on. Its SDK, which
 * reads most of them itself, is loaded only then: https://opentelemetry.io/docs/specs/otel/configuration/sdk-environment-variables.
 */
import { diag, DiagLogLevel } from "@opentelemetry/api";
import pTimeout from "p-timeout";
import { ConfigError } from "../config.ts";
import type { ServiceLogger } from "../log.ts";
import { describeError } from "../system-errors.ts";
import { setTracer } from "../telemetry/tracing.ts";

const NAME = "creator-metrics";

/** The packages that a default install has; without optional dependencies, they are missing. */
const PACKAGES =
  "@opentelemetry/core @opentelemetry/exporter-trace-otlp-proto @opentelemetry/resources " +
  "@opentelemetry/sdk-trace-node";

/** Bounds of the time for the last spans: a receiver that does not answer must not hold up the end. */
const FLUSH_MIN_MS = 500;
const FLUSH_MAX_MS = 3000;

type Environment = Readonly<Record<string, string | undefined>>;

/** @throws {ConfigError} For a value that this program does not support. */
function isSwitchedOn(environment: Environment): boolean {
  // An empty variable is as one that is not set.
  const read = (...names: readonly string[]) =>
    names.map((name) => [name, environment[name]?.trim()]).find(([, value]) => value);
  if (environment["OTEL_SDK_DISABLED"]?.trim().toLowerCase() === "true") return false;
  const [exporterName = "", exporter] = read("OTEL_TRACES_EXPORTER") ?? [];
  if (exporter === "none") return false;
  if (exporter !== undefined && exporter !== "otlp")
    throw new ConfigError(`${exporterName} must be otlp or none, got ${JSON.stringify(exporter)}`);
  const endpoint = read("OTEL_EXPORTER_OTLP_TRACES_ENDPOINT", "OTEL_EXPORTER_OTLP_ENDPOINT");
  if (exporter === undefined && endpoint === undefined) return false;
  if (endpoint?.[1] !== undefined && !/^https?:$/.test(URL.parse(endpoint[1])?.protocol ?? ""))
    throw new ConfigError(`${endpoint[0]} must be an http or https URL`);
  const [protocolName, protocol] =
    read("OTEL_EXPORTER_OTLP_TRACES_PROTOCOL", "OTEL_EXPORTER_OTLP_PROTOCOL") ?? [];
  if (protocol !== undefined && protocol !== "http/protobuf")
    throw new ConfigError(`${protocolName} must be http/protobuf, got ${JSON.stringify(protocol)}`);
  return true;
}

async function loadSdk() {
  try {
    const [core, exporter, resources, sdk] = await Promise.all([
      import("@opentelemetry/core"),
      import("@opentelemetry/exporter-trace-otlp-proto"),
      import("@opentelemetry/resources"),
      import("@opentelemetry/sdk-trace-node"),
    ]);
    return { ...core, ...exporter, ...resources, ...sdk };
  } catch (cause) {
    const message =
      "The settings OTEL_… switch tracing on, which needs optional packages that are not installed: " +
      `run "bun add ${PACKAGES}", or set OTEL_SDK_DISABLED=true`;
    throw new ConfigError(message, { cause });
  }
}

/**
 * Starts tracing if it is switched on. @returns Sends the last spans, within a time in milliseconds.
 *
 * @throws {ConfigError} For a wrong setting, or if a package is missing.
 */
export async function startTracing(
  environment: Environment,
  { backgroundFailure, warning }: Pick<ServiceLogger, "backgroundFailure" | "warning">,
): Promise<(timeoutMs: number) => Promise<void>> {
  if (!isSwitchedOn(environment)) return async () => undefined;
  const sdk = await loadSdk();
  const drop = () => undefined;
  const warn = (message: string) => warning?.("OpenTelemetry: {message}", { message });
  diag.setLogger(
    { error: warn, warn, info: drop, debug: drop, verbose: drop },
    { logLevel: DiagLogLevel.WARN, suppressOverrideMessage: true },
  );
  sdk.setGlobalErrorHandler((error) => backgroundFailure?.(error, "Sending traces"));
  const resource = sdk
    .defaultResource()
    .merge(
      sdk.resourceFromAttributes({
        "service.name": NAME,
        "service.instance.id": crypto.randomUUID(),
      }),
    )
    .merge(sdk.detectResources({ detectors: [sdk.envDetector] }));
  const exporter = new sdk.OTLPTraceExporter();
  const provider = new sdk.NodeTracerProvider({
    resource,
    spanProcessors: [new sdk.BatchSpanProcessor(exporter)],
  });
  // Only the headers of this standard: not `baggage`, which clients fill.
  provider.register({ propagator: new sdk.W3CTraceContextPropagator() });
  setTracer(provider.getTracer(NAME));
  return async (timeoutMs) => {
    const milliseconds = Math.min(FLUSH_MAX_MS, Math.max(FLUSH_MIN_MS, timeoutMs));
    const message = `they were not sent within ${milliseconds} ms`;
    await pTimeout(provider.shutdown(), { milliseconds, message }).catch((error: unknown) =>
      warning?.("The last traces are lost: {reason}", { reason: describeError(error) }),
    );
  };
}
