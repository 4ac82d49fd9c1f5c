CREATE TABLE `quota_use` (
	`source` text NOT NULL,
	`bucket` text NOT NULL,
	`day` text NOT NULL,
	`units` integer NOT NULL,
	PRIMARY KEY(`source`, `bucket`, `day`)
) WITHOUT ROWID;
--> statement-breakpoint
CREATE TABLE `stopped_sources` (
	`source` text PRIMARY KEY NOT NULL,
	`settings` text NOT NULL,
	`reason` text NOT NULL,
	`since` integer NOT NULL,
	`until` integer
) WITHOUT ROWID;
--> statement-breakpoint
CREATE TABLE `targets` (
	`platform` text NOT NULL,
	`errand` text NOT NULL,
	`id` text NOT NULL,
	`owner` text,
	`memo` text DEFAULT '{}' NOT NULL,
	`published_at` integer,
	`due_at` integer NOT NULL,
	`succeeded_at` integer,
	`failed_at` integer,
	`failure` text,
	`failures` integer DEFAULT 0 NOT NULL,
	PRIMARY KEY(`platform`, `errand`, `id`)
) WITHOUT ROWID;
--> statement-breakpoint
CREATE INDEX `targets_due` ON `targets` (`platform`,`errand`,`due_at`);--> statement-breakpoint
CREATE INDEX `targets_owner` ON `targets` (`platform`,`owner`) WHERE "targets"."owner" IS NOT NULL;--> statement-breakpoint
CREATE INDEX `targets_published` ON `targets` (`platform`,`published_at`) WHERE "targets"."published_at" IS NOT NULL;--> statement-breakpoint
CREATE TABLE `tracked_channels` (
	`key` text PRIMARY KEY NOT NULL,
	`channel` text NOT NULL,
	`added_at` integer NOT NULL
) WITHOUT ROWID;
