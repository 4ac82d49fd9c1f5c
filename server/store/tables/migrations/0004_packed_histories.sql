CREATE TABLE `channel_histories` (
	`channel` integer NOT NULL,
	`start` integer NOT NULL,
	`size` integer NOT NULL,
	`points` text NOT NULL,
	PRIMARY KEY(`channel`, `start`)
) WITHOUT ROWID;
--> statement-breakpoint
CREATE TABLE `short_histories` (
	`short` integer NOT NULL,
	`start` integer NOT NULL,
	`size` integer NOT NULL,
	`points` text NOT NULL,
	PRIMARY KEY(`short`, `start`)
) WITHOUT ROWID;
--> statement-breakpoint
CREATE TABLE `tweet_histories` (
	`tweet` integer NOT NULL,
	`start` integer NOT NULL,
	`size` integer NOT NULL,
	`points` text NOT NULL,
	PRIMARY KEY(`tweet`, `start`)
) WITHOUT ROWID;
--> statement-breakpoint
CREATE TABLE `user_histories` (
	`user` integer NOT NULL,
	`start` integer NOT NULL,
	`size` integer NOT NULL,
	`points` text NOT NULL,
	PRIMARY KEY(`user`, `start`)
) WITHOUT ROWID;
--> statement-breakpoint
ALTER TABLE `changes` ADD `uid` text DEFAULT '' NOT NULL;