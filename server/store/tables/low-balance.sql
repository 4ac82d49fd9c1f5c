CREATE TRIGGER accounts_low_balance AFTER UPDATE OF balance ON accounts
WHEN new.balance < new.low_balance AND old.balance >= new.low_balance AND NOT EXISTS (
	SELECT 1 FROM notices
	WHERE account = new.id AND threshold = new.low_balance AND granted = new.granted
)
BEGIN
	INSERT INTO notices (id, account, balance, threshold, granted, at, due_at)
	SELECT 'msg_' || lower(hex(randomblob(16))), new.id, new.balance, new.low_balance, new.granted, at, at
	FROM journal
	WHERE account = new.id
	ORDER BY entry DESC
	LIMIT 1;
END;
