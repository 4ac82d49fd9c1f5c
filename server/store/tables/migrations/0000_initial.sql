CREATE TABLE `accounts` (
	`id` integer PRIMARY KEY NOT NULL,
	`name` text NOT NULL,
	`created_at` integer NOT NULL,
	`granted` integer DEFAULT 0 NOT NULL,
	`debited` integer DEFAULT 0 NOT NULL,
	`refunded` integer DEFAULT 0 NOT NULL,
	`balance` integer DEFAULT 0 NOT NULL,
	`low_balance` integer,
	`recent_at` integer,
	`recent_key` integer,
	`recent_endpoint` text,
	`recent_requests` integer DEFAULT 0 NOT NULL,
	`recent_credits` integer DEFAULT 0 NOT NULL,
	CONSTRAINT "balance_not_negative" CHECK("accounts"."balance" >= 0),
	CONSTRAINT "balance_is_sum" CHECK("accounts"."balance" = "accounts"."granted" - "accounts"."debited" + "accounts"."refunded")
);
--> statement-breakpoint
CREATE UNIQUE INDEX `accounts_name_unique` ON `accounts` (`name`);--> statement-breakpoint
CREATE TABLE `debit_batches` (
	`uid` text PRIMARY KEY NOT NULL,
	`at` integer NOT NULL,
	`endpoints` text NOT NULL,
	`runs` text NOT NULL
) WITHOUT ROWID;
--> statement-breakpoint
CREATE TABLE `folded_entries` (
	`account` integer NOT NULL,
	`hour` integer NOT NULL,
	`kind` text NOT NULL,
	`reason` text NOT NULL,
	`count` integer NOT NULL,
	`amount` integer NOT NULL,
	PRIMARY KEY(`account`, `hour`, `kind`, `reason`)
) WITHOUT ROWID;
--> statement-breakpoint
CREATE TABLE `journal` (
	`uid` text NOT NULL,
	`account` integer NOT NULL,
	`run` integer DEFAULT 0 NOT NULL,
	`refund` integer DEFAULT 0 NOT NULL,
	`kind` text NOT NULL,
	`amount` integer NOT NULL,
	`at` integer NOT NULL,
	`requests` integer,
	`key` integer,
	`endpoint` text,
	`reference` text,
	`reason` text,
	PRIMARY KEY(`uid`, `account`, `run`, `refund`),
	CONSTRAINT "amount_positive" CHECK("journal"."amount" > 0)
) WITHOUT ROWID;
--> statement-breakpoint
CREATE INDEX `journal_account` ON `journal` (`account`,`at`);--> statement-breakpoint
CREATE UNIQUE INDEX `journal_reference` ON `journal` (`account`,`reference`) WHERE "journal"."reference" IS NOT NULL;--> statement-breakpoint
CREATE TABLE `keys` (
	`id` integer PRIMARY KEY NOT NULL,
	`account` integer NOT NULL,
	`hash` text NOT NULL,
	`begins_with` text NOT NULL,
	`label` text,
	`scopes` text DEFAULT '["read","creators","lists"]' NOT NULL,
	`expires_at` integer,
	`created_at` integer NOT NULL,
	`revoked_at` integer,
	`replaced_by` integer
);
--> statement-breakpoint
CREATE UNIQUE INDEX `keys_hash_unique` ON `keys` (`hash`);--> statement-breakpoint
CREATE TABLE `notices` (
	`id` text PRIMARY KEY NOT NULL,
	`account` integer NOT NULL,
	`balance` integer NOT NULL,
	`threshold` integer NOT NULL,
	`granted` integer NOT NULL,
	`at` integer NOT NULL,
	`due_at` integer,
	`attempts` integer DEFAULT 0 NOT NULL,
	`attempted_at` integer,
	`delivered_at` integer,
	`failure` text
) WITHOUT ROWID;
--> statement-breakpoint
CREATE INDEX `notices_account` ON `notices` (`account`,`threshold`,`granted`);--> statement-breakpoint
CREATE INDEX `notices_undelivered` ON `notices` (`due_at`) WHERE "notices"."delivered_at" IS NULL;--> statement-breakpoint
CREATE TABLE `payments` (
	`account` integer NOT NULL,
	`idempotency_key` text NOT NULL,
	`request_hash` text NOT NULL,
	`debit` text NOT NULL,
	`at` integer NOT NULL,
	`repeated_by` text DEFAULT '[]' NOT NULL,
	PRIMARY KEY(`account`, `idempotency_key`)
) WITHOUT ROWID;
--> statement-breakpoint
CREATE INDEX `payments_at` ON `payments` (`at`);--> statement-breakpoint
CREATE TABLE `saved_lists` (
	`account` integer NOT NULL,
	`name_folded` text NOT NULL,
	`name` text NOT NULL,
	`version` text NOT NULL,
	`created_at` integer NOT NULL,
	`updated_at` integer NOT NULL,
	`total_channels` integer NOT NULL,
	`total_users` integer NOT NULL,
	`channels` text NOT NULL,
	`users` text NOT NULL,
	PRIMARY KEY(`account`, `name_folded`)
) WITHOUT ROWID;
--> statement-breakpoint
CREATE TABLE `usage` (
	`account` integer NOT NULL,
	`hour` integer NOT NULL,
	`key` integer NOT NULL,
	`endpoint` text NOT NULL,
	`requests` integer NOT NULL,
	`credits` integer NOT NULL,
	`refunded` integer DEFAULT 0 NOT NULL,
	`refunds` integer DEFAULT 0 NOT NULL,
	`ok` integer DEFAULT 0 NOT NULL,
	`not_modified` integer DEFAULT 0 NOT NULL,
	`not_found` integer DEFAULT 0 NOT NULL,
	`failed` integer DEFAULT 0 NOT NULL,
	PRIMARY KEY(`account`, `hour`, `key`, `endpoint`)
) WITHOUT ROWID;
--> statement-breakpoint
CREATE TABLE `admin_sessions` (
	`hash` text PRIMARY KEY NOT NULL,
	`begins_with` text NOT NULL,
	`actor` text NOT NULL,
	`token` integer,
	`created_at` integer NOT NULL,
	`expires_at` integer NOT NULL
) WITHOUT ROWID;
--> statement-breakpoint
CREATE TABLE `admin_tokens` (
	`id` integer PRIMARY KEY NOT NULL,
	`name` text NOT NULL,
	`hash` text NOT NULL,
	`begins_with` text NOT NULL,
	`created_at` integer NOT NULL,
	`last_used_at` integer,
	`revoked_at` integer
);
--> statement-breakpoint
CREATE UNIQUE INDEX `admin_tokens_hash_unique` ON `admin_tokens` (`hash`);--> statement-breakpoint
CREATE UNIQUE INDEX `admin_tokens_name` ON `admin_tokens` (`name`) WHERE "admin_tokens"."revoked_at" IS NULL;--> statement-breakpoint
CREATE TABLE `audit` (
	`id` integer PRIMARY KEY NOT NULL,
	`uid` text NOT NULL,
	`at` integer NOT NULL,
	`actor` text NOT NULL,
	`origin` text NOT NULL,
	`action` text NOT NULL,
	`target` text,
	`details` text NOT NULL,
	`outcome` text
);
--> statement-breakpoint
CREATE UNIQUE INDEX `audit_uid_unique` ON `audit` (`uid`);--> statement-breakpoint
CREATE INDEX `audit_actor` ON `audit` (`actor`,`id`);--> statement-breakpoint
CREATE INDEX `audit_action` ON `audit` (`action`,`id`);--> statement-breakpoint
CREATE TABLE `creators` (
	`platform` text NOT NULL,
	`creator_folded` text NOT NULL,
	`creator` text NOT NULL,
	`added_at` integer NOT NULL,
	PRIMARY KEY(`platform`, `creator_folded`)
) WITHOUT ROWID;
--> statement-breakpoint
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
	`task` text NOT NULL,
	`id` text NOT NULL,
	`owner` text,
	`source_state` text DEFAULT '{}' NOT NULL,
	`published_at` integer,
	`item_count` integer,
	`due_at` integer NOT NULL,
	`succeeded_at` integer,
	`failed_at` integer,
	`failure` text,
	`failures` integer DEFAULT 0 NOT NULL,
	PRIMARY KEY(`platform`, `task`, `id`)
) WITHOUT ROWID;
--> statement-breakpoint
CREATE INDEX `targets_due` ON `targets` (`platform`,`task`,`due_at`);--> statement-breakpoint
CREATE INDEX `targets_owner` ON `targets` (`platform`,`owner`) WHERE "targets"."owner" IS NOT NULL;--> statement-breakpoint
CREATE INDEX `targets_published` ON `targets` (`platform`,`published_at`) WHERE "targets"."published_at" IS NOT NULL;--> statement-breakpoint
CREATE TABLE `tracked_channels` (
	`key` text PRIMARY KEY NOT NULL,
	`channel` text NOT NULL,
	`added_at` integer NOT NULL
) WITHOUT ROWID;
--> statement-breakpoint
CREATE TABLE `changes` (
	`sequence` integer PRIMARY KEY NOT NULL,
	`uid` text NOT NULL,
	`tags` text,
	`entities_sequence` integer
);
--> statement-breakpoint
CREATE INDEX `changes_published` ON `changes` (`entities_sequence`) WHERE "changes"."entities_sequence" IS NOT NULL;--> statement-breakpoint
CREATE TABLE `channel_histories` (
	`channel` integer NOT NULL,
	`start` integer NOT NULL,
	`size` integer NOT NULL,
	`points` text NOT NULL,
	PRIMARY KEY(`channel`, `start`)
) WITHOUT ROWID;
--> statement-breakpoint
CREATE TABLE `channels` (
	`key` integer PRIMARY KEY NOT NULL,
	`id` text NOT NULL,
	`observed_at` integer,
	`username_folded` text,
	`username_prefix` text GENERATED ALWAYS AS (substr(username_folded, 1, 2)) STORED,
	`display_name_folded` text,
	`subscribers` integer,
	`video_count` integer,
	`view_count` integer,
	`daily_subscriber_gain` integer,
	`weekly_subscriber_gain` integer,
	`monthly_subscriber_gain` integer,
	`daily_view_gain` integer,
	`weekly_view_gain` integer,
	`monthly_view_gain` integer,
	`username` text,
	`username_at` integer,
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
CREATE INDEX `channels_country` ON `channels` (lower(country));--> statement-breakpoint
CREATE INDEX `channels_by_subscribers` ON `channels` ("subscribers" DESC,id,country,username_prefix) WHERE observed_at IS NOT NULL;--> statement-breakpoint
CREATE INDEX `channels_by_view_count` ON `channels` ("view_count" DESC,id,country,username_prefix) WHERE observed_at IS NOT NULL;--> statement-breakpoint
CREATE INDEX `channels_by_video_count` ON `channels` ("video_count" DESC,id,country,username_prefix) WHERE observed_at IS NOT NULL;--> statement-breakpoint
CREATE INDEX `channels_by_daily_subscriber_gain` ON `channels` ("daily_subscriber_gain" DESC,id,country,username_prefix) WHERE observed_at IS NOT NULL;--> statement-breakpoint
CREATE INDEX `channels_by_weekly_subscriber_gain` ON `channels` ("weekly_subscriber_gain" DESC,id,country,username_prefix) WHERE observed_at IS NOT NULL;--> statement-breakpoint
CREATE INDEX `channels_by_monthly_subscriber_gain` ON `channels` ("monthly_subscriber_gain" DESC,id,country,username_prefix) WHERE observed_at IS NOT NULL;--> statement-breakpoint
CREATE INDEX `channels_by_daily_view_gain` ON `channels` ("daily_view_gain" DESC,id,country,username_prefix) WHERE observed_at IS NOT NULL;--> statement-breakpoint
CREATE INDEX `channels_by_weekly_view_gain` ON `channels` ("weekly_view_gain" DESC,id,country,username_prefix) WHERE observed_at IS NOT NULL;--> statement-breakpoint
CREATE INDEX `channels_by_monthly_view_gain` ON `channels` ("monthly_view_gain" DESC,id,country,username_prefix) WHERE observed_at IS NOT NULL;--> statement-breakpoint
CREATE TABLE `short_histories` (
	`short` integer NOT NULL,
	`start` integer NOT NULL,
	`size` integer NOT NULL,
	`points` text NOT NULL,
	PRIMARY KEY(`short`, `start`)
) WITHOUT ROWID;
--> statement-breakpoint
CREATE TABLE `shorts` (
	`key` integer PRIMARY KEY NOT NULL,
	`id` text NOT NULL,
	`observed_at` integer NOT NULL,
	`channel_key` integer NOT NULL,
	`channel` text NOT NULL,
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
CREATE INDEX `shorts_listing` ON `shorts` (`channel_key`,`published_at`,`id`);--> statement-breakpoint
CREATE TABLE `tweet_histories` (
	`tweet` integer NOT NULL,
	`start` integer NOT NULL,
	`size` integer NOT NULL,
	`points` text NOT NULL,
	PRIMARY KEY(`tweet`, `start`)
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
	`created_at` integer,
	`created_at_at` integer,
	`text` text,
	`text_at` integer,
	`url` text,
	`url_at` integer
);
--> statement-breakpoint
CREATE UNIQUE INDEX `tweets_id_unique` ON `tweets` (`id`);--> statement-breakpoint
CREATE INDEX `tweets_listing` ON `tweets` (`user`,`created_at`,`id`);--> statement-breakpoint
CREATE TABLE `user_histories` (
	`user` integer NOT NULL,
	`start` integer NOT NULL,
	`size` integer NOT NULL,
	`points` text NOT NULL,
	PRIMARY KEY(`user`, `start`)
) WITHOUT ROWID;
--> statement-breakpoint
CREATE TABLE `users` (
	`key` integer PRIMARY KEY NOT NULL,
	`id` text NOT NULL,
	`observed_at` integer,
	`username` text,
	`username_at` integer,
	`display_name_folded` text,
	`followers_count` integer,
	`following_count` integer,
	`tweet_count` integer,
	`daily_follower_gain` integer,
	`weekly_follower_gain` integer,
	`monthly_follower_gain` integer,
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
CREATE INDEX `users_by_followers_count` ON `users` ("followers_count" DESC,id) WHERE username IS NOT NULL;--> statement-breakpoint
CREATE INDEX `users_by_daily_follower_gain` ON `users` ("daily_follower_gain" DESC,id) WHERE username IS NOT NULL;--> statement-breakpoint
CREATE INDEX `users_by_weekly_follower_gain` ON `users` ("weekly_follower_gain" DESC,id) WHERE username IS NOT NULL;--> statement-breakpoint
CREATE INDEX `users_by_monthly_follower_gain` ON `users` ("monthly_follower_gain" DESC,id) WHERE username IS NOT NULL;--> statement-breakpoint
CREATE INDEX `users_unnamed` ON `users` (`key`) WHERE "users"."username" IS NULL;--> statement-breakpoint
CREATE TABLE `channel_figures` (
	`key` integer PRIMARY KEY NOT NULL,
	`id` text NOT NULL,
	`size` integer,
	`daily_subscriber_gain_percent` real,
	`weekly_subscriber_gain_percent` real,
	`monthly_subscriber_gain_percent` real
);
--> statement-breakpoint
CREATE INDEX `channel_figures_by_daily_subscriber_gain_percent` ON `channel_figures` ("daily_subscriber_gain_percent" DESC,id,size);--> statement-breakpoint
CREATE INDEX `channel_figures_by_weekly_subscriber_gain_percent` ON `channel_figures` ("weekly_subscriber_gain_percent" DESC,id,size);--> statement-breakpoint
CREATE INDEX `channel_figures_by_monthly_subscriber_gain_percent` ON `channel_figures` ("monthly_subscriber_gain_percent" DESC,id,size);--> statement-breakpoint
CREATE TABLE `short_figures` (
	`key` integer PRIMARY KEY NOT NULL,
	`id` text NOT NULL,
	`owner` integer NOT NULL,
	`published_at` integer NOT NULL,
	`views` integer,
	`views_per_hour` real,
	`views_per_day` real,
	`age_multiple` real
);
--> statement-breakpoint
CREATE INDEX `short_figures_by_published_at` ON `short_figures` ("published_at" DESC,id,owner);--> statement-breakpoint
CREATE INDEX `short_figures_by_views` ON `short_figures` ("views" DESC,id,published_at,owner);--> statement-breakpoint
CREATE INDEX `short_figures_by_views_per_hour` ON `short_figures` ("views_per_hour" DESC,id,published_at,owner);--> statement-breakpoint
CREATE INDEX `short_figures_by_views_per_day` ON `short_figures` ("views_per_day" DESC,id,published_at,owner);--> statement-breakpoint
CREATE INDEX `short_figures_by_age_multiple` ON `short_figures` ("age_multiple" DESC,id,published_at,owner);--> statement-breakpoint
CREATE TABLE `stale_channel_figures` (
	`key` integer PRIMARY KEY NOT NULL
);
--> statement-breakpoint
CREATE TABLE `stale_short_figures` (
	`key` integer PRIMARY KEY NOT NULL
);
--> statement-breakpoint
CREATE TABLE `stale_tweet_figures` (
	`key` integer PRIMARY KEY NOT NULL
);
--> statement-breakpoint
CREATE TABLE `stale_user_figures` (
	`key` integer PRIMARY KEY NOT NULL
);
--> statement-breakpoint
CREATE TABLE `tweet_figures` (
	`key` integer PRIMARY KEY NOT NULL,
	`id` text NOT NULL,
	`owner` integer NOT NULL,
	`published_at` integer NOT NULL,
	`impressions` integer,
	`impressions_per_hour` real,
	`impressions_per_day` real,
	`age_multiple` real
);
--> statement-breakpoint
CREATE INDEX `tweet_figures_by_published_at` ON `tweet_figures` ("published_at" DESC,id,owner);--> statement-breakpoint
CREATE INDEX `tweet_figures_by_impressions` ON `tweet_figures` ("impressions" DESC,id,published_at,owner);--> statement-breakpoint
CREATE INDEX `tweet_figures_by_impressions_per_hour` ON `tweet_figures` ("impressions_per_hour" DESC,id,published_at,owner);--> statement-breakpoint
CREATE INDEX `tweet_figures_by_impressions_per_day` ON `tweet_figures` ("impressions_per_day" DESC,id,published_at,owner);--> statement-breakpoint
CREATE INDEX `tweet_figures_by_age_multiple` ON `tweet_figures` ("age_multiple" DESC,id,published_at,owner);--> statement-breakpoint
CREATE TABLE `user_figures` (
	`key` integer PRIMARY KEY NOT NULL,
	`id` text NOT NULL,
	`size` integer,
	`daily_follower_gain_percent` real,
	`weekly_follower_gain_percent` real,
	`monthly_follower_gain_percent` real
);
--> statement-breakpoint
CREATE INDEX `user_figures_by_daily_follower_gain_percent` ON `user_figures` ("daily_follower_gain_percent" DESC,id,size);--> statement-breakpoint
CREATE INDEX `user_figures_by_weekly_follower_gain_percent` ON `user_figures` ("weekly_follower_gain_percent" DESC,id,size);--> statement-breakpoint
CREATE INDEX `user_figures_by_monthly_follower_gain_percent` ON `user_figures` ("monthly_follower_gain_percent" DESC,id,size);--> statement-breakpoint
CREATE TABLE `peer_certificates` (
	`id` integer PRIMARY KEY NOT NULL,
	`private_key` text NOT NULL,
	`certificate` text NOT NULL
);
--> statement-breakpoint
CREATE TABLE `roles` (
	`name` text PRIMARY KEY NOT NULL,
	`holder` text NOT NULL,
	`process` text NOT NULL,
	`term` integer DEFAULT 1 NOT NULL,
	`expires_at` integer NOT NULL,
	`address` text
) WITHOUT ROWID;

--> statement-breakpoint
CREATE VIRTUAL TABLE channel_names USING fts5(
	username, display_name,
	content = '', contentless_delete = 1, tokenize = 'trigram case_sensitive 1'
);
--> statement-breakpoint
CREATE TRIGGER channel_names_insert AFTER INSERT ON channels
WHEN new.username_folded IS NOT NULL OR new.display_name_folded IS NOT NULL
BEGIN
	INSERT INTO channel_names (rowid, username, display_name)
	VALUES (new.key, new.username_folded, new.display_name_folded);
END;
--> statement-breakpoint
CREATE TRIGGER channel_names_update AFTER UPDATE OF username_folded, display_name_folded ON channels
WHEN (new.username_folded, new.display_name_folded) IS NOT (old.username_folded, old.display_name_folded)
BEGIN
	DELETE FROM channel_names WHERE rowid = old.key;
	INSERT INTO channel_names (rowid, username, display_name)
	VALUES (new.key, new.username_folded, new.display_name_folded);
END;
--> statement-breakpoint
CREATE VIRTUAL TABLE user_names USING fts5(
	username, display_name,
	content = '', contentless_delete = 1, tokenize = 'trigram case_sensitive 1'
);
--> statement-breakpoint
CREATE TRIGGER user_names_insert AFTER INSERT ON users
BEGIN
	INSERT INTO user_names (rowid, username, display_name)
	VALUES (new.key, new.id, new.display_name_folded);
END;
--> statement-breakpoint
CREATE TRIGGER user_names_update AFTER UPDATE OF display_name_folded ON users
WHEN new.display_name_folded IS NOT old.display_name_folded
BEGIN
	DELETE FROM user_names WHERE rowid = old.key;
	INSERT INTO user_names (rowid, username, display_name)
	VALUES (new.key, new.id, new.display_name_folded);
END;
--> statement-breakpoint
CREATE TRIGGER journal_grant AFTER INSERT ON journal
WHEN new.kind = 'grant'
BEGIN
	UPDATE accounts
	SET granted = granted + new.amount, balance = balance + new.amount
	WHERE id = new.account;
END;
--> statement-breakpoint
CREATE TRIGGER journal_refund AFTER INSERT ON journal
WHEN new.kind = 'refund'
BEGIN
	UPDATE accounts
	SET refunded = refunded + new.amount, balance = balance + new.amount
	WHERE id = new.account;
	INSERT INTO usage (account, hour, key, endpoint, requests, credits, refunded, refunds)
	SELECT new.account, at / 3600000, new.key, new.endpoint, 0, 0, new.amount, new.requests
	FROM debit_batches
	WHERE uid = new.uid AND new.key IS NOT NULL
	ON CONFLICT (account, hour, key, endpoint) DO UPDATE SET
		refunded = refunded + excluded.refunded,
		refunds = refunds + excluded.refunds;
END;
--> statement-breakpoint
-- The runs of a batch are inserted here, in their order. It has no rows.
CREATE VIEW debited_runs AS
SELECT NULL AS account, NULL AS credits, NULL AS requests, NULL AS key, NULL AS endpoint, NULL AS at
WHERE false;
--> statement-breakpoint
CREATE TRIGGER debited_runs_debit INSTEAD OF INSERT ON debited_runs
BEGIN
	UPDATE accounts
	SET
		debited = debited + new.credits,
		balance = balance - new.credits,
		recent_at = new.at,
		recent_key = new.key,
		recent_endpoint = new.endpoint,
		recent_requests = new.requests + iif(
			(recent_at / 3600000, recent_key, recent_endpoint) IS (new.at / 3600000, new.key, new.endpoint),
			recent_requests,
			0
		),
		recent_credits = new.credits + iif(
			(recent_at / 3600000, recent_key, recent_endpoint) IS (new.at / 3600000, new.key, new.endpoint),
			recent_credits,
			0
		)
	WHERE id = new.account;
	SELECT RAISE(ABORT, 'A debit is of an account that is not there')
	WHERE changes() = 0;
END;
--> statement-breakpoint
CREATE TRIGGER debit_batches_debit AFTER INSERT ON debit_batches
BEGIN
	INSERT INTO debited_runs (account, credits, requests, key, endpoint, at)
	SELECT
		json_extract(value, '$[0]'),
		json_extract(value, '$[1]'),
		json_extract(value, '$[2]'),
		json_extract(value, '$[3]'),
		json_extract(new.endpoints, '$[' || json_extract(value, '$[4]') || ']'),
		new.at
	FROM json_each(new.runs)
	WHERE value IS NOT NULL;
END;
--> statement-breakpoint
CREATE TRIGGER debit_batches_fold AFTER UPDATE OF runs ON debit_batches
BEGIN
	INSERT INTO folded_entries (account, hour, kind, reason, count, amount)
	SELECT
		json_extract(value, '$[0]'), new.at / 3600000, 'debit', '',
		count(*), sum(json_extract(value, '$[1]'))
	FROM json_each(old.runs) AS run
	WHERE value IS NOT NULL AND json_extract(new.runs, '$[' || run.key || ']') IS NULL
	GROUP BY 1
	ON CONFLICT (account, hour, kind, reason) DO UPDATE SET
		count = count + excluded.count,
		amount = amount + excluded.amount;
	INSERT INTO folded_entries (account, hour, kind, reason, count, amount)
	SELECT account, at / 3600000, 'refund', ifnull(reason, ''), sum(requests), sum(amount)
	FROM journal
	WHERE uid = new.uid
		AND account = json_extract(old.runs, '$[' || run || '][0]')
		AND json_extract(new.runs, '$[' || run || ']') IS NULL
	GROUP BY 1, 2, 4
	ON CONFLICT (account, hour, kind, reason) DO UPDATE SET
		count = count + excluded.count,
		amount = amount + excluded.amount;
	DELETE FROM journal
	WHERE uid = new.uid
		AND account = json_extract(old.runs, '$[' || run || '][0]')
		AND json_extract(new.runs, '$[' || run || ']') IS NULL;
	DELETE FROM debit_batches
	WHERE uid = new.uid AND NOT EXISTS (SELECT 1 FROM json_each(new.runs) WHERE value IS NOT NULL);
END;
--> statement-breakpoint
CREATE TRIGGER accounts_recent_usage AFTER UPDATE OF recent_requests ON accounts
WHEN old.recent_requests > 0
	AND (old.recent_at / 3600000, old.recent_key, old.recent_endpoint)
		IS NOT (new.recent_at / 3600000, new.recent_key, new.recent_endpoint)
BEGIN
	INSERT INTO usage (account, hour, key, endpoint, requests, credits)
	VALUES (
		old.id, old.recent_at / 3600000, old.recent_key, old.recent_endpoint,
		old.recent_requests, old.recent_credits
	)
	ON CONFLICT (account, hour, key, endpoint) DO UPDATE SET
		requests = requests + excluded.requests,
		credits = credits + excluded.credits;
END;
--> statement-breakpoint
CREATE TRIGGER accounts_low_balance AFTER UPDATE OF debited ON accounts
WHEN new.balance < new.low_balance AND old.balance >= new.low_balance
BEGIN
	INSERT INTO notices (id, account, balance, threshold, granted, at, due_at)
	SELECT
		'msg_' || lower(hex(randomblob(16))), new.id, new.balance, new.low_balance, new.granted,
		new.recent_at, new.recent_at
	WHERE NOT EXISTS (
		SELECT 1 FROM notices
		WHERE account = new.id AND threshold = new.low_balance AND granted = new.granted
	);
END;
--> statement-breakpoint
CREATE TRIGGER keys_change AFTER UPDATE ON keys
BEGIN
	INSERT INTO changes (uid, tags)
	VALUES (lower(hex(randomblob(16))), json_array('key ' || new.id));
END;
