CREATE TRIGGER journal_grant AFTER INSERT ON journal
WHEN new.kind = 'grant'
BEGIN
	UPDATE accounts
	SET granted = granted + new.amount, balance = balance + new.amount
	WHERE id = new.account;
END;
--> statement-breakpoint
CREATE TRIGGER journal_debit AFTER INSERT ON journal
WHEN new.kind = 'debit' AND new.amount > 0
BEGIN
	UPDATE accounts
	SET debited = debited + new.amount, balance = balance - new.amount
	WHERE id = new.account;
	INSERT INTO usage (account, hour, key, endpoint, requests, credits)
	VALUES (new.account, new.at / 3600000, new.key, new.endpoint, new.requests, new.amount)
	ON CONFLICT (account, hour, key, endpoint) DO UPDATE SET
		requests = requests + excluded.requests,
		credits = credits + excluded.credits;
	INSERT INTO notices (id, account, balance, threshold, granted, at, due_at)
	SELECT 'msg_' || lower(hex(randomblob(16))), id, balance, low_balance, granted, new.at, new.at
	FROM accounts
	WHERE id = new.account AND balance < low_balance AND balance + new.amount >= low_balance
		AND NOT EXISTS (
			SELECT 1 FROM notices
			WHERE account = new.account AND threshold = low_balance AND notices.granted = accounts.granted
		);
END;
--> statement-breakpoint
CREATE TRIGGER journal_refund AFTER INSERT ON journal
WHEN new.kind = 'refund'
BEGIN
	UPDATE accounts
	SET refunded = refunded + new.amount, balance = balance + new.amount
	WHERE id = new.account;
	UPDATE usage
	SET refunded = refunded + new.amount, refunds = refunds + new.requests
	WHERE account = new.account AND key = new.key AND endpoint = new.endpoint AND hour = (
		SELECT at / 3600000 FROM journal
		WHERE uid = new.uid AND account = new.account AND run = new.run AND refund = 0
	);
END;
