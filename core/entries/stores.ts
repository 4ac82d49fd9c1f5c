/**
 * The interfaces of stores of your own.
 *
 * @module @creator-metrics/core/stores
 */
export type { AccountCharge, ChargeBatch, Comparison, CreatorChange } from "../stores.ts";
export type { CreatorStore, CreditAccount, CreditGrant, CreditStore } from "../stores.ts";
export type { DebitOutcome, FoundOrError, GrantResult, ImportObservations } from "../stores.ts";
export type { ImportResult, MicroblogStore, ObservationStore, OutcomeCounts } from "../stores.ts";
export type { RejectedLine, RejectionCause, RejectionReport } from "../stores.ts";
export type { StoreRead, VideoStore } from "../stores.ts";
