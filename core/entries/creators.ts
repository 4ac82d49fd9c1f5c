/**
 * Names: the monitoring list of creators, names of channels, and how names are compared.
 *
 * @module @creator-metrics/core/creators
 */
export type { ErrorCode } from "../error-statuses.ts";
export { DomainError } from "../errors.ts";
export { findChannel } from "../channels.ts";
export type { NamedChannel } from "../channels.ts";
export { addCreator, applyCreatorChanges, createCreatorExistsError } from "../creators.ts";
export { createCreatorListFullError, createCreatorNotFoundError } from "../creators.ts";
export { CREATOR_PLATFORMS, CREATOR_USERNAME_PATTERN, getCreatorKey } from "../creators.ts";
export { parseCreator, readUsername, removeCreator } from "../creators.ts";
export type { Creator, CreatorPlatform, CreatorSet, CreatorSetChange } from "../creators.ts";
export type { CreatorTransition } from "../creators.ts";
export { compareText, foldAsciiCase, foldCase, isIdentifier } from "../text.ts";
