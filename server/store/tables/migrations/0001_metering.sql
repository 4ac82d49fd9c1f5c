CREATE TABLE `changes` (
	`sequence` integer PRIMARY KEY NOT NULL,
	`subjects` text
);
--> statement-breakpoint
CREATE TABLE `payments` (
	`account` integer NOT NULL,
	`name` text NOT NULL,
	`request` text NOT NULL,
	`debit` text NOT NULL,
	`at` integer NOT NULL,
	PRIMARY KEY(`account`, `name`)
) WITHOUT ROWID;
--> statement-breakpoint
CREATE INDEX `payments_at` ON `payments` (`at`);--> statement-breakpoint
CREATE TABLE `usage` (
	`account` integer NOT NULL,
	`hour` integer NOT NULL,
	`key` integer NOT NULL,
	`endpoint` text NOT NULL,
	`requests` integer NOT NULL,
	`credits` integer NOT NULL,
	`refunded` integer DEFAULT 0 NOT NULL,
	PRIMARY KEY(`account`, `hour`, `key`, `endpoint`)
) WITHOUT ROWID;
--> statement-breakpoint
CREATE TABLE `withdrawals` (
	`uid` text PRIMARY KEY NOT NULL,
	`at` integer NOT NULL
);
--> statement-breakpoint
-- What was debited before usage was counted: one credit a request, by keys that nobody noted.
INSERT INTO `usage` (`account`, `hour`, `key`, `endpoint`, `requests`, `credits`, `refunded`)
SELECT `debit`.`account`, `debit`.`at` / 3600000, 0, 'unknown', sum(`debit`.`amount`), sum(`debit`.`amount`),
	sum(ifnull((SELECT sum(`refund`.`amount`) FROM `journal` AS `refund`
		WHERE `refund`.`debit` = `debit`.`uid` AND `refund`.`account` = `debit`.`account`), 0))
FROM `journal` AS `debit` WHERE `debit`.`kind` = 'debit' GROUP BY 1, 2;
