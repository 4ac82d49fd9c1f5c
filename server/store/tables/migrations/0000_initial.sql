CREATE TABLE `accounts` (
	`id` integer PRIMARY KEY NOT NULL,
	`name` text NOT NULL,
	`created_at` integer NOT NULL,
	`granted` integer DEFAULT 0 NOT NULL,
	`debited` integer DEFAULT 0 NOT NULL,
	`refunded` integer DEFAULT 0 NOT NULL,
	`balance` integer DEFAULT 0 NOT NULL,
	CONSTRAINT "balance_not_negative" CHECK("accounts"."balance" >= 0),
	CONSTRAINT "balance_is_sum" CHECK("accounts"."balance" = "accounts"."granted" - "accounts"."debited" + "accounts"."refunded")
);
--> statement-breakpoint
CREATE UNIQUE INDEX `accounts_name_unique` ON `accounts` (`name`);--> statement-breakpoint
CREATE TABLE `channel_observations` (
	`channel` integer NOT NULL,
	`at` integer NOT NULL,
	`subscribers` integer,
	`video_count` integer,
	`view_count` integer,
	PRIMARY KEY(`channel`, `at`)
) WITHOUT ROWID;
--> statement-breakpoint
CREATE TABLE `channels` (
	`key` integer PRIMARY KEY NOT NULL,
	`id` text NOT NULL,
	`observed_at` integer,
	`subscribers` integer,
	`video_count` integer,
	`view_count` integer,
	`username` text,
	`username_at` integer,
	`username_folded` text,
	`display_name` text,
	`display_name_at` integer,
	`description` text,
	`description_at` integer,
	`joined_at` integer,
	`joined_at_at` integer,
	`country` text,
	`country_at` integer,
	`thumbnail` text,
	`thumbnail_at` integer,
	`banner_image` text,
	`banner_image_at` integer
);
--> statement-breakpoint
CREATE UNIQUE INDEX `channels_id_unique` ON `channels` (`id`);--> statement-breakpoint
CREATE INDEX `channels_username` ON `channels` (`username_folded`);--> statement-breakpoint
CREATE TABLE `creators` (
	`platform` text NOT NULL,
	`folded` text NOT NULL,
	`creator` text NOT NULL,
	`added_at` integer NOT NULL,
	PRIMARY KEY(`platform`, `folded`)
);
--> statement-breakpoint
CREATE TABLE `journal` (
	`entry` integer PRIMARY KEY NOT NULL,
	`uid` text NOT NULL,
	`account` integer NOT NULL,
	`kind` text NOT NULL,
	`amount` integer NOT NULL,
	`at` integer NOT NULL,
	`reference` text,
	`reason` text,
	`debit` text,
	`place` integer,
	CONSTRAINT "amount_positive" CHECK("journal"."amount" > 0)
);
--> statement-breakpoint
CREATE UNIQUE INDEX `journal_uid` ON `journal` (`uid`,`account`);--> statement-breakpoint
CREATE INDEX `journal_account` ON `journal` (`account`,`entry`);--> statement-breakpoint
CREATE UNIQUE INDEX `journal_reference` ON `journal` (`account`,`reference`) WHERE "journal"."reference" IS NOT NULL;--> statement-breakpoint
CREATE UNIQUE INDEX `journal_refund` ON `journal` (`debit`,`account`,`place`) WHERE "journal"."debit" IS NOT NULL;--> statement-breakpoint
CREATE TABLE `keys` (
	`id` integer PRIMARY KEY NOT NULL,
	`account` integer NOT NULL,
	`hash` text NOT NULL,
	`begins_with` text NOT NULL,
	`label` text,
	`created_at` integer NOT NULL,
	`revoked_at` integer
);
--> statement-breakpoint
CREATE UNIQUE INDEX `keys_hash_unique` ON `keys` (`hash`);--> statement-breakpoint
CREATE TABLE `short_observations` (
	`short` integer NOT NULL,
	`at` integer NOT NULL,
	`views` integer,
	`likes` integer,
	`comments` integer,
	`shares` integer,
	PRIMARY KEY(`short`, `at`)
) WITHOUT ROWID;
--> statement-breakpoint
CREATE TABLE `shorts` (
	`key` integer PRIMARY KEY NOT NULL,
	`id` text NOT NULL,
	`observed_at` integer NOT NULL,
	`channel` integer NOT NULL,
	`channel_at` integer NOT NULL,
	`views` integer,
	`likes` integer,
	`comments` integer,
	`shares` integer,
	`title` text,
	`title_at` integer,
	`description` text,
	`description_at` integer,
	`published_at` integer,
	`published_at_at` integer,
	`thumbnail` text,
	`thumbnail_at` integer
);
--> statement-breakpoint
CREATE UNIQUE INDEX `shorts_id_unique` ON `shorts` (`id`);--> statement-breakpoint
CREATE INDEX `shorts_listing` ON `shorts` (`channel`,`published_at`,`id`);--> statement-breakpoint
CREATE TABLE `tweet_observations` (
	`tweet` integer NOT NULL,
	`at` integer NOT NULL,
	`likes` integer,
	`retweets` integer,
	`replies` integer,
	`quotes` integer,
	`impressions` integer,
	PRIMARY KEY(`tweet`, `at`)
) WITHOUT ROWID;
--> statement-breakpoint
CREATE TABLE `tweets` (
	`key` integer PRIMARY KEY NOT NULL,
	`id` text NOT NULL,
	`observed_at` integer NOT NULL,
	`user` integer NOT NULL,
	`username` text NOT NULL,
	`username_at` integer NOT NULL,
	`likes` integer,
	`retweets` integer,
	`replies` integer,
	`quotes` integer,
	`impressions` integer,
	`text` text,
	`text_at` integer,
	`created_at` integer,
	`created_at_at` integer,
	`url` text,
	`url_at` integer
);
--> statement-breakpoint
CREATE UNIQUE INDEX `tweets_id_unique` ON `tweets` (`id`);--> statement-breakpoint
CREATE INDEX `tweets_listing` ON `tweets` (`user`,`created_at`,`id`);--> statement-breakpoint
CREATE TABLE `user_observations` (
	`user` integer NOT NULL,
	`at` integer NOT NULL,
	`followers_count` integer,
	`following_count` integer,
	`tweet_count` integer,
	PRIMARY KEY(`user`, `at`)
) WITHOUT ROWID;
--> statement-breakpoint
CREATE TABLE `users` (
	`key` integer PRIMARY KEY NOT NULL,
	`id` text NOT NULL,
	`observed_at` integer,
	`followers_count` integer,
	`following_count` integer,
	`tweet_count` integer,
	`username` text,
	`username_at` integer,
	`display_name` text,
	`display_name_at` integer,
	`profile_image_url` text,
	`profile_image_url_at` integer,
	`description` text,
	`description_at` integer,
	`created_at` integer,
	`created_at_at` integer,
	`verified` integer,
	`verified_at` integer
);
--> statement-breakpoint
CREATE UNIQUE INDEX `users_id_unique` ON `users` (`id`);--> statement-breakpoint
CREATE INDEX `users_unnamed` ON `users` (`key`) WHERE "users"."username" IS NULL;