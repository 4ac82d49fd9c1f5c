/** Schemas of the errors that one status of one operation has. */
import {
  ERROR_STATUSES,
  VIDEO_ERROR_SENTENCES,
  type ErrorCode,
} from "../../../core/error-statuses.ts";
import { ServiceError, VideoError } from "../../../core/resources/errors.ts";

/** Creates the schema of errors of `/api/video`: names, or sentences that match a pattern. */
export function createVideoErrorSchema(names: readonly ErrorCode[]) {
  const { properties } = VideoError;
  const patterns = names.map(findPattern).filter((pattern) => pattern !== undefined);
  const plainNames = names.filter((name) => findPattern(name) === undefined);
  const alternatives = [
    ...(plainNames.length === 0 ? [] : [{ enum: plainNames }]),
    ...patterns.map((pattern) => ({ pattern })),
  ];
  const error = {
    ...properties.error,
    ...(alternatives.length === 1 ? alternatives[0] : { anyOf: alternatives }),
  };
  return { ...VideoError, properties: { ...properties, error } };
}

/** The pattern of an error that is more than its name. */
function findPattern(name: ErrorCode): string | undefined {
  const sentences: Readonly<Record<string, RegExp>> = VIDEO_ERROR_SENTENCES;
  return sentences[name]?.source ?? (ERROR_STATUSES[name] === 400 ? `^${name}: ` : undefined);
}

/** Creates the schema of errors of every other path. */
export function createServiceErrorSchema(names: readonly ErrorCode[]) {
  const { properties } = ServiceError;
  return {
    ...ServiceError,
    properties: { ...properties, error: { ...properties.error, enum: names } },
  };
}
