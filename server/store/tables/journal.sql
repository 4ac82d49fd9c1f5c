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
